// SPDX-License-Identifier: MIT
// Writes fetched logs next to the trace. Their contents are untrusted.
#include "log_store.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <pi/files.h>
#include <pi/jit_log.h>

#include "log_dir.h"

namespace pi::attach {
namespace {

// The first line "# head" is within these: it follows four lines of less than 100 bytes.
constexpr size_t beginning_bytes = 4 << 10;

// Whether KEY=WANTED is in the line, and the key only once: a reader might use the second one.
bool has_number(std::string_view line, std::string_view key, uint64_t wanted) {
  const std::string word = fmt::format(" {}=", key);
  const size_t at = line.find(word);
  if (at == line.npos || line.find(word, at + 1) != line.npos) return false;
  uint64_t number = 0;
  const char* const end = line.data() + line.size();
  const auto [stop, error] = std::from_chars(line.data() + at + word.size(), end, number);
  return error == std::errc() && (stop == end || *stop == ' ') && number == wanted;
}

bool is_plain(std::string_view line) {
  return line.size() < jit_log::addition_line_max &&
         std::ranges::none_of(line, [](char c) { return static_cast<unsigned char>(c) < ' '; });
}

}  // namespace

bool is_text(std::string_view bytes) {
  return bytes.find('\0') == bytes.npos;
}

bool is_log_of(std::string_view beginning, const LogOwner& owner) {
  const std::string head = fmt::format("{}{} ", jit_log::addition, jit_log::head_word);
  while (!beginning.empty()) {
    const size_t end = beginning.find('\n');
    if (end == beginning.npos) return false;
    const std::string_view line = beginning.substr(0, end);
    if (line.starts_with(head))
      return is_plain(line) &&
             has_number(line, jit_log::head::pid, static_cast<uint64_t>(owner.inner_pid)) &&
             has_number(line, jit_log::head::pid_ns, owner.pid_namespace);
    beginning.remove_prefix(end + 1);
  }
  return false;
}

Status LogStore::begin(int kind) {
  abandon();
  name_ = log_name(kind, owner_.pid);
  beginning_.clear();
  size_ = 0;
  auto file = NewFile::create_in(directory_, name_, ".log-", 0644, Umask::applied);
  if (!file) return Error{1, fmt::format("cannot write {}: {}", name_, file.error().message)};
  file_.emplace(std::move(*file));
  return {};
}

Status LogStore::add(std::string_view bytes) {
  if (!file_) return {};
  size_ += bytes.size();
  if (size_ > max_log_bytes)
    return Error{1, fmt::format("{} has more than {} bytes", name_, max_log_bytes)};
  if (!is_text(bytes)) return Error{1, fmt::format("{} is not text", name_)};
  beginning_ += bytes.substr(0, beginning_bytes - std::min(beginning_bytes, beginning_.size()));
  if (const int error = write_all(file_->fd(), text_bytes(bytes)); error != 0)
    return Error{1, fmt::format("cannot write {}: {}", name_, std::strerror(error))};
  return {};
}

Status LogStore::finish() {
  if (!file_) return {};
  if (!is_log_of(beginning_, owner_))
    return Error{1, fmt::format("{} is not a log of this process", name_)};
  // A log of an earlier run is kept.
  if (const int error = file_->commit(true); error != 0)
    return Error{1, fmt::format("cannot write {}: {}", name_, std::strerror(error))};
  file_.reset();
  ++stored_;
  return {};
}

void LogStore::abandon() {
  file_.reset();
}

}  // namespace pi::attach
