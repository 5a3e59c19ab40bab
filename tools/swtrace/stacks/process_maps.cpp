// SPDX-License-Identifier: MIT
// What was mapped where in each process, at the time of a tick.
#include "process_maps.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pi::swtrace {
namespace {

// Of one process, between two of its ticks.
constexpr size_t max_new_files = 256;

}  // namespace

ProcessMap::ProcessMap(const ProcessMap& other)
    : all_(other.all_), by_address_(other.by_address_), new_files_(other.new_files_) {
  *all_ += by_address_.size();
}

const Mapping* ProcessMap::find(uint64_t address) const {
  const auto after = by_address_.upper_bound(address);
  if (after == by_address_.begin()) return nullptr;
  const Mapping& mapping = std::prev(after)->second;
  return address < mapping.end ? &mapping : nullptr;
}

std::vector<std::shared_ptr<TableFile>> ProcessMap::take_new_files() const {
  return std::exchange(new_files_, {});
}

// Programs that generate code map memory without a file all the time.
void ProcessMap::note_change(const Mapping& mapping) {
  if (mapping.file) runtime_.reset();
}

// Makes the addresses free, which may divide a mapping.
void ProcessMap::cut_out(uint64_t begin, uint64_t end) {
  auto at = by_address_.lower_bound(begin);
  if (at != by_address_.begin()) {
    const auto before = std::prev(at);
    if (before->second.end > begin) note_change(before->second);
    if (before->second.end > end) {
      Mapping rest = before->second;
      by_address_.emplace_hint(at, end, std::move(rest));
    }
    before->second.end = std::min(before->second.end, begin);
  }
  at = by_address_.lower_bound(begin);
  while (at != by_address_.end() && at->first < end) {
    note_change(at->second);
    if (at->second.end > end) {
      Mapping rest = at->second;
      by_address_.emplace_hint(std::next(at), end, std::move(rest));
    }
    at = by_address_.erase(at);
  }
}

// Replaces what was mapped there; perf does not report where memory is unmapped.
void ProcessMap::put(uint64_t begin, Mapping mapping) {
  *all_ -= by_address_.size();
  cut_out(begin, mapping.end);
  note_change(mapping);
  if (mapping.file && new_files_.size() < max_new_files) new_files_.push_back(mapping.file);
  by_address_.insert_or_assign(begin, std::move(mapping));
  *all_ += by_address_.size();
}

bool ProcessMap::remove_from(uint64_t begin) {
  const auto at = by_address_.lower_bound(begin);
  if (at == by_address_.end()) return false;
  note_change(at->second);
  by_address_.erase(at);
  --*all_;
  return true;
}

void ProcessMaps::clear() {
  processes_.clear();
  changes_.clear();
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

// Makes the memory that of one process. False: the limit has no space for a copy.
bool ProcessMaps::own(SharedMap& map) {
  if (!map) {
    map = std::make_shared<ProcessMap>(mappings_);
  } else if (map.use_count() > 1) {
    if (map->size() + *mappings_ > limits_.mappings) return false;
    map = std::make_shared<ProcessMap>(*map);
  }
  return true;
}

void ProcessMaps::add_mapping(ProcessMap& map, uint64_t begin, Mapping mapping) {
  map.put(begin, std::move(mapping));
  // What was there before is gone in any case.
  for (; is_over(map) && map.remove_from(begin); ++refused_) {
  }
}

bool ProcessMaps::is_over(const ProcessMap& map) const {
  return map.size() > limits_.mappings_a_process || *mappings_ > limits_.mappings;
}

void ProcessMaps::apply(Change change) {
  if (change.kind == PI_PROCESS_EXECUTED || change.kind == PI_PROCESS_ENDED) {
    processes_.erase(change.pid);
    return;
  }
  if (change.kind == PI_PROCESS_FORKED) {
    const auto parent = processes_.find(change.parent);
    if (parent == processes_.end()) return;
    SharedMap shared = parent->second;
    processes_[change.pid] = std::move(shared);
    return;
  }
  auto& map = processes_[change.pid];
  if (own(map))
    add_mapping(*map, change.address, std::move(change.mapping));
  else
    ++refused_;
}

std::shared_ptr<const ProcessMap> ProcessMaps::of(uint32_t pid) const {
  const auto process = processes_.find(pid);
  return process == processes_.end() ? nullptr : process->second;
}

}  // namespace pi::swtrace
