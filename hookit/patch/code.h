// SPDX-License-Identifier: MIT
// The process's own code: writing it, and memory near it.
#ifndef PI_HOOKIT_PATCH_CODE_H
#define PI_HOOKIT_PATCH_CODE_H

#include <cstdint>
#include <span>
#include <vector>

#include <pi/result.h>
#include <pi/unique_fd.h>

namespace pi::hookit {

// Writes and reads code through /proc/self/mem. No page becomes writable meanwhile, so that W^X
// holds and no other thread loses the right to execute it, and unmapped addresses are errors.
class CodeWriter {
 public:
  static Result<CodeWriter> open();

  bool write(uintptr_t address, std::span<const uint8_t> bytes) const;
  bool read(uintptr_t address, std::span<uint8_t> bytes) const;
  // After this every thread executes what was written before. False: the kernel cannot do it.
  bool synchronise() const;

 private:
  explicit CodeWriter(UniqueFd memory) : memory_(std::move(memory)) {}

  UniqueFd memory_;
};

// Jumps to hookit_entered() and hookit_entered_after_endbr() that a call instruction of a module
// can reach. They stay.
class Trampolines {
 public:
  // The address for a call at site, which follows the first one if after_endbr; 0: no memory near
  // it is free.
  uintptr_t near(uintptr_t site, bool after_endbr);

 private:
  std::vector<uintptr_t> pages_;
};

}  // namespace pi::hookit

#endif  // PI_HOOKIT_PATCH_CODE_H
