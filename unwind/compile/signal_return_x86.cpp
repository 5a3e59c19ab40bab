// SPDX-License-Identifier: MIT
// The system call that ends a signal handler, as Go has it.
#include <array>
#include <cstring>

#include "signal_return.h"
#include "table/registers_x86.h"

namespace unwind {
namespace {

// mov $15, %rax; syscall
constexpr std::string_view instructions("\x48\xc7\xc0\x0f\0\0\0\x0f\x05", signal_return_bytes);
// A program has one. A hostile file cannot make the table long.
constexpr size_t max_places = 16;

// In the kernel's struct ucontext, by the DWARF numbers of the registers.
constexpr std::array<int32_t, register_count> saved_at = {
    144, 136, 152, 128, 112, 104, 120, 160, 40, 48, 56, 64, 72, 80, 88, 96, 168};

}  // namespace

std::vector<uint64_t> signal_returns(std::string_view code) {
  std::vector<uint64_t> places;
  std::string_view rest = code;
  while (places.size() < max_places) {
    // Many times faster than find() of the string, for one of the most frequent first bytes.
    const void* found =
        ::memmem(rest.data(), rest.size(), instructions.data(), instructions.size());
    if (!found) break;
    const auto at = static_cast<uint64_t>(static_cast<const char*>(found) - code.data());
    places.push_back(at);
    rest = code.substr(at + instructions.size());
  }
  return places;
}

Rule signal_return_rule() {
  Rule rule;
  rule.cfa = {CfaKind::dereference, stack_pointer, rule_signal, 0, saved_at[stack_pointer], 0, 0};
  for (uint8_t reg = 0; reg < register_count; ++reg)
    rule.saves[reg] = {SaveKind::at_base, stack_pointer, 0, 0, saved_at[reg]};
  return rule;
}

}  // namespace unwind
