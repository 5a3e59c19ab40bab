// SPDX-License-Identifier: MIT
// Finds the build-id of every module that the MTE records of a trace mention.
#include "build_ids.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include <fmt/format.h>
#include <pi/decode.h>
#include <pi/files.h>
#include <pi/unique_fd.h>

#include "elf_note.h"
#include "system/system_facts.h"
#include "system/text.h"

namespace pi::perfutil {
namespace {

constexpr char changed[] = "?";
constexpr char out_of_view[] = "!";
constexpr char none[] = "-";
constexpr size_t first_places = 4, newest_places = 8;

// A file's time on the trace clock; negative for a time before boot.
int64_t on_trace_clock(const timespec& time) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const auto ns = [](const timespec& t) {
    return static_cast<int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
  };
  return static_cast<int64_t>(trace_clock()) - (ns(now) - ns(time));
}

// How a file was found: through a process that mapped it, or by its path here.
enum class FoundBy { process, path };

// Whether the open file is the one that was mapped, and unchanged since.
bool is_mapped_file(const RegularFile& file, FoundBy found_by, const ModuleMentions& mentions) {
  const struct stat& facts = file.status;
  const auto first = static_cast<int64_t>(mentions.first_time);
  if (on_trace_clock(facts.st_mtim) > first) return false;
  if (mentions.inode != 0 && has_mapped_inode(file.fd.get(), facts.st_ino, mentions.inode))
    return true;
  // Overlayfs reports a file that it has copied to its upper layer with the inode of the lower one.
  // Then the file is identified only if it was found through a process that mapped it: its path
  // here may be another file's, since the process may have had another root directory.
  struct statfs system {};
  if (mentions.inode != 0 && (found_by == FoundBy::path || ::fstatfs(file.fd.get(), &system) != 0 ||
                              system.f_type != OVERLAYFS_SUPER_MAGIC))
    return false;
  // Without an inode to compare, only the change time shows that a file was moved there later. It
  // is the time of the kernel's last tick, which can be some ticks older than our clock.
  constexpr int64_t ticks_ns = 50'000'000;
  return on_trace_clock(facts.st_ctim) + ticks_ns <= first;
}

// Why the file of this path is not the one that was mapped. A process in a chroot or with its own
// mounts maps files that have no path here, or whose path is another file's here. A file that is
// older than the mapping has not replaced the mapped file.
const char* why_not_mapped(const std::string& path, const ModuleMentions& mentions) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0)
    return errno == ENOENT || errno == ENOTDIR ? out_of_view : changed;
  return mentions.inode != 0 && facts.st_ino != mentions.inode &&
                 on_trace_clock(facts.st_ctim) <= static_cast<int64_t>(mentions.first_time)
             ? out_of_view
             : changed;
}

UniqueFd open_mapped_file(const std::string& path, const ModuleMentions& mentions,
                          const std::string& proc) {
  // While a process that mapped it lives, /proc/PID/map_files leads to the file itself, even when
  // it was deleted, replaced or never had a path. A recorder without that permission opens the path
  // below the process's root directory: of a container's process, the same path here is another
  // file.
  std::vector<std::string> places;
  const bool deleted = path.ends_with(" (deleted)");
  for (const MappedPlace& place : mentions.places)
    places.push_back(
        fmt::format("{}/{}/map_files/{:x}-{:x}", proc, place.pid, place.start, place.end));
  if (!deleted)
    for (const MappedPlace& place : mentions.places)
      places.push_back(fmt::format("{}/{}/root{}", proc, place.pid, path));
  for (const std::string& place : places) {
    auto file = open_regular(place);
    if (file && is_mapped_file(*file, FoundBy::process, mentions)) return std::move(file->fd);
  }
  if (deleted) return UniqueFd();
  auto file = open_regular(path);
  if (file && is_mapped_file(*file, FoundBy::path, mentions)) return std::move(file->fd);
  return UniqueFd();
}

std::string kernel_build_id() {
  const auto notes = read_text("/sys/kernel/notes");
  if (!notes) return changed;
  const auto id = build_id_in_notes(std::as_bytes(std::span(*notes)), 4);
  return id.value_or(none);
}

std::string build_id_of(const std::string& path, const ModuleMentions& mentions,
                        const std::string& proc) {
  if (path == PITRACE_KERNEL_NAME) return kernel_build_id();
  if (path == "[vdso]") {
    const std::string id = build_id_of_vdso();
    return id.empty() ? none : id;
  }
  return find_build_id(path, mentions, proc);
}

// Keeps the first and the newest mappings: their processes most likely still run.
void keep_place(ModuleMentions& mentions, const MappedPlace& place) {
  if (mentions.places.size() < first_places + newest_places)
    mentions.places.push_back(place);
  else
    mentions.places[first_places + mentions.mapped % newest_places] = place;
  ++mentions.mapped;
}

template <class Find>
std::string line_of(const WantedFile& file, Find find) {
  if (file.path == "[vsyscall]") return "";
  const std::string path = path_in_line(file.path);
  const uint64_t inode = file.mentions.inode;
  return inode != 0 ? fmt::format("{}@{} {}\n", find(), inode, path)
                    : fmt::format("{} {}\n", find(), path);
}

}  // namespace

std::string find_build_id(const std::string& path, const ModuleMentions& mentions,
                          const std::string& proc) {
  if (!path.starts_with("/")) return changed;
  const UniqueFd fd = open_mapped_file(path, mentions, proc);
  if (!fd) return path.ends_with(" (deleted)") ? changed : why_not_mapped(path, mentions);
  const auto id = build_id_of_file(fd.get());
  if (!id || id->empty()) return none;
  return *id;
}

std::string path_in_line(std::string path) {
  std::ranges::replace(path, '\n', '\0');
  return path;
}

std::string build_id_line(const WantedFile& file, const std::string& proc) {
  return line_of(file, [&] { return build_id_of(file.path, file.mentions, proc); });
}

std::string unread_build_id_line(const WantedFile& file) {
  return line_of(file, [] { return std::string(changed); });
}

void BuildIdTable::see(uint32_t cpu, std::span<const std::byte> records) {
  uint32_t& high = time_high_[cpu];
  while (!records.empty()) {
    const RecordView record(records);
    if (!record.valid()) return;
    records = records.subspan(record.length());
    if (decode_time(record, high)) continue;
    ModuleEntry entry{};
    if (!decode_module(record, entry) || entry.stamp == PITRACE_STAMP_ANON) continue;
    const File file(entry.name, entry.inode);
    if (was_taken(file)) continue;
    const uint64_t time = static_cast<uint64_t>(high) << 32 | record.time_lo();
    const auto [place, is_new] = new_.try_emplace(file);
    ModuleMentions& mentions = place->second;
    mentions.first_time = is_new ? time : std::min(mentions.first_time, time);
    mentions.inode = entry.inode;
    keep_place(mentions, {entry.pid, entry.address, entry.address + entry.size});
  }
}

std::vector<WantedFile> BuildIdTable::take() {
  std::vector<WantedFile> files;
  files.reserve(new_.size());
  for (auto& [file, mentions] : new_) {
    files.push_back({file.first, std::move(mentions)});
    taken_.insert(file);
    if (taken_.size() >= max_generation_) older_ = std::exchange(taken_, {});
  }
  new_.clear();
  return files;
}

}  // namespace pi::perfutil
