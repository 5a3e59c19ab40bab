// SPDX-License-Identifier: MIT
// The code of this process: which files it is in.
#include "code.h"

#include <link.h>

#include <cstring>
#include <mutex>

#include "arena.h"
#include "maps.h"

namespace pi::heapit {

Code::Code(std::byte* memory)
    : rules_(memory), mapped_(reinterpret_cast<Mapped*>(memory + unwind::RuleCache::memory_bytes)) {
  rules_.set_around(begin_arena, end_arena);
}

bool Code::is_known(uint64_t address) {
  const std::lock_guard lock(lock_);
  for (size_t i = 0; i < count_; ++i)
    if (address >= mapped_[i].begin && address < mapped_[i].end) return true;
  return false;
}

// Code that was compiled at run time is in no file.
bool Code::is_executable(uint64_t address) {
  return unwind::is_loaded(address) || is_known(address);
}

void Code::log_file_of(uint64_t address, Log& log) {
  if (is_known(address)) return;
  struct Context {
    Code* code;
    Log* log;
  } context{this, &log};
  read_maps(
      own_maps,
      [](const MapsLine& line, void* data) {
        auto* to = static_cast<Context*>(data);
        if (line.executable) to->code->add(line, to->log);
        return true;
      },
      &context);
}

void Code::add(const MapsLine& line, Log* log) {
  {
    const std::lock_guard lock(lock_);
    for (size_t i = 0; i < count_; ++i)
      if (mapped_[i].begin == line.begin && mapped_[i].end == line.end &&
          mapped_[i].offset == line.offset && mapped_[i].inode == line.inode)
        return;
    if (count_ == max_mapped) return heapit::add(log->header().lost[heap_log::lost_mappings], 1);
    mapped_[count_++] = {line.begin, line.end, line.offset, line.inode};
  }
  if (line.path.empty()) return;
  auto* record = log->begin<heap_log::Mapping>(heap_log::mapping, line.path.size() + 1);
  if (!record) return heapit::add(log->header().lost[heap_log::lost_mappings], 1);
  record->begin = line.begin;
  record->end = line.end;
  record->offset = line.offset;
  record->inode = line.inode;
  std::memcpy(record + 1, line.path.data(), line.path.size());
  log->finish(record->record);
}

void Code::forget_unloaded() {
  unsigned long long unloaded = 0;
  const auto take = [](dl_phdr_info* object, size_t, void* count) {
    *static_cast<unsigned long long*>(count) = object->dlpi_subs;
    return 1;
  };
  ::dl_iterate_phdr(take, &unloaded);
  const std::lock_guard lock(lock_);
  if (unloaded == unloaded_) return;
  unloaded_ = unloaded;
  rules_.forget();
  count_ = 0;
  generation_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace pi::heapit
