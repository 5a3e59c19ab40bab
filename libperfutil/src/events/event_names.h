// SPDX-License-Identifier: MIT
// The names of events that do not depend on the machine: the classic ones of Performance Inspector,
// and the kernel's generic ones.
#ifndef PI_PERFUTIL_EVENT_NAMES_H
#define PI_PERFUTIL_EVENT_NAMES_H

#include <cstdint>
#include <span>

namespace pi::perfutil {

// A classic event of Performance Inspector, numbered from 101 on.
struct OriginalEvent {
  const char* name;
  const char* kernel;  // the generic event that counts the same or nearly the same; null: none
};

constexpr int original_event_first = 101;
std::span<const OriginalEvent> original_events();

// A generic event: types and numbers as in linux/perf_event.h, names as perf has them.
struct GenericEvent {
  const char* name;
  const char* other_name;  // or null
  uint32_t type;
  uint64_t config;
};

std::span<const GenericEvent> generic_events();

// What a generic event counts, by GenericEvent::name; "" for any other name.
const char* generic_meaning(const char* name);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_EVENT_NAMES_H
