// SPDX-License-Identifier: MIT
// The process's own code: writing it, and memory near it.
#ifndef PI_HOOKIT_PATCH_CODE_H
#define PI_HOOKIT_PATCH_CODE_H

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <pi/result.h>
#include <pi/unique_fd.h>

namespace pi::hookit {

// Writes and reads code through /proc/thread-self/mem. No page becomes writable meanwhile, so that
// W^X holds and no other thread loses the right to execute it, and unmapped addresses are errors.
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

// Code of each patched function that a jump at its entry can reach: it pushes the address where the
// function continues, and jumps to hookit_entered() or hookit_entered_after_endbr(). It stays.
class Trampolines {
 public:
  // The address for a jump at site, which follows ENDBR64 if after_endbr; 0: no memory near it is
  // free.
  uintptr_t of(const CodeWriter& code, uintptr_t site, bool after_endbr);

 private:
  struct Memory {
    uintptr_t next;
    uintptr_t end;
  };

  std::map<uintptr_t, uintptr_t> known_[2];  // by site; of those after ENDBR64 in the second
  std::vector<Memory> memory_;
};

}  // namespace pi::hookit

#endif  // PI_HOOKIT_PATCH_CODE_H
