// SPDX-License-Identifier: MIT
// Indices of source lines on disk, by build-id.
#include "source_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "build_id.h"
#include "pi/unique_fd.h"
#include "safe_file.h"

namespace a2n {
namespace {

constexpr uint64_t largest = uint64_t{4} << 30;

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

}  // namespace

std::string SourceCache::path(const std::string& build_id) const {
  return directory_ + "/" + build_id + ".lines";
}

bool SourceCache::is_ours() const {
  struct stat status {};
  return ::lstat(directory_.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::optional<SourceIndex> SourceCache::load(const std::string& build_id) const {
  if (directory_.empty() || !identifies(build_id) || !is_ours()) return std::nullopt;
  const auto bytes = read_text(path(build_id), 0, largest);
  return bytes ? SourceIndex::restore(*bytes) : std::nullopt;
}

void SourceCache::save(const std::string& build_id, const SourceIndex& index) const {
  if (directory_.empty() || !identifies(build_id) || index.empty()) return;
  ::mkdir(directory_.c_str(), 0700);
  if (!is_ours()) return;
  std::string temporary = directory_ + "/.lines-XXXXXX";
  pi::UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) return;
  const bool good = write_all(fd.get(), index.save()) && ::close(fd.release()) == 0 &&
                    ::rename(temporary.c_str(), path(build_id).c_str()) == 0;
  if (!good) ::unlink(temporary.c_str());
}

}  // namespace a2n
