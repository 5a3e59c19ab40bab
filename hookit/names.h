// SPDX-License-Identifier: MIT
// The names of this process's functions, by liba2n.
#ifndef PI_HOOKIT_NAMES_H
#define PI_HOOKIT_NAMES_H

#include <cstdint>
#include <string>

struct a2n_context;

namespace pi::hookit {

class Names {
 public:
  // Reads the mappings that the process has now.
  Names();
  ~Names();
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;

  // Demangled; "0xADDRESS" if there is no symbol, with the module's name if that is known.
  std::string of(uint64_t function) const;

 private:
  void add_modules();

  a2n_context* context_;
  uint32_t pid_;
};

}  // namespace pi::hookit

#endif  // PI_HOOKIT_NAMES_H
