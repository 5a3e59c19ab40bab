// SPDX-License-Identifier: MIT
// Reads small text files that users write: limits, definitions of further reports.
#include "text_file.h"

#include <fmt/format.h>
#include <pi/budget.h>
#include <pi/files.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace pi {
namespace {

constexpr std::string_view blanks = " \t\r\v\f";

Error failure(const char* what, const std::string& path, const Error& error) {
  return {error.code, fmt::format("cannot {} {}: {}.", what, path, error.message)};
}

std::string_view without_comment(std::string_view line) {
  for (size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1))
    if (at == 0 || blanks.find(line[at - 1]) != std::string_view::npos) return line.substr(0, at);
  return line;
}

}  // namespace

Result<std::string> read_text_file(const std::string& path, size_t max_bytes) {
  const auto file = open_regular(path);
  if (!file && file.error().code == not_regular)
    return Error{EINVAL, path + " is not a regular file."};
  if (!file) return failure("open", path, file.error());
  return read_text_file(file->fd.get(), path, max_bytes);
}

Result<std::string> read_text_file(int fd, const std::string& name, size_t max_bytes) {
  struct stat status {};
  if (::fstat(fd, &status) != 0 || ::lseek(fd, 0, SEEK_SET) != 0)
    return failure("read", name, {errno, std::generic_category().message(errno)});
  const auto size = static_cast<uint64_t>(status.st_size);
  if (size > max_bytes)
    return Error{
        EFBIG, fmt::format("{} is longer than {} bytes, which is too long for a file of this kind.",
                           name, max_bytes)};
  if (size > sparse_file.of(real_size(fd, status)))
    return Error{EFBIG,
                 fmt::format("{} is not read: it has holes, so it is not a text file.", name)};
  auto text = read_whole(fd, size);
  if (!text) return failure("read", name, text.error());
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
