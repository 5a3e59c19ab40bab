// SPDX-License-Identifier: MIT
// Indices of source lines on disk, by build-id.
#include "source_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include "build_id.h"
#include "pi/files.h"
#include "pi/new_file.h"
#include "safe_file.h"

namespace a2n {
namespace {

constexpr uint64_t largest = uint64_t{4} << 30;

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
  auto file = pi::NewFile::create(path(build_id), ".lines-", 0600);
  if (file && pi::write_all(file->fd(), pi::text_bytes(index.save())) == 0) (void)file->commit();
}

}  // namespace a2n
