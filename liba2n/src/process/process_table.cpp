// SPDX-License-Identifier: MIT
// Processes over time: which address space and which name a pid had at a given time.
#include "process_table.h"

#include <algorithm>
#include <utility>

namespace a2n {
namespace {

// The last element that started at or before time, or null.
template <class T>
const T* at_time(const std::vector<T>& history, uint64_t time) {
  if (!history.empty() && history.back().start <= time) return &history.back();
  auto after = std::upper_bound(history.begin(), history.end(), time,
                                [](uint64_t value, const T& entry) { return value < entry.start; });
  return after == history.begin() ? nullptr : &*std::prev(after);
}

}  // namespace

Space::~Space() {
  std::shared_ptr<Space> next = std::move(forked);
  while (next && next.use_count() == 1) next = std::exchange(next->forked, nullptr);
}

uint64_t ProcessTable::advance(Process& process, uint64_t time) {
  process.newest = std::max(process.newest, time);
  return process.newest;
}

std::shared_ptr<Space> ProcessTable::new_space(uint32_t owner, uint64_t begun,
                                               const std::shared_ptr<Space>& forked) {
  AddressSpace map = forked ? AddressSpace(forked->map.now()) : AddressSpace();
  return std::make_shared<Space>(std::move(map), owner, begun, forked);
}

void ProcessTable::begin_image(Process& process, uint64_t time,
                               const std::shared_ptr<Space>& space) {
  std::shared_ptr<Space> former = process.images.empty() ? nullptr : process.images.back().space;
  if (former && process.images.back().start == time) {
    process.images.back().space = space;  // an image without duration
  } else {
    process.images.push_back({time, space});
  }
  ++space->users;
  if (former && --former->users == 0) former->map.freeze();
  drop(std::move(former));
}

// What is used by nothing else is removed, and then that from which it was forked.
void ProcessTable::drop(std::shared_ptr<Space> space) {
  while (space && space.use_count() == 1) {
    space->map.each_tag([this](uint32_t tag) { unused_tags_.push_back(tag); });
    space = std::exchange(space->forked, nullptr);
  }
}

void ProcessTable::release(uint32_t pid) {
  if (!processes_.find(pid)) return;
  Process process = std::move(processes_[pid]);
  processes_.erase(pid);
  if (process.images.empty()) return;
  if (Space& last = *process.images.back().space; --last.users == 0) last.map.freeze();
  for (Image& image : process.images) drop(std::move(image.space));
}

std::optional<uint32_t> ProcessTable::take_unused_tag() {
  if (unused_tags_.empty()) return std::nullopt;
  const uint32_t tag = unused_tags_.back();
  unused_tags_.pop_back();
  return tag;
}

void ProcessTable::begin_name(Process& process, uint64_t time, const char* name) {
  if (process.names.empty()) {
    if (name) process.names.push_back({time, name});
  } else if (process.names.back().start == time) {
    process.names.back().name = name;
  } else if (process.names.back().name != name) {
    process.names.push_back({time, name});
  }
}

ProcessTable::Process& ProcessTable::known(uint32_t pid, uint64_t time) {
  Process& process = processes_[pid];
  if (process.images.empty()) begin_image(process, advance(process, time), new_space(pid, 0));
  if (process.birth.seen == 0) process.birth.seen = time;
  return process;
}

void ProcessTable::create(uint32_t pid, uint64_t time) {
  Process& process = processes_[pid];
  const bool first = process.images.empty();
  time = advance(process, time);
  begin_image(process, time, new_space(pid, first ? 0 : time));
  process.birth = {0, time};
  begin_name(process, time, nullptr);
}

void ProcessTable::fork(uint32_t parent_pid, uint32_t child_pid, uint64_t time) {
  Process& parent = known(parent_pid, time);
  Process& child = processes_[child_pid];
  time = advance(child, time);
  const char* name = parent.names.empty() ? nullptr : parent.names.back().name;
  begin_image(child, time, new_space(child_pid, time, parent.images.back().space));
  child.birth = {time, time};
  begin_name(child, time, name);
}

void ProcessTable::clone(uint32_t parent_pid, uint32_t child_pid, uint64_t time) {
  Process& parent = known(parent_pid, time);
  Process& child = processes_[child_pid];
  time = advance(child, time);
  const char* name = parent.names.empty() ? nullptr : parent.names.back().name;
  begin_image(child, time, parent.images.back().space);
  child.birth = {time, time};
  begin_name(child, time, name);
}

void ProcessTable::exec(uint32_t pid, uint64_t time) {
  Process& process = known(pid, time);
  time = advance(process, time);
  begin_image(process, time, new_space(pid, time));
}

void ProcessTable::set_name(uint32_t pid, const char* name, uint64_t time) {
  Process& process = known(pid, time);
  begin_name(process, advance(process, time), name);
}

void ProcessTable::add(uint32_t pid, uint64_t begin, uint64_t end, uint32_t tag, uint64_t time) {
  Process& process = known(pid, time);
  process.images.back().space->map.add(advance(process, time), begin, end, tag);
}

std::optional<Piece> ProcessTable::newest(uint32_t pid, uint64_t address) const {
  const Process* found = processes_.find(pid);
  if (!found || found->images.empty()) return std::nullopt;
  return found->images.back().space->map.find(address, UINT64_MAX);
}

ProcessTable::Birth ProcessTable::birth(uint32_t pid) const {
  const Process* found = processes_.find(pid);
  return found ? found->birth : Birth{};
}

const Space* ProcessTable::find(uint32_t pid, uint64_t time) const {
  const Process* found = processes_.find(pid);
  const Image* image = found ? at_time(found->images, time) : nullptr;
  return image ? image->space.get() : nullptr;
}

const char* ProcessTable::name(uint32_t pid, uint64_t time) const {
  const Process* found = processes_.find(pid);
  const Name* name = found ? at_time(found->names, time) : nullptr;
  return name ? name->name : nullptr;
}

}  // namespace a2n
