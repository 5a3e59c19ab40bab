// SPDX-License-Identifier: MIT
// Interface that returns the names of addresses: liba2n in the tool, a fake in tests.
#ifndef POST_SYMBOLIZER_H
#define POST_SYMBOLIZER_H

#include <pi/decode.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "read/runtime_logs.h"
#include "read/trace_info.h"
#include "thread_log.h"

namespace post {

enum class Found : uint8_t {
  symbol,
  function,   // no symbol, but where the function begins and ends
  no_symbol,  // the module is known
  no_module,
};

constexpr bool has_no_symbol(Found found) {
  return found == Found::function || found == Found::no_symbol;
}

struct Lookup {
  Found found = Found::no_module;
  std::string_view module;  // both valid until the next call
  std::string_view symbol;  // a stand-in such as NoSymbols when there is none
  uint64_t start = 0;       // address that offsets count from; 0 when nothing is known
  uint64_t module_start = 0;
  bool module_64 = false;  // known to be a 64-bit module
  bool module_32 = false;  // ... a 32-bit module
  uint64_t code_id = 0;    // distinguishes JIT-compiled code of equal name and start
  // Without a symbol: where the function begins, or if that is not known the address itself, as a
  // virtual address in the module's file.
  std::optional<uint64_t> file_address = {};
};

// Bytes of a function; valid as long as the symbolizer.
struct Code {
  std::span<const std::byte> bytes;  // empty: not known
  uint64_t start = 0;                // address of the first one
};

// One of the functions that contain an address; valid until the next call.
struct SourceFrame {
  std::string_view name;
  std::string_view file;  // empty: not known
  uint32_t line = 0;      // 0: not known
};

// Calls about processes come in the order of time; time is nanoseconds of the trace clock.
class Symbolizer {
 public:
  virtual ~Symbolizer() = default;

  virtual void create(uint64_t time, uint32_t pid) = 0;
  virtual void fork(uint64_t time, uint32_t parent, uint32_t child) = 0;
  virtual void clone(uint64_t time, uint32_t parent, uint32_t child) = 0;
  virtual void exec(uint64_t time, uint32_t pid) = 0;
  virtual void set_name(uint64_t time, uint32_t pid, std::string_view name) = 0;
  // Nothing will be asked about the process any more, until another one has its id.
  virtual void release(uint32_t /*pid*/) {}
  // False when the mapping is invalid.
  virtual bool add_module(uint64_t time, const pi::ModuleEntry& module) = 0;

  virtual Lookup lookup(uint64_t time, uint32_t pid, uint64_t address) = 0;

  // The names of frames that are no addresses (PITRACE_FRAME_NAMED()); they must outlive this.
  void use_frame_names(const FrameNames& names) { frame_names_ = &names; }
  // Of such a frame: the interpreted method, or the interpreter.
  Lookup lookup_named(uint64_t frame);

  // The rest is for symbolizers that support source lines and JIT-compiled code.

  // The functions at an address, each inlined into the next, the last one being lookup()'s symbol.
  // Empty where there is no symbol.
  virtual std::vector<SourceFrame> frames(uint64_t /*time*/, uint32_t /*pid*/,
                                          uint64_t /*address*/) {
    return {};
  }

  // The bytes of lookup()'s symbol.
  virtual Code code(uint64_t /*time*/, uint32_t /*pid*/, uint64_t /*address*/) { return {}; }

  // Whether all files that have lookup()'s symbol belong to root.
  virtual bool is_of_root(uint64_t /*time*/, uint32_t /*pid*/, uint64_t /*address*/) {
    return false;
  }

  // Copies bytes of code from an address on, also where there is no symbol, and kernel code if
  // there is an image of the kernel. Returns the number of bytes; 0: none are known.
  virtual size_t read_code(uint64_t /*time*/, uint32_t /*pid*/, uint64_t /*address*/,
                           std::span<std::byte> /*out*/) {
    return 0;
  }

  // To be called before the first tick of a process: its runtime's logs may now be read. To be
  // called again when another process gets the id.
  virtual void look_for_logs(const ProcessIds& /*process*/) {}
  // To be called for a record which states that JProf has written a log of the process's code.
  virtual void expect_log(uint32_t /*pid*/) {}
  // Returns when the process's JIT-compiled code changes next after time; UINT64_MAX: never.
  // To be called after look_for_logs().
  virtual uint64_t next_code_change(uint64_t /*time*/, uint32_t /*pid*/) { return UINT64_MAX; }
  // The runtime's names of the threads, by time. To be called after look_for_logs().
  virtual std::vector<pi::ThreadStart> thread_starts(const ProcessIds& /*process*/) { return {}; }

  // A C++ or Rust name made readable, whether lookups do so or not; other names as they are.
  virtual std::string readable(const std::string& name) const { return name; }

  // Remarks on the names for the reports, once everything has been looked up.
  virtual std::vector<std::string> notes() = 0;

  // The function to which the entry of a procedure linkage table at an address leads; "": not
  // known.
  virtual std::string plt_name(uint64_t /*time*/, uint32_t /*pid*/, uint64_t /*address*/) {
    return {};
  }

 private:
  const FrameNames* frame_names_ = nullptr;
  std::string frame_name_;  // the last one
};

}  // namespace post

#endif  // POST_SYMBOLIZER_H
