// SPDX-License-Identifier: MIT
// Entry and return of patched functions. Compiled without vector registers, and without branches
// that a call decides: calibration takes the same instructions out of every call.
#include "events.h"

#include <atomic>

#include "cells.h"
#include "hooks.h"

using namespace pi::hookit;

extern "C" [[gnu::visibility("hidden")]] bool hookit_patched_enter(uintptr_t function,
                                                                   uintptr_t* slot);

namespace {

std::atomic<uint64_t> without_cell;

// A place on the stack that is below the caller's and above that of any callee's hook.
void* place_of(uintptr_t slot) {
  return reinterpret_cast<void*>(slot - 16);
}

// Not inlined: registers that it needs are not saved at each entry.
[[gnu::noinline, gnu::cold]] bool enter_with_new_cell(uintptr_t function, uintptr_t* slot) {
  if (create_cell(reinterpret_cast<uintptr_t>(slot))) return hookit_patched_enter(function, slot);
  without_cell.fetch_add(1, std::memory_order_relaxed);
  return false;
}

}  // namespace

uint64_t pi::hookit::calls_without_cell() {
  return without_cell.load(std::memory_order_relaxed);
}

extern "C" {

bool hookit_saves_vectors = false;

// slot: the address of the function's return address. True: the function returns to
// hookit_returned, and was called: so it has to be called from there.
[[gnu::visibility("hidden")]] bool hookit_patched_enter(uintptr_t function, uintptr_t* slot) {
  const auto place = reinterpret_cast<uintptr_t>(slot);
  Cell* const cell = find_cell(place);
  if (!cell) [[unlikely]]
    return enter_with_new_cell(function, slot);
  // A patched function that ends with a jump to this one leaves its own return to it: the cell
  // stays that of the first, and both return at once.
  const auto returned = reinterpret_cast<uintptr_t>(hookit_returned);
  const uintptr_t address = *slot;
  const uintptr_t jumped = -static_cast<uintptr_t>(address == returned);
  cell->return_address = (cell->return_address & jumped) | (address & ~jumped);
  cell->function = (cell->function & jumped) | (function & ~jumped);
  *slot = returned;
  patched_enter_hook.load(std::memory_order_relaxed)(reinterpret_cast<void*>(function),
                                                     place_of(place),
                                                     reinterpret_cast<void*>(function & ~jumped));
  return jumped == 0;
}

// Returns where the function returns to.
[[gnu::visibility("hidden")]] uintptr_t hookit_patched_leave(uintptr_t slot) {
  const Cell cell = *find_cell(slot);
  patched_leave_hook.load(std::memory_order_relaxed)(reinterpret_cast<void*>(cell.function),
                                                     place_of(slot),
                                                     reinterpret_cast<void*>(cell.function));
  return cell.return_address;
}
}
