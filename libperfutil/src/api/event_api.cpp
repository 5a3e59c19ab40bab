// SPDX-License-Identifier: MIT
// C entry points for events: select the event that causes ticks, list the events of this machine.
#include <deque>

#include <fmt/format.h>

#include "call.h"
#include "events/event_names.h"
#include "events/event_refusal.h"
#include "events/events.h"
#include "events/tried_events.h"
#include "perfutil.h"
#include "struct_size.h"
#include "trace/trace.h"

namespace pi::perfutil {
namespace {

constexpr uint64_t max_period = uint64_t{1} << 62;  // the kernel's counters are signed

Error bad_period(uint64_t count) {
  return {
      PU_ERROR_INVALID_PARAMETER,
      fmt::format("{} is not a possible number of events for each tick; give 1 to 2^62.", count)};
}

// count: 0 for the default of the event.
Result<TickEvent> tick_event(const std::string& name, uint64_t count, int priv, int random) {
  if (count > max_period) return bad_period(count);
  auto event = resolve_event(name);
  if (!event) return event;
  event->period = count != 0 ? count : default_period(*event);
  if (random != 0) event->flags |= PITRACE_EVENT_RANDOM;
  if (const auto good = limit_to(*event, priv); !good) return good.error();
  return event;
}

Status set_event(Trace& trace, const std::string& name, uint64_t count, int priv, int random) {
  if (const auto now = trace.status(); !now) return now.error();
  const auto event = tick_event(name, count, priv, random);
  if (!event) return event.error();
  return trace.set_event(*event);
}

// With call_mutex() held. Never freed: callers may keep the texts.
const std::deque<TriedEvent>& tried_events() {
  static const auto* const all =
      new std::deque<TriedEvent>(try_events(list_events(), {try_event, refusal_reason}));
  return *all;
}

struct SupportedEvents {
  std::vector<int> ids;
  std::vector<const char*> names;
  std::vector<perf_counter_event_info> infos;
};

const SupportedEvents& supported_events() {
  static const auto* const supported = [] {
    auto* const list = new SupportedEvents;
    for (const auto& [event, reason] : tried_events()) {
      if (event.id == 0 || !reason.empty()) continue;
      list->ids.push_back(event.id);
      list->names.push_back(event.name.c_str());
      list->infos.push_back({event.name.c_str(), generic_meaning(event.meaning.c_str()), event.id});
    }
    return list;
  }();
  return *supported;
}

Result<pi_event> event_at(unsigned index) {
  const auto& all = tried_events();
  if (index >= all.size())
    return Error{PU_ERROR_INVALID_PARAMETER, fmt::format("There are {} events.", all.size())};
  return to_pi_event(all[index]);
}

template <class List>
int give_list(const List** list, const std::vector<List> SupportedEvents::*member) {
  return call([=](Trace&) -> Status {
    if (list == nullptr) return null_pointer("list");
    *list = (supported_events().*member).data();
    return {};
  });
}

}  // namespace
}  // namespace pi::perfutil

using pi::Error;
using pi::Status;
using pi::perfutil::call;
using pi::perfutil::SupportedEvents;
using pi::perfutil::Trace;

int TraceSetTprofEvent(int cpu, int event, uint32_t count, int priv) {
  return call([=](Trace& trace) -> Status {
    if (cpu != ALL_CPUS)
      return Error{PU_ERROR_NOT_SUPPORTED,
                   "Ticks by an event are possible on all CPUs only, not on one CPU."};
    const int last = pi::perfutil::original_event_first +
                     static_cast<int>(pi::perfutil::original_events().size()) - 1;
    if (event < pi::perfutil::original_event_first || event > last)
      return Error{PU_ERROR_INVALID_METRIC,
                   fmt::format("{} is not the number of an event; give {} to {}.", event,
                               pi::perfutil::original_event_first, last)};
    if (count == 0) return pi::perfutil::bad_period(count);
    return pi::perfutil::set_event(trace, std::to_string(event), count, priv, 0);
  });
}

int PiSetTprofEvent(const char* name, uint64_t count, int priv, int random) {
  return call([=](Trace& trace) -> Status {
    if (name == nullptr) return Error{PU_ERROR_NULL_POINTER, "The name is null."};
    return pi::perfutil::set_event(trace, name, count, priv, random);
  });
}

int GetNumberOfPerfCounterEventsSupported(void) {
  return pi::perfutil::query(
      [](Trace&) { return static_cast<int>(pi::perfutil::supported_events().ids.size()); });
}

int GetSupportedPerfCounterEventIdList(const int** list) {
  return pi::perfutil::give_list(list, &SupportedEvents::ids);
}

int GetSupportedPerfCounterEventNameList(const char* const** list) {
  return pi::perfutil::give_list(list, &SupportedEvents::names);
}

int GetPerfCounterEventsInfo(const struct perf_counter_event_info** list) {
  return pi::perfutil::give_list(list, &SupportedEvents::infos);
}

int PiEvent(unsigned int index, struct pi_event* event) {
  return call([=](Trace&) {
    return pi::perfutil::fill_struct(event, "pi_event",
                                     [=] { return pi::perfutil::event_at(index); });
  });
}
