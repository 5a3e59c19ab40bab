// SPDX-License-Identifier: MIT
// Which generated code lies where now: tells what the JVM was asked for from what is known already.
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
  // The JVM told by itself that there is code now: it takes the place of what was there. False if
  // the same is known already.
  bool add(uint64_t address, uint32_t size, std::string_view name, uint64_t time);
  // The JVM, asked at a time, tells at another of code. False if that is no news: it is known, or
  // what is known there came after the question. The JVM may then give a shorter name than before.
  bool add_existing(uint64_t address, uint32_t size, std::string_view name, uint64_t asked,
                    uint64_t time);
  // The code that begins there is gone, if it is not younger than this.
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
