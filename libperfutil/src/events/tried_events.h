// SPDX-License-Identifier: MIT
// All events with a name, each with the result of an attempt to open it.
#ifndef PI_PERFUTIL_TRIED_EVENTS_H
#define PI_PERFUTIL_TRIED_EVENTS_H

#include <deque>
#include <string>

#include "events.h"
#include "perfutil.h"

namespace pi::perfutil {

// Opens an event for a try, which returns 0 or an error number, and explains that number.
struct Trial {
  int (*attempt)(const TickEvent& event);
  std::string (*refusal)(int error);
};

struct TriedEvent {
  NamedEvent event;
  std::string reason;  // why it does not work, or empty
};

// For the caller of the C API; it points to the texts of tried.
pi_event to_pi_event(const TriedEvent& tried);

// Makes one attempt for all names of the same event.
std::deque<TriedEvent> try_events(std::vector<NamedEvent> events, const Trial& trial);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_TRIED_EVENTS_H
