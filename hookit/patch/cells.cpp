// SPDX-License-Identifier: MIT
// The memory of cells, which is mapped when a stack is first used.
#include "cells.h"

#include "memory.h"

using pi::hookit::Cell;

Cell** hookit_regions[pi::hookit::lists] = {};

namespace pi::hookit {
namespace {

// Another thread may create the same.
template <class Object>
Object* create(Object** place, size_t count) {
  Object* expected = __atomic_load_n(place, __ATOMIC_ACQUIRE);
  if (expected) return expected;
  auto* created = static_cast<Object*>(callflow::map_pages(count * sizeof(Object)));
  if (!created) return nullptr;
  if (__atomic_compare_exchange_n(place, &expected, created, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE))
    return created;
  callflow::unmap_pages(created, count * sizeof(Object));
  return expected;
}

}  // namespace

Cell* create_cell(uintptr_t slot) {
  if (slot >> 47) return nullptr;
  Cell** const list = create(&hookit_regions[slot >> list_shift], regions_of_list);
  if (!list) return nullptr;
  if (!create(&list[slot >> region_shift & (regions_of_list - 1)], (size_t{1} << region_shift) / 8))
    return nullptr;
  return find_cell(slot);
}

}  // namespace pi::hookit
