// SPDX-License-Identifier: MIT
// A cache of source line indices on disk, by the file that they were read from.
#include "source_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/safe_file.h"
#include "dwarf/dwarf_index.h"
#include "elf/build_id.h"
#include "pi/hex.h"
#include "pi/new_file.h"

namespace a2n {
namespace {

constexpr uint64_t max_index_size = uint64_t{4} << 30;
constexpr std::string_view suffix = ".lines";
constexpr char temporary_prefix[] = ".lines-";

// Whether the build-id is safe as a part of a file name.
bool is_key(const SourceCacheKey& key) {
  return is_build_id(key.build_id) && identifies(key.build_id);
}

// The first line of a cache file: it identifies the indexed file and the version of the reader.
std::string line_of(const SourceCacheKey& key) {
  const pi::FileIdentity& file = key.file;
  std::string line = "pitrace source lines, reader " + std::to_string(dwarf_reader_version);
  for (const auto number : {static_cast<int64_t>(file.device), static_cast<int64_t>(file.inode),
                            static_cast<int64_t>(file.size), file.modified_ns, file.changed_ns})
    line += ' ' + std::to_string(number);
  return line + ' ' + key.build_id + '\n';
}

// The file name contains an FNV-1a hash. If two keys have the same hash, the first lines differ.
std::string name_of(const SourceCacheKey& key) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : line_of(key)) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return key.build_id + '-' + pi::to_hex(std::as_bytes(std::span(&hash, 1))) + std::string(suffix);
}

std::string path_in(int directory, const std::string& name) {
  return "/proc/self/fd/" + std::to_string(directory) + "/" + name;
}

struct Entry {
  std::string name;
  uint64_t bytes = 0;
  timespec used{};
};

// A temporary file of a program that was killed: writing one never takes an hour.
bool is_abandoned(std::string_view name, const struct stat& status) {
  return name.starts_with(temporary_prefix) && status.st_mtim.tv_sec + 3600 < ::time(nullptr);
}

// The indices in the directory. Also removes temporary files of programs that were killed.
std::vector<Entry> entries_of(int directory) {
  std::vector<Entry> entries;
  const int fd = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(fd < 0 ? nullptr : ::fdopendir(fd), ::closedir);
  if (!stream) return entries;
  while (const dirent* const found = ::readdir(stream.get())) {
    const std::string_view name = found->d_name;
    struct stat status {};
    if (::fstatat(directory, found->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode))
      continue;
    if (is_abandoned(name, status)) ::unlinkat(directory, found->d_name, 0);
    if (name.ends_with(suffix))
      entries.push_back(
          {found->d_name, static_cast<uint64_t>(status.st_blocks) * 512, status.st_mtim});
  }
  return entries;
}

}  // namespace

pi::UniqueFd SourceCache::open_directory() const {
  if (directory_.empty()) return {};
  pi::UniqueFd fd(::open(directory_.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0 || status.st_uid != ::geteuid() ||
      (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return {};
  return fd;
}

std::optional<SourceIndex> SourceCache::load(const SourceCacheKey& key) const {
  if (!is_key(key)) return std::nullopt;
  const pi::UniqueFd directory = open_directory();
  if (!directory) return std::nullopt;
  const std::string name = name_of(key);
  const auto bytes = read_text(path_in(directory.get(), name), 0, max_index_size);
  const std::string line = line_of(key);
  if (!bytes || !bytes->starts_with(line)) return std::nullopt;
  // Update the modification time: evict() removes the least recently used indices first.
  ::utimensat(directory.get(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  return SourceIndex::restore(std::string_view(*bytes).substr(line.size()));
}

void SourceCache::evict(int directory, uint64_t bytes) const {
  std::vector<Entry> entries = entries_of(directory);
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  uint64_t all = bytes;
  for (const Entry& entry : entries) all += entry.bytes;
  for (const Entry& entry : entries) {
    if (all <= limit_) return;
    if (::unlinkat(directory, entry.name.c_str(), 0) == 0) all -= entry.bytes;
  }
}

void SourceCache::save(const SourceCacheKey& key, const SourceIndex& index) const {
  if (directory_.empty() || !is_key(key) || index.empty()) return;
  ::mkdir(directory_.c_str(), 0700);
  const pi::UniqueFd directory = open_directory();
  if (!directory) return;
  const std::string bytes = line_of(key) + index.save();
  if (bytes.size() > limit_) return;
  const std::string name = name_of(key);
  ::unlinkat(directory.get(), name.c_str(), 0);
  evict(directory.get(), bytes.size());
  auto file = pi::NewFile::create_in(directory.get(), name, temporary_prefix, 0600);
  if (file && pi::write_all(file->fd(), pi::text_bytes(bytes)) == 0) (void)file->commit();
}

}  // namespace a2n
