// SPDX-License-Identifier: MIT
// NOP instructions, as compilers place them at the entry of functions.
#ifndef PI_HOOKIT_PATCH_NOPS_H
#define PI_HOOKIT_PATCH_NOPS_H

#include <cstddef>
#include <cstdint>
#include <span>

namespace pi::hookit {

// What a patched function has instead of NOPs: a jump.
constexpr size_t patch_bytes = 5;
constexpr uint8_t jump_code = 0xe9;

// The length of the NOP at the beginning of code; 0: another instruction, or code ends before it.
size_t nop_length(std::span<const uint8_t> code);

// Fills code with as few NOPs as possible.
void fill_with_nops(std::span<uint8_t> code);

// Where a function can be patched, as offsets in code.
struct PatchPlace {
  size_t patch = 0;      // the first NOP
  size_t end = 0;        // the end of the NOP that has the fifth byte
  bool one_nop = false;  // a single NOP of five bytes
};

// code: a function from its first instruction. False: it does not begin with NOPs of at least five
// bytes, after an ENDBR64.
bool find_patch_place(std::span<const uint8_t> code, PatchPlace& place);

}  // namespace pi::hookit

#endif  // PI_HOOKIT_PATCH_NOPS_H
