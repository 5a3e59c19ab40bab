// SPDX-License-Identifier: MIT
// All events that are known by name, each with what came of trying it.
#ifndef PI_PERFUTIL_TRIED_EVENTS_H
#define PI_PERFUTIL_TRIED_EVENTS_H

#include <deque>
#include <string>

#include "events.h"
#include "perfutil.h"

namespace pi::perfutil {

// How an event is tried (0 or an error number) and what it means that it was refused.
struct Trial {
  int (*attempt)(const TickEvent& event);
  std::string (*refusal)(int error);
};

struct TriedEvent {
  NamedEvent event;
  std::string reason;  // why it does not work, or empty
};

// For the caller of the C API; its texts are those of tried.
pi_event to_pi_event(const TriedEvent& tried);

// One attempt for all names of the same event.
std::deque<TriedEvent> try_events(std::vector<NamedEvent> events, const Trial& trial);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_TRIED_EVENTS_H
