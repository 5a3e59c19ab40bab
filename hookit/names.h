// SPDX-License-Identifier: MIT
// The names of this process's functions, by liba2n.
#ifndef PI_HOOKIT_NAMES_H
#define PI_HOOKIT_NAMES_H

#include <cstdint>
#include <string>
#include <vector>

struct a2n_context;

namespace pi::hookit {

// Not thread-safe.
class Names {
 public:
  // Sees the libraries that are loaded now.
  Names();
  ~Names();
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;

  // The libraries that are loaded now can be named from now on, even after they are unloaded.
  void see_libraries();

  // Demangled; "0xADDRESS" if there is no symbol, with the module's name if that is known. If
  // several libraries were at that address one after the other: "A or B".
  std::string of(uint64_t function) const;

 private:
  struct Mapping {
    uint64_t from, to, offset, inode;
    std::string path;
    uint64_t seen;  // a number for the libraries that were seen at once: liba2n's time
    bool is_same(const Mapping& other) const;
  };

  void add(Mapping mapping);
  std::string at_time(uint64_t function, uint64_t time) const;

  a2n_context* context_;
  uint32_t pid_;
  uint64_t time_ = 0;
  std::vector<Mapping> mappings_;
};

}  // namespace pi::hookit

#endif  // PI_HOOKIT_NAMES_H
