// SPDX-License-Identifier: MIT
// The names of native functions of this process, by liba2n.
#ifndef PI_JPROF_NATIVE_NAMES_H
#define PI_JPROF_NATIVE_NAMES_H

#include <cstdint>
#include <string>
#include <vector>

#include "a2n_context.h"

namespace pi::jprof {

// liba2n's functions, since the agent loads it at run time.
struct A2nFunctions {
  decltype(&a2n_context_new) context_new = nullptr;
  decltype(&a2n_context_free) context_free = nullptr;
  decltype(&a2n_set_demangle) set_demangle = nullptr;
  decltype(&a2n_set_no_symbol_action) set_no_symbol_action = nullptr;
  decltype(&a2n_add_module) add_module = nullptr;
  decltype(&a2n_get_symbol) get_symbol = nullptr;
};

struct NativeName {
  std::string function;     // demangled; "[FILE+0x12]" where a function without symbol begins
  bool has_symbol = false;  // without one the function may be empty
  std::string module;       // its path; empty: the address is in no file
};

// Not thread-safe.
class NativeNames {
 public:
  // Sees the libraries that are loaded now.
  explicit NativeNames(const A2nFunctions& a2n);
  ~NativeNames();
  NativeNames(const NativeNames&) = delete;
  NativeNames& operator=(const NativeNames&) = delete;

  // The libraries that are loaded now can be named from now on, even after they are unloaded.
  void see_libraries();

  // By the libraries that were seen last.
  NativeName newest_at(uint64_t address) const { return at_time(address, time_); }
  // By each library that was at this address; at least one name.
  std::vector<NativeName> all_at(uint64_t address) const;

 private:
  struct Mapping {
    uint64_t from, to, offset, inode;
    std::string path;
    uint64_t seen;  // a number for the libraries that were seen at once: liba2n's time
    bool is_same(const Mapping& other) const;
  };

  void add(Mapping mapping);
  NativeName at_time(uint64_t address, uint64_t time) const;

  const A2nFunctions a2n_;
  a2n_context* context_;
  uint32_t pid_;
  uint64_t time_ = 0;
  std::vector<Mapping> mappings_;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_NATIVE_NAMES_H
