// SPDX-License-Identifier: MIT
// All events with a name, each with the result of an attempt to open it.
#include "tried_events.h"

#include <map>
#include <tuple>

#include "perfutil.h"

namespace pi::perfutil {
namespace {

using Attempts = std::map<std::tuple<uint32_t, uint64_t, uint64_t, uint64_t>, int>;

std::string reason_against(const std::string& name, const Trial& trial, Attempts& attempts) {
  const auto event = resolve_event(name);
  if (!event)
    return event.error().code == PU_ERROR_EVENT_NOT_SUPPORTED
               ? "the kernel has no counter for it"
               : "it needs a unit mask, or the kernel has no such counter";
  const auto key = std::tuple(event->type, event->config, event->config1, event->config2);
  auto attempt = attempts.find(key);
  if (attempt == attempts.end()) attempt = attempts.emplace(key, trial.attempt(*event)).first;
  return attempt->second == 0 ? "" : trial.refusal(attempt->second);
}

}  // namespace

pi_event to_pi_event(const TriedEvent& tried) {
  const auto& [event, reason] = tried;
  return {sizeof(pi_event),    event.id,           reason.empty(),
          event.group.c_str(), event.name.c_str(), event.meaning.c_str(),
          reason.c_str()};
}

std::deque<TriedEvent> try_events(std::vector<NamedEvent> events, const Trial& trial) {
  Attempts attempts;
  std::deque<TriedEvent> tried;
  for (auto& event : events) {
    std::string reason = reason_against(event.name, trial, attempts);
    tried.push_back({std::move(event), std::move(reason)});
  }
  return tried;
}

}  // namespace pi::perfutil
