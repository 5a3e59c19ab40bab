// SPDX-License-Identifier: MIT
// NOP instructions, as compilers place them at the entry of functions.
#include "nops.h"

#include <algorithm>
#include <array>

namespace pi::hookit {
namespace {

constexpr size_t longest_instruction = 15;
constexpr std::array<uint8_t, 4> endbr64 = {0xf3, 0x0f, 0x1e, 0xfa};

}  // namespace

size_t nop_length(std::span<const uint8_t> code) {
  size_t at = 0;
  while (at < code.size() && (code[at] == 0x66 || code[at] == 0x2e)) ++at;
  size_t length = 0;
  if (at < code.size() && code[at] == 0x90) {
    length = at + 1;
  } else if (at + 2 < code.size() && code[at] == 0x0f && code[at + 1] == 0x1f) {
    // NOP with an operand in memory that it does not access; /0 only, as the others are not NOPs
    // everywhere.
    const uint8_t mode = code[at + 2] >> 6, operation = code[at + 2] >> 3 & 7,
                  memory = code[at + 2] & 7;
    constexpr std::array<size_t, 4> displacement = {0, 1, 4, 0};
    if (mode == 3 || operation != 0 || (mode == 0 && memory >= 4)) {
      if (mode != 0 || memory != 4 || operation != 0) return 0;
      if (at + 3 >= code.size() || (code[at + 3] & 7) == 5) return 0;
    }
    length = at + 3 + (memory == 4 ? 1 : 0) + displacement[mode];
  }
  return length <= std::min(code.size(), longest_instruction) ? length : 0;
}

void fill_with_nops(std::span<uint8_t> code) {
  constexpr std::array<std::array<uint8_t, 9>, 9> nops = {{
      {0x90},
      {0x66, 0x90},
      {0x0f, 0x1f, 0x00},
      {0x0f, 0x1f, 0x40, 0x00},
      {0x0f, 0x1f, 0x44, 0x00, 0x00},
      {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
      {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
      {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
      {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
  }};
  while (!code.empty()) {
    const size_t length = std::min(code.size(), nops.size());
    std::copy_n(nops[length - 1].begin(), length, code.begin());
    code = code.subspan(length);
  }
}

bool find_patch_place(std::span<const uint8_t> code, PatchPlace& place) {
  place = {};
  if (code.size() > endbr64.size() && std::equal(endbr64.begin(), endbr64.end(), code.begin()))
    place.patch = endbr64.size();
  place.end = place.patch;
  while (place.end < place.patch + patch_bytes) {
    const size_t length = nop_length(code.subspan(place.end));
    if (length == 0) return false;
    place.one_nop = place.end == place.patch && length == patch_bytes;
    place.end += length;
  }
  return true;
}

}  // namespace pi::hookit
