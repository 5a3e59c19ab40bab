// SPDX-License-Identifier: MIT
// What was mapped where in each process, at the time of a tick.
#include "process_maps.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace pi::swtrace {
namespace {

// Of one process, between two of its ticks.
constexpr size_t max_new_files = 256;
// Mappings of a part: a process with as many as the kernel permits has about a thousand parts.
constexpr size_t max_part = 128;

}  // namespace

ProcessMap::Part::Part(std::shared_ptr<size_t> count, Entries entries)
    : all(std::move(count)), by_address(std::move(entries)) {
  *all += by_address.size();
}

ProcessMap::ProcessMap(const ProcessMap& other)
    : all_(other.all_), parts_(other.parts_), size_(other.size_), new_files_(other.new_files_) {}

const Mapping* ProcessMap::find(uint64_t address) const {
  const auto part =
      std::ranges::upper_bound(parts_, address, {}, [](const auto& one) { return one->first(); });
  if (part == parts_.begin()) return nullptr;
  const auto after = (*std::prev(part))->by_address.upper_bound(address);
  const Mapping& mapping = std::prev(after)->second;
  return address < mapping.end ? &mapping : nullptr;
}

std::vector<std::shared_ptr<TableFile>> ProcessMap::take_new_files() const {
  return std::exchange(new_files_, {});
}

std::optional<const Mapping*> ProcessMap::runtime() const {
  if (!runtime_) return std::nullopt;
  return *runtime_ ? &**runtime_ : nullptr;
}

void ProcessMap::keep_runtime(const Mapping* mapping) const {
  runtime_.emplace();
  if (mapping) *runtime_ = *mapping;
}

// Programs that generate code map memory without a file all the time.
void ProcessMap::note_change(const Mapping& mapping) {
  if (mapping.file) runtime_.reset();
}

size_t ProcessMap::part_below(uint64_t address) const {
  const auto part =
      std::ranges::lower_bound(parts_, address, {}, [](const auto& one) { return one->first(); });
  return part == parts_.begin() ? 0 : static_cast<size_t>(part - parts_.begin()) - 1;
}

ProcessMap::Part& ProcessMap::own(size_t part) {
  auto& shared = parts_[part];
  if (shared.use_count() > 1) shared = std::make_shared<Part>(*shared);
  return *shared;
}

// Those at both ends; whole parts between them are dropped.
size_t ProcessMap::shared_by(uint64_t begin, uint64_t end) const {
  if (parts_.empty()) return 0;
  const size_t first = part_below(begin), last = part_below(end);
  size_t mappings = 0;
  for (size_t part = first; part <= last; part = part < last ? last : last + 1)
    if (parts_[part].use_count() > 1) mappings += parts_[part]->by_address.size();
  return mappings;
}

// Nothing may be mapped there.
void ProcessMap::insert(uint64_t begin, Mapping mapping) {
  ++size_;
  if (parts_.empty()) {
    parts_.push_back(std::make_shared<Part>(all_, Entries{{begin, std::move(mapping)}}));
    return;
  }
  const size_t at = part_below(begin);
  Part& part = own(at);
  part.by_address.insert_or_assign(begin, std::move(mapping));
  ++*all_;
  if (part.by_address.size() <= max_part) return;
  Entries rest;
  while (part.by_address.size() > max_part / 2)
    rest.insert(rest.begin(), part.by_address.extract(std::prev(part.by_address.end())));
  *all_ -= rest.size();
  parts_.insert(parts_.begin() + static_cast<ptrdiff_t>(at) + 1,
                std::make_shared<Part>(all_, std::move(rest)));
}

void ProcessMap::erase(Parts::iterator first, Parts::iterator last) {
  if (first == last) return;
  for (auto part = first; part != last; ++part) size_ -= (*part)->by_address.size();
  runtime_.reset();
  parts_.erase(first, last);
}

void ProcessMap::erase_in(size_t part, uint64_t begin, uint64_t end) {
  const auto range = [&](const Part& of) {
    return std::pair(of.by_address.lower_bound(begin), of.by_address.lower_bound(end));
  };
  const auto [from, to] = range(*parts_[part]);
  if (from == to) return;
  if (from == parts_[part]->by_address.begin() && to == parts_[part]->by_address.end()) {
    const auto whole = parts_.begin() + static_cast<ptrdiff_t>(part);
    return erase(whole, whole + 1);
  }
  Part& owned = own(part);
  auto [first, last] = range(owned);
  while (first != last) {
    note_change(first->second);
    first = owned.by_address.erase(first);
    --size_;
    --*all_;
  }
}

// Makes the addresses free, which may divide a mapping.
void ProcessMap::cut_out(uint64_t begin, uint64_t end) {
  if (parts_.empty()) return;
  // What begins before them.
  const auto before = [begin](Part& part) {
    auto at = part.by_address.lower_bound(begin);
    return at == part.by_address.begin() ? nullptr : &std::prev(at)->second;
  };
  const size_t part = part_below(begin);
  if (const Mapping* old = before(*parts_[part]); old && old->end > begin) {
    note_change(*old);
    Mapping& cut = *before(own(part));
    Mapping rest = cut;
    cut.end = begin;
    if (rest.end > end) return insert(end, std::move(rest));
  }
  // What begins in them; the last one may reach beyond.
  const auto next = parts_[part_below(end)]->by_address.lower_bound(end);
  std::optional<Mapping> rest;
  if (next != parts_[part_below(end)]->by_address.begin())
    if (const auto last = std::prev(next); last->first >= begin && last->second.end > end)
      rest = last->second;
  const size_t last = part_below(end);
  if (last > part) {
    erase_in(last, begin, end);
    erase(parts_.begin() + static_cast<ptrdiff_t>(part) + 1,
          parts_.begin() + static_cast<ptrdiff_t>(last));
  }
  erase_in(part, begin, end);
  if (rest) insert(end, std::move(*rest));
}

// Replaces what was mapped there; perf does not report where memory is unmapped.
void ProcessMap::put(uint64_t begin, Mapping mapping) {
  cut_out(begin, mapping.end);
  note_change(mapping);
  if (mapping.file && new_files_.size() < max_new_files) new_files_.push_back(mapping.file);
  insert(begin, std::move(mapping));
}

bool ProcessMap::remove_from(uint64_t begin) {
  if (parts_.empty()) return false;
  for (size_t part = part_below(begin); part < parts_.size(); ++part) {
    const auto at = parts_[part]->by_address.lower_bound(begin);
    if (at == parts_[part]->by_address.end()) continue;
    note_change(at->second);
    erase_in(part, at->first, at->first + 1);
    return true;
  }
  return false;
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

void ProcessMaps::own(SharedMap& map, const std::shared_ptr<size_t>& all) {
  if (!map)
    map = std::make_shared<ProcessMap>(all);
  else if (map.use_count() > 1)
    map = std::make_shared<ProcessMap>(*map);
}

// What was there before is gone in any case.
void ProcessMaps::add_mapping(ProcessMap& map, uint64_t begin, Mapping mapping, size_t limit) {
  const size_t before = map.size();
  map.put(begin, std::move(mapping));
  const auto is_over = [&] {
    return map.size() > limits_.mappings_a_process || *mappings_ > limit;
  };
  for (; map.size() > before && is_over() && map.remove_from(begin); ++refused_) {
  }
}

size_t ProcessMaps::limit_of(uint32_t pid) const {
  if (*mappings_ < limits_.mappings_of_others || !is_own_ || is_own_(pid)) return limits_.mappings;
  return limits_.mappings_of_others;
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
  own(map, mappings_);
  // Without space for copies, the process has no known memory rather than one that is wrong.
  const size_t limit = limit_of(change.pid);
  const size_t copied = map->shared_by(change.address, change.mapping.end);
  if (copied != 0 && *mappings_ + copied > limit) {
    refused_ += map->size();
    map = std::make_shared<ProcessMap>(mappings_);
  }
  add_mapping(*map, change.address, std::move(change.mapping), limit);
}

std::shared_ptr<const ProcessMap> ProcessMaps::of(uint32_t pid) const {
  const auto process = processes_.find(pid);
  return process == processes_.end() ? nullptr : process->second;
}

}  // namespace pi::swtrace
