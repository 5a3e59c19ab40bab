// SPDX-License-Identifier: MIT
// The return addresses of the patched functions that run, by where they were on the stack.
//
// While a patched function runs, its return address on the stack is that of hookit_returned, and
// its own one is in a cell. There is a cell for each word of each stack, found by the word's
// address: so longjmp(), exceptions, threads that end and programs that switch stacks need no
// bookkeeping, and an unwinder finds the cell by a DWARF expression (stubs.S, which has the same
// constants).
#ifndef PI_HOOKIT_CELLS_H
#define PI_HOOKIT_CELLS_H

#include <cstddef>
#include <cstdint>

namespace pi::hookit {

struct Cell {
  uintptr_t return_address;
  uintptr_t function;
};

constexpr unsigned list_shift = 32;    // stack addresses of one list
constexpr unsigned region_shift = 20;  // of one region of cells
constexpr size_t lists = size_t{1} << (47 - list_shift);
constexpr size_t regions_of_list = size_t{1} << (list_shift - region_shift);
constexpr uintptr_t region_mask = (uintptr_t{1} << region_shift) - 8;

}  // namespace pi::hookit

extern "C" [[gnu::visibility("hidden")]] pi::hookit::Cell** hookit_regions[pi::hookit::lists];

namespace pi::hookit {

// The cell of a slot, the address of a return address on the stack; null: its region has to be
// created.
[[gnu::always_inline]] inline Cell* find_cell(uintptr_t slot) {
  if (slot >> 47) return nullptr;
  Cell** const list = __atomic_load_n(&hookit_regions[slot >> list_shift], __ATOMIC_ACQUIRE);
  if (!list) return nullptr;
  Cell* const region =
      __atomic_load_n(&list[slot >> region_shift & (regions_of_list - 1)], __ATOMIC_ACQUIRE);
  if (!region) return nullptr;
  return reinterpret_cast<Cell*>(reinterpret_cast<uintptr_t>(region) +
                                 (slot & region_mask) * (sizeof(Cell) / 8));
}

// Creates the region of a slot, which stays. From any thread and signal handler. Null: no memory.
Cell* create_cell(uintptr_t slot);

}  // namespace pi::hookit

#endif  // PI_HOOKIT_CELLS_H
