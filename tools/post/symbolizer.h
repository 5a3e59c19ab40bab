// SPDX-License-Identifier: MIT
// Who knows the names behind addresses: liba2n in the tool, a fake in tests.
#ifndef POST_SYMBOLIZER_H
#define POST_SYMBOLIZER_H

#include <pi/decode.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace post {

enum class Found : uint8_t {
  symbol,
  no_symbol,  // the module is known
  no_module,
};

struct Lookup {
  Found found = Found::no_module;
  std::string_view module;  // both valid until the next call
  std::string_view symbol;  // a stand-in such as NoSymbols when there is none
  uint64_t start = 0;       // address that offsets count from; 0 when nothing is known
  bool module_64 = false;   // known to be a 64-bit module
};

// What happens to processes is told in the order of time; time is nanoseconds of the trace clock.
class Symbolizer {
 public:
  virtual ~Symbolizer() = default;

  virtual void create(uint64_t time, uint32_t pid) = 0;
  virtual void fork(uint64_t time, uint32_t parent, uint32_t child) = 0;
  virtual void clone(uint64_t time, uint32_t parent, uint32_t child) = 0;
  virtual void exec(uint64_t time, uint32_t pid) = 0;
  virtual void set_name(uint64_t time, uint32_t pid, std::string_view name) = 0;
  // False when the mapping makes no sense.
  virtual bool add_module(uint64_t time, const pi::ModuleEntry& module) = 0;

  virtual Lookup lookup(uint64_t time, uint32_t pid, uint64_t address) = 0;

  // What a report must say about the names, once everything has been looked up.
  virtual std::vector<std::string> notes() = 0;
};

}  // namespace post

#endif  // POST_SYMBOLIZER_H
