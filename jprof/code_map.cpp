// SPDX-License-Identifier: MIT
// JIT code present now. Filters the events that GenerateEvents repeats.
#include "code_map.h"

#include <utility>

namespace pi::jprof {

// Entries do not overlap each other.
CodeMap::Entries::iterator CodeMap::first_overlap(uint64_t address, uint32_t size) {
  auto entry = code_.upper_bound(address);
  if (entry != code_.begin()) {
    const auto before = std::prev(entry);
    if (address - before->first < before->second.size) return before;
  }
  return entry != code_.end() && entry->first - address < size ? entry : code_.end();
}

void CodeMap::put(uint64_t address, Code code) {
  for (auto old = first_overlap(address, code.size); old != code_.end();
       old = first_overlap(address, code.size))
    code_.erase(old);
  // first_overlap() does not find an entry of size 0 at the same address.
  code_.insert_or_assign(address, std::move(code));
}

bool CodeMap::add(uint64_t address, uint32_t size, std::string_view name, uint64_t time) {
  const auto old = code_.find(address);
  const bool known = old != code_.end() && old->second.size == size && old->second.name == name;
  put(address, {size, std::string(name), time});
  return !known;
}

bool CodeMap::add_existing(uint64_t address, uint32_t size, std::string_view name, uint64_t asked,
                           uint64_t time) {
  for (auto old = first_overlap(address, size);
       old != code_.end() && (old->first <= address || old->first - address < size); ++old) {
    const bool same =
        old->first == address && old->second.size == size && old->second.name.starts_with(name);
    if (same || old->second.time >= asked) return false;
  }
  put(address, {size, std::string(name), time});
  return true;
}

void CodeMap::remove(uint64_t address, uint64_t time) {
  const auto entry = code_.find(address);
  if (entry != code_.end() && entry->second.time <= time) code_.erase(entry);
}

}  // namespace pi::jprof
