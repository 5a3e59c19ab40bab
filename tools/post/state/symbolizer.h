// SPDX-License-Identifier: MIT
// Who knows the names behind addresses: liba2n in the tool, a fake in tests.
#ifndef POST_SYMBOLIZER_H
#define POST_SYMBOLIZER_H

#include <pi/decode.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "read/runtime_logs.h"
#include "thread_log.h"

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
  uint64_t module_start = 0;
  bool module_64 = false;  // known to be a 64-bit module
  bool module_32 = false;  // ... a 32-bit module
  uint64_t code_id = 0;    // tells code of equal names and starts apart that was made at run time
};

// Bytes of a function; valid as long as the symbolizer.
struct Code {
  std::span<const std::byte> bytes;  // empty: not known
  uint64_t start = 0;                // address of the first one
};

// One of the functions that an address belongs to; valid until the next call.
struct SourceFrame {
  std::string_view name;
  std::string_view file;  // empty: not known
  uint32_t line = 0;      // 0: not known
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

  // The rest is for symbolizers that know of source lines and of code made at run time.

  // The functions at an address, each inlined into the next, the last one being lookup()'s symbol.
  // Empty where there is no symbol.
  virtual std::vector<SourceFrame> frames(uint64_t /*time*/, uint32_t /*pid*/,
                                          uint64_t /*address*/) {
    return {};
  }

  // The bytes of lookup()'s symbol.
  virtual Code code(uint64_t /*time*/, uint32_t /*pid*/, uint64_t /*address*/) { return {}; }

  // Copies bytes of code from an address on, also where there is no symbol, and of the kernel where
  // an image of it is at hand; how many, 0: none are known.
  virtual size_t read_code(uint64_t /*time*/, uint32_t /*pid*/, uint64_t /*address*/,
                           std::span<std::byte> /*out*/) {
    return 0;
  }

  // A process's first tick comes: what its runtime wrote of its code may now be read. To be called
  // again when its id is another process's.
  virtual void look_for_logs(const ProcessIds& /*process*/) {}
  // The trace says that JProf has written a log of a process's code.
  virtual void expect_log(uint32_t /*pid*/) {}
  // When, after time, addresses of a process's code made at run time get other names; UINT64_MAX:
  // never. After look_for_logs().
  virtual uint64_t next_code_change(uint64_t /*time*/, uint32_t /*pid*/) { return UINT64_MAX; }
  // What its runtime calls its threads, by time. After look_for_logs().
  virtual std::vector<pi::ThreadStart> thread_starts(const ProcessIds& /*process*/) { return {}; }

  // What a report must say about the names, once everything has been looked up.
  virtual std::vector<std::string> notes() = 0;
};

}  // namespace post

#endif  // POST_SYMBOLIZER_H
