// SPDX-License-Identifier: MIT
// The callers of a function of this library, by unwind tables.
#include <algorithm>

#include "maps.h"
#include "stack.h"
#include "thread.h"
#include "walk/walk.h"

namespace pi::heapit {
namespace {

// By DWARF number: rax, rdx, rcx, rsi, rdi, r8 to r11, which functions may change.
constexpr uint32_t unknown_registers = 0b0000'1111'0011'0111;

struct Rules {
  Code& code;
  unwind::OwnedRule space{};

  unwind::Table::Found rule(const unwind::FramePlace& place) {
    return code.rule(place.address, space);
  }
  bool is_executable(uint64_t address) { return code.is_executable(address); }
};

// Where the mapping with this stack ends. One that the program unmaps and maps again must not be
// remembered with its old end, so only an address that is in a known range is not looked up.
uint64_t end_of_stack(uint64_t pointer) {
  Thread& thread = this_thread;
  for (const StackRange& range : thread.ranges)
    if (pointer >= range.begin && pointer < range.end) return range.end;
  struct Search {
    uint64_t pointer;
    StackRange found;
  } search{pointer, {pointer, pointer}};
  read_maps(
      own_maps,
      [](const MapsLine& line, void* data) {
        auto* searched = static_cast<Search*>(data);
        if (searched->pointer < line.begin || searched->pointer >= line.end) return true;
        searched->found = {line.begin, line.end};
        return false;
      },
      &search);
  thread.ranges[thread.next_range] = search.found;
  thread.next_range = static_cast<uint8_t>((thread.next_range + 1) % thread.ranges.size());
  return search.found.end;
}

heap_log::PathEnd end_of(unwind::End end) {
  if (end == unwind::End::whole) return heap_log::whole;
  return end == unwind::End::cut ? heap_log::cut : heap_log::unknown;
}

}  // namespace

void find_callers(const Here& here, Code& code, Stack& stack) {
  unwind::CapturedStack captured;
  auto& registers = captured.registers;
  registers[3] = here.rbx;
  registers[unwind::frame_pointer] = here.rbp;
  registers[unwind::stack_pointer] = here.rsp;
  registers[12] = here.r12;
  registers[13] = here.r13;
  registers[14] = here.r14;
  registers[15] = here.r15;
  registers[unwind::return_address] = here.rip;
  captured.unknown = unknown_registers;
  captured.bytes = {reinterpret_cast<const std::byte*>(here.rsp),
                    end_of_stack(here.rsp) - here.rsp};
  Rules rules{code};
  const auto walked = unwind::Walk(captured, rules).run(stack.addresses);
  stack.frames = walked.frames;
  stack.end = end_of(walked.end);
}

}  // namespace pi::heapit
