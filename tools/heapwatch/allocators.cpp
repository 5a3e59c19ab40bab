// SPDX-License-Identifier: MIT
// The functions that allocate and free in the files of a process, by their symbols.
#include "allocators.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <pi/files.h>
#include <pi/printable.h>

#include "elf/elf_symbols.h"
#include "maps.h"

namespace heapwatch {
namespace {

constexpr size_t max_files = 4096;
constexpr std::string_view only_root = "only root with CAP_SYS_ADMIN can record a process";

struct Name {
  std::string_view name;
  Function function;
};
constexpr Name names[] = {
    {"malloc", Function::malloc},
    {"calloc", Function::calloc},
    {"realloc", Function::realloc},
    {"reallocarray", Function::reallocarray},
    {"posix_memalign", Function::posix_memalign},
    {"aligned_alloc", Function::aligned},
    {"memalign", Function::aligned},
    {"valloc", Function::malloc},
    {"pvalloc", Function::malloc},
    {"free", Function::free},
    {"cfree", Function::free},
    {"dlclose", Function::dlclose},
};

std::optional<Function> function_named(std::string_view name) {
  const auto* found = std::ranges::find(names, name, &Name::name);
  if (found == std::end(names)) return std::nullopt;
  return found->function;
}

struct LockName {
  std::string_view name;
  pi::heap_log::Kind kind;
};
constexpr LockName lock_names[] = {
    {"pthread_mutex_lock", pi::heap_log::mutex},
    {"pthread_mutex_timedlock", pi::heap_log::mutex},
    {"pthread_mutex_clocklock", pi::heap_log::mutex},
    {"pthread_rwlock_rdlock", pi::heap_log::read_lock},
    {"pthread_rwlock_timedrdlock", pi::heap_log::read_lock},
    {"pthread_rwlock_clockrdlock", pi::heap_log::read_lock},
    {"pthread_rwlock_wrlock", pi::heap_log::write_lock},
    {"pthread_rwlock_timedwrlock", pi::heap_log::write_lock},
    {"pthread_rwlock_clockwrlock", pi::heap_log::write_lock},
    {"pthread_cond_wait", pi::heap_log::condition},
    {"pthread_cond_timedwait", pi::heap_log::condition},
    {"pthread_cond_clockwait", pi::heap_log::condition},
};

struct Mapped {
  uint64_t begin, end, inode;
  std::string path;
};

// Null: it cannot be read.
std::optional<std::vector<Mapped>> code_of(int pid) {
  std::vector<Mapped> all;
  const bool is_read = pi::heapit::read_maps(
      fmt::format("/proc/{}/maps", pid).c_str(),
      [](const pi::heapit::MapsLine& line, void* to) {
        if (line.executable && line.path.starts_with('/'))
          static_cast<std::vector<Mapped>*>(to)->push_back(
              {line.begin, line.end, line.inode, std::string(line.path)});
        return true;
      },
      &all);
  if (!is_read) return std::nullopt;
  return all;
}

// Where the symbol's code is in the file.
std::optional<uint64_t> offset_of(const a2n::ElfLayout& layout, uint64_t value) {
  for (const a2n::Segment& segment : layout.segments)
    if (segment.executable && value >= segment.vaddr && value - segment.vaddr < segment.file_size)
      return value - segment.vaddr + segment.offset;
  return std::nullopt;
}

class Search {
 public:
  explicit Search(Allocators& found) : found_(found) {}

  void look_into(const Mapped& mapped, const std::string& link) {
    auto file = pi::open_regular(link);
    if (!file || !pi::has_mapped_inode(file->fd.get(), file->status.st_ino, mapped.inode)) {
      ++not_opened_;
      return;
    }
    if (!seen_.emplace(file->status.st_dev, file->status.st_ino).second) return;
    pi::UniqueFd kept(::fcntl(file->fd.get(), F_DUPFD_CLOEXEC, 0));
    const auto elf = a2n::ElfFile::from_fd(std::move(file->fd), "");
    if (!kept || !elf || !elf->layout().is_64) return;
    const size_t before = found_.places.size();
    // A file with neither is one of data, or its names were removed.
    const auto dynamic = take(*elf, SHT_DYNSYM, mapped.inode);
    if (!dynamic || !*dynamic) (void)take(*elf, SHT_SYMTAB, mapped.inode);
    if (own_new_ && has_malloc_)
      found_.notes.push_back(fmt::format(
          "what {} allocates by its own operator new is not recorded", pi::printable(mapped.path)));
    own_new_ = has_malloc_ = false;
    if (found_.places.size() != before)
      found_.files.push_back({std::move(kept), pi::printable(mapped.path)});
  }

  uint64_t not_opened() const { return not_opened_; }

  void add_notes() {
    if (not_opened_ != 0)
      found_.notes.push_back(
          fmt::format("{} mapped files could not be opened to look for an allocator", not_opened_));
  }

 private:
  void take_lock(const a2n::ElfFile& elf, const a2n::ElfSymbol& symbol, uint64_t inode) {
    const auto* found = std::ranges::find(lock_names, symbol.name, &LockName::name);
    if (found == std::end(lock_names)) return;
    if (const auto offset = offset_of(elf.layout(), symbol.value))
      found_.locks.push_back({inode, *offset, *offset + symbol.size, found->kind});
  }

  pi::Result<bool> take(const a2n::ElfFile& elf, uint32_t table, uint64_t inode) {
    return a2n::read_symbols(elf, table, [&](const a2n::ElfSymbol& symbol) {
      if (!symbol.function || symbol.binding == a2n::Binding::local) return;
      own_new_ |= symbol.name == "_Znwm";
      take_lock(elf, symbol, inode);
      const auto function = function_named(symbol.name);
      const auto offset = function ? offset_of(elf.layout(), symbol.value) : std::nullopt;
      if (!offset) return;
      has_malloc_ |= symbol.name == "malloc";
      const size_t file = found_.files.size();
      // Names of one function.
      for (const Place& place : found_.places)
        if (place.file == file && place.offset == *offset) return;
      found_.places.push_back({*function, file, *offset});
    });
  }

  Allocators& found_;
  std::set<std::pair<dev_t, ino_t>> seen_;
  uint64_t not_opened_ = 0;
  bool own_new_ = false, has_malloc_ = false;  // of one file
};

}  // namespace

pi::Status has_allocator(const Allocators& found, int pid) {
  const auto is_malloc = [](const Place& place) { return place.function == Function::malloc; };
  if (std::ranges::none_of(found.places, is_malloc))
    return pi::Error{1, fmt::format("No file of process {} has a symbol malloc: it is linked "
                                    "statically and stripped, or has an allocator of its own.",
                                    pid)};
  return {};
}

pi::Result<Allocators> find_allocators(int pid) {
  Allocators found;
  Search search(found);
  const auto all = code_of(pid);
  if (!all) return pi::Error{1, fmt::format("/proc/{}/maps cannot be read: {}.", pid, only_root)};
  if (all->empty())
    return pi::Error{1, fmt::format("Process {} has no program: it is a thread of the kernel, or "
                                    "it has ended, or its first thread has.",
                                    pid)};
  // A file may be mapped in many parts.
  std::set<std::pair<uint64_t, std::string_view>> files;
  for (const Mapped& mapped : *all) {
    if (!files.emplace(mapped.inode, mapped.path).second) continue;
    if (files.size() > max_files) break;
    search.look_into(mapped,
                     fmt::format("/proc/{}/map_files/{:x}-{:x}", pid, mapped.begin, mapped.end));
  }
  if (search.not_opened() == files.size())
    return pi::Error{1,
                     fmt::format("The files of process {} cannot be opened: {}.", pid, only_root)};
  if (files.size() > max_files)
    found.notes.push_back(
        fmt::format("only the first {} mapped files were searched for an allocator", max_files));
  search.add_notes();
  return found;
}

}  // namespace heapwatch
