// SPDX-License-Identifier: MIT
// Reads a large file line by line, with only a part of it in memory.
#include "line_reader.h"

#include <algorithm>
#include <span>

#include "pi/files.h"

namespace a2n {

// Appends the next block to the text that next() has not returned yet; false at the end.
bool LineReader::fill() {
  constexpr size_t piece = 1 << 18;
  text_.erase(0, at_);
  at_ = 0;
  if (text_.size() > max_length) {
    if (!too_long_) ++skipped_;
    too_long_ = true;
    skipped_bytes_ += text_.size();
    text_.clear();
  }
  const size_t kept = text_.size();
  const size_t wanted = static_cast<size_t>(std::min<uint64_t>(piece, left_));
  text_.resize(kept + wanted);
  const auto got = pi::read_on(fd_, std::as_writable_bytes(std::span(text_)).subspan(kept));
  error_ = got.error;
  text_.resize(kept + got.bytes);
  left_ -= got.bytes;
  return got.bytes > 0;
}

bool LineReader::next(std::string_view& line) {
  for (size_t from = at_;;) {
    const size_t end = text_.find('\n', from);
    if (end == std::string::npos) {
      if (!fill()) return false;
      from = at_;
      continue;
    }
    line = std::string_view(text_).substr(at_, end - at_);
    from = at_ = end + 1;
    if (too_long_ || line.size() > max_length) {
      if (!too_long_) ++skipped_;
      too_long_ = false;
      skipped_bytes_ += line.size() + 1;
      continue;
    }
    return true;
  }
}

}  // namespace a2n
