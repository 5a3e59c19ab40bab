// SPDX-License-Identifier: MIT
// The lines of a large file, a piece of it in memory at a time.
#include "line_reader.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace a2n {

// Reads more behind what has not been handed out; false at the end.
bool LineReader::fill() {
  constexpr size_t piece = 1 << 18;
  text_.erase(0, at_);
  at_ = 0;
  if (text_.size() > longest) {
    if (!too_long_) ++skipped_;
    too_long_ = true;
    skipped_bytes_ += text_.size();
    text_.clear();
  }
  const size_t kept = text_.size();
  const size_t wanted = static_cast<size_t>(std::min<uint64_t>(piece, left_));
  text_.resize(kept + wanted);
  ssize_t got;
  do {
    got = ::read(fd_, text_.data() + kept, wanted);
  } while (got < 0 && errno == EINTR);
  if (got < 0) error_ = errno;
  text_.resize(kept + static_cast<size_t>(got > 0 ? got : 0));
  left_ -= static_cast<uint64_t>(got > 0 ? got : 0);
  return got > 0;
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
    if (too_long_ || line.size() > longest) {
      if (!too_long_) ++skipped_;
      too_long_ = false;
      skipped_bytes_ += line.size() + 1;
      continue;
    }
    return true;
  }
}

}  // namespace a2n
