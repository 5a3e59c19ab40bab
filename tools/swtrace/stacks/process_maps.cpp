// SPDX-License-Identifier: MIT
// What was mapped where in each process, at the time of a tick.
#include "process_maps.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pi::swtrace {

void ProcessMaps::clear() {
  processes_.clear();
  changes_.clear();
  mappings_ = 0;
  refused_ = 0;
}

void ProcessMaps::add(const pi_process_change& change, std::shared_ptr<TableFile> file) {
  const uint64_t end = change.address + change.bytes;
  if (change.kind == PI_PROCESS_MAPPED && end <= change.address) return;
  changes_.emplace(change.time, Change{change.kind,
                                       change.pid,
                                       change.parent,
                                       change.address,
                                       {end, change.address - change.offset, std::move(file)}});
  // Stacks that are older than the changes that do not fit see the memory after them.
  while (changes_.size() > limits_.changes) advance(changes_.begin()->first);
}

void ProcessMaps::advance(uint64_t time) {
  while (!changes_.empty() && changes_.begin()->first <= time)
    apply(std::move(changes_.extract(changes_.begin()).mapped()));
}

void ProcessMaps::replace(SharedMaps& maps, SharedMaps by) {
  if (maps && maps.use_count() == 1) mappings_ -= maps->size();
  maps = std::move(by);
}

// Makes the mappings those of one process. False: the limit has no space for a copy.
bool ProcessMaps::own(SharedMaps& maps) {
  if (!maps) {
    maps = std::make_shared<Maps>();
  } else if (maps.use_count() > 1) {
    if (maps->size() + mappings_ > limits_.mappings) return false;
    maps = std::make_shared<Maps>(*maps);
    mappings_ += maps->size();
  }
  return true;
}

void ProcessMaps::map(Maps& maps, uint64_t begin, Mapping mapping) {
  mappings_ -= maps.size();
  put(maps, begin, std::move(mapping));
  // What was there before is gone in any case.
  for (auto at = maps.find(begin); at != maps.end() && is_over(maps); ++refused_)
    at = maps.erase(at);
  mappings_ += maps.size();
}

bool ProcessMaps::is_over(const Maps& maps) const {
  return maps.size() > limits_.mappings_a_process || mappings_ + maps.size() > limits_.mappings;
}

void ProcessMaps::apply(Change change) {
  if (change.kind == PI_PROCESS_EXECUTED || change.kind == PI_PROCESS_ENDED) {
    const auto process = processes_.find(change.pid);
    if (process == processes_.end()) return;
    replace(process->second, nullptr);
    processes_.erase(process);
    return;
  }
  if (change.kind == PI_PROCESS_FORKED) {
    const auto parent = processes_.find(change.parent);
    if (parent == processes_.end()) return;
    SharedMaps shared = parent->second;
    replace(processes_[change.pid], std::move(shared));
    return;
  }
  auto& maps = processes_[change.pid];
  if (own(maps))
    map(*maps, change.address, std::move(change.mapping));
  else
    ++refused_;
}

// Replaces what was mapped there; perf does not report where memory is unmapped.
void ProcessMaps::put(Maps& maps, uint64_t begin, Mapping mapping) {
  auto at = maps.lower_bound(begin);
  if (at != maps.begin()) {
    const auto before = std::prev(at);
    if (before->second.end > mapping.end) {
      Mapping rest = before->second;
      maps.emplace_hint(at, mapping.end, std::move(rest));
    }
    before->second.end = std::min(before->second.end, begin);
  }
  at = maps.lower_bound(begin);
  while (at != maps.end() && at->first < mapping.end) {
    if (at->second.end > mapping.end) {
      Mapping rest = at->second;
      maps.emplace_hint(std::next(at), mapping.end, std::move(rest));
    }
    at = maps.erase(at);
  }
  maps.insert_or_assign(begin, std::move(mapping));
}

const Mapping* ProcessMaps::find(uint32_t pid, uint64_t address) const {
  const auto process = processes_.find(pid);
  if (process == processes_.end() || !process->second) return nullptr;
  const Maps& maps = *process->second;
  const auto after = maps.upper_bound(address);
  if (after == maps.begin()) return nullptr;
  const Mapping& mapping = std::prev(after)->second;
  return address < mapping.end ? &mapping : nullptr;
}

}  // namespace pi::swtrace
