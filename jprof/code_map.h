// SPDX-License-Identifier: MIT
// JIT code present now. Filters the events that GenerateEvents repeats.
#ifndef PI_JPROF_CODE_MAP_H
#define PI_JPROF_CODE_MAP_H

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace pi::jprof {

// Not thread-safe. Times are those of the JVM's events.
class CodeMap {
 public:
  // The JVM reported new code: it replaces overlapping entries. False if the same entry exists.
  bool add(uint64_t address, uint32_t size, std::string_view name, uint64_t time);
  // Code that the JVM reported at `time`, after GenerateEvents was called at `asked`. False if it
  // is not new: the same entry exists, perhaps with a longer name (the JVM may shorten it now), or
  // an overlapping one was added after `asked`.
  bool add_existing(uint64_t address, uint32_t size, std::string_view name, uint64_t asked,
                    uint64_t time);
  // Removes the code that begins at the address, unless it was added after `time`.
  void remove(uint64_t address, uint64_t time);
  void clear() { code_.clear(); }

  size_t size() const { return code_.size(); }

 private:
  struct Code {
    uint32_t size;
    std::string name;
    uint64_t time;
  };
  using Entries = std::map<uint64_t, Code>;

  Entries::iterator first_overlap(uint64_t address, uint32_t size);
  void put(uint64_t address, Code code);

  Entries code_;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_CODE_MAP_H
