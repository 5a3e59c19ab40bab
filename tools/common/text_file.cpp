// SPDX-License-Identifier: MIT
// Small text files that users write: limits, further reports.
#include "text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pi/budget.h>
#include <pi/unique_fd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace pi {
namespace {

constexpr std::string_view blanks = " \t\r\v\f";

Error system_error(const char* what, const std::string& path) {
  const int reason = errno;
  return {reason, fmt::format("cannot {} {}: {}.", what, path, std::strerror(reason))};
}

std::string_view without_comment(std::string_view line) {
  for (size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1))
    if (at == 0 || blanks.find(line[at - 1]) != std::string_view::npos) return line.substr(0, at);
  return line;
}

}  // namespace

Result<std::string> read_text_file(const std::string& path, size_t max_bytes) {
  // O_NONBLOCK: a FIFO of that name must not hold us up before it is refused.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return system_error("open", path);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return system_error("examine", path);
  if (!S_ISREG(status.st_mode)) return Error{EINVAL, path + " is not a regular file."};
  const Error too_long{
      EFBIG,
      fmt::format("{} is longer than {} bytes: that is no file of this kind.", path, max_bytes)};
  const auto size = static_cast<uint64_t>(status.st_size);
  if (size > max_bytes) return too_long;
  if (size > sparse_file.of(real_size(fd.get(), status)))
    return Error{EFBIG, fmt::format("{} has holes: that is no text file; it is not read.", path)};
  std::string text(static_cast<size_t>(status.st_size), '\0');
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::read(fd.get(), text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("read", path);
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  text.resize(done);
  return text;
}

std::vector<TextLine> meaningful_lines(std::string_view text) {
  std::vector<TextLine> lines;
  size_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    ++number;
    const std::string_view line = without_comment(text.substr(at, end - at));
    const size_t first = line.find_first_not_of(blanks);
    if (first != std::string_view::npos)
      lines.push_back({number, line.substr(first, line.find_last_not_of(blanks) + 1 - first)});
    at = end + 1;
  }
  return lines;
}

}  // namespace pi
