// SPDX-License-Identifier: MIT
// C entry points that count events on all CPUs.
#include <strings.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>

#include <fmt/format.h>

#include "call.h"
#include "counters/counters.h"
#include "events/event_file.h"
#include "events/event_names.h"
#include "events/events.h"
#include "events/tried_events.h"
#include "perfutil.h"
#include "struct_size.h"
#include "system/system_facts.h"

namespace pi::perfutil {
namespace {

constexpr int named_event_first = 1001;  // above the classic event numbers

// All with call_mutex() held.
struct ActiveEvent {
  std::string name;
  SystemCounters counters;
};

std::map<int, ActiveEvent>& active_events() {
  static OfProcess<std::map<int, ActiveEvent>> active;
  return active.get();
}

std::map<std::string, std::string>& own_events() {
  static auto* const own = new std::map<std::string, std::string>;
  return *own;
}

const Trial counting{[](const TickEvent& event) { return try_counting(event); }, counting_refusal};

// The events are never freed, not even when a name is defined again: callers may keep the texts.
std::vector<const TriedEvent*>& tried_own_events() {
  static auto* const tried = new std::vector<const TriedEvent*>;
  return *tried;
}

const std::deque<TriedEvent>& tried_events() {
  static const auto* const tried = new std::deque<TriedEvent>(try_events(list_events(), counting));
  return *tried;
}

const OriginalEvent* original(int event) {
  const auto all = original_events();
  const auto index = static_cast<size_t>(event - original_event_first);
  return event >= original_event_first && index < all.size() ? &all[index] : nullptr;
}

Result<TickEvent> resolve(const std::string& name, int priv) {
  const auto own = own_events().find(name);
  auto event = resolve_event(own == own_events().end() ? name : own->second);
  if (!event) return event;
  event->name = name;
  if (const auto good = limit_to(*event, priv); !good) return good.error();
  return event;
}

Status init(int number, const std::string& name, int priv) {
  if (active_events().contains(number))
    return Error{PU_ERROR_EVENT_ALREADY_COUNTING,
                 fmt::format("'{}' is being counted already; terminate it first.", name)};
  const auto event = resolve(name, priv);
  if (!event) return event.error();
  auto counters = SystemCounters::open({*event});
  if (!counters) return counters.error();
  if (auto started = counters->start(); !started) return started;
  active_events().emplace(number, ActiveEvent{name, std::move(*counters)});
  return {};
}

Result<ActiveEvent*> find_active(int event) {
  const auto found = active_events().find(event);
  if (found != active_events().end()) return &found->second;
  return Error{PU_ERROR_EVENT_NOT_COUNTING,
               fmt::format("The event {} is not being counted; initialise it first.", event)};
}

template <class Work>
int with_active(int event, Work work) {
  return call([=](Trace&) -> Status {
    const auto active = find_active(event);
    if (!active) return active.error();
    return work(**active);
  });
}

Status read(ActiveEvent& active, uint64_t* counts, uint64_t* times) {
  if (counts == nullptr) return null_pointer("counts");
  const auto now = active.counters.read();
  if (!now) return now.error();
  const uint32_t cpus = configured_cpus();
  std::fill_n(counts, cpus, 0);
  if (times != nullptr) std::fill_n(times, cpus, 0);
  for (const auto& [cpu, each] : *now) {
    if (cpu >= cpus) continue;
    counts[cpu] = each.values.front();
    if (times != nullptr) times[cpu] = each.counted_ns;
  }
  return {};
}

int number_for(const std::string& name) {
  for (const auto& [number, active] : active_events())
    if (active.name == name) return number;
  const int last = active_events().empty() ? 0 : active_events().rbegin()->first;
  return std::max(last + 1, named_event_first);
}

void define(const EventDefinition& definition, TriedEvent tried) {
  const auto& [name, event, meaning] = definition;
  own_events().insert_or_assign(name, event);
  tried.event.name = name;
  tried.event.meaning = meaning.empty() ? event : meaning;
  auto& all = tried_own_events();
  const auto older = std::find_if(all.begin(), all.end(), [&](const TriedEvent* each) {
    return each->event.name == definition.name;
  });
  // Callers may keep pointers to the texts of older definitions.
  static auto* const lasting = new std::deque<TriedEvent>;
  const TriedEvent* const newest = &lasting->emplace_back(std::move(tried));
  older == all.end() ? all.push_back(newest) : void(*older = newest);
}

Status load(const char* file) {
  if (file == nullptr) return null_pointer("name of the file");
  const auto definitions = read_event_file(file);
  if (!definitions) return definitions.error();
  std::vector<NamedEvent> events;
  for (const auto& definition : *definitions) events.push_back({0, "own", definition.event, ""});
  auto tried = try_events(std::move(events), counting);
  for (size_t i = 0; i < tried.size(); ++i) define((*definitions)[i], std::move(tried[i]));
  return {};
}

Result<pi_event> event_at(unsigned index) {
  const size_t own = tried_own_events().size();
  const size_t all = own + tried_events().size();
  if (index >= all)
    return Error{PU_ERROR_INVALID_PARAMETER, fmt::format("There are {} events.", all)};
  return to_pi_event(index < own ? *tried_own_events()[index] : tried_events()[index - own]);
}

const std::vector<perf_counter_event_info>& event_infos() {
  static const auto* const infos = [] {
    auto* const list = new std::vector<perf_counter_event_info>;
    int id = original_event_first;
    for (const auto& event : original_events())
      list->push_back({event.name, event.kernel ? generic_meaning(event.kernel) : "", id++});
    return list;
  }();
  return *infos;
}

}  // namespace
}  // namespace pi::perfutil

using pi::Error;
using pi::Status;
using pi::perfutil::call;
using pi::perfutil::query;
using pi::perfutil::Trace;
using pi::perfutil::with_active;

uint64_t* AllocCtrValueArray(int* size) {
  const size_t cpus = pi::perfutil::configured_cpus();
  auto* values = static_cast<uint64_t*>(std::calloc(cpus, sizeof(uint64_t)));
  if (size != nullptr) *size = values ? static_cast<int>(cpus * sizeof(uint64_t)) : 0;
  return values;
}

void FreeCtrValueArray(uint64_t* values) {
  std::free(values);
}

int ZeroCtrValueArray(uint64_t* values) {
  return call([=](Trace&) -> Status {
    if (values == nullptr) return pi::perfutil::null_pointer("array");
    std::fill_n(values, pi::perfutil::configured_cpus(), 0);
    return {};
  });
}

int GetNumberOfSimultaneousPerfCounterEventsSupported(void) {
  return query([](Trace&) { return pi::perfutil::simultaneous_counters(); });
}

int IsPerfCounterEventSupported(int event) {
  return query([=](Trace&) {
    if (pi::perfutil::original(event) == nullptr) return false;
    const auto resolved = pi::perfutil::resolve_event(std::to_string(event));
    return resolved && pi::perfutil::try_counting(*resolved) == 0;
  });
}

int IsPerfCounterEventActive(int event) {
  return query([=](Trace&) { return pi::perfutil::active_events().contains(event); });
}

int AnyPerfCounterEventActive(void) {
  return query([](Trace&) { return !pi::perfutil::active_events().empty(); });
}

const struct perf_counter_event_info* GetPerfCounterEventInfoFromId(int event) {
  if (pi::perfutil::original(event) == nullptr) return nullptr;
  return &pi::perfutil::event_infos()[static_cast<size_t>(event - PI_EVENT_ID_FIRST)];
}

const char* GetPerfCounterEventNameFromId(int event) {
  const auto* info = pi::perfutil::original(event);
  return info == nullptr ? nullptr : info->name;
}

int GetPerfCounterEventIdFromName(const char* name) {
  if (name == nullptr) return 0;
  for (const auto& info : pi::perfutil::event_infos())
    if (::strcasecmp(info.name, name) == 0) return info.id;
  return 0;
}

int InitPerfCounterEvent(int event, int priv) {
  return call([=](Trace&) -> Status {
    const auto* known = pi::perfutil::original(event);
    if (known == nullptr)
      return Error{PU_ERROR_INVALID_METRIC,
                   fmt::format("{} is not the number of an event.", event)};
    return pi::perfutil::init(event, known->name, priv);
  });
}

int PiInitPerfCounterEvent(const char* name, int priv) {
  return pi::perfutil::call_for_number([=](Trace&) -> pi::Result<int> {
    if (name == nullptr) return pi::perfutil::null_pointer("name");
    int number = GetPerfCounterEventIdFromName(name);
    if (number == 0) number = pi::perfutil::number_for(name);
    if (const auto begun = pi::perfutil::init(number, name, priv); !begun) return begun.error();
    return number;
  });
}

int TerminatePerfCounterEvent(int event) {
  return with_active(event, [=](pi::perfutil::ActiveEvent&) -> Status {
    pi::perfutil::active_events().erase(event);
    return {};
  });
}

int StopPerfCounterEvent(int event) {
  return with_active(event, [](pi::perfutil::ActiveEvent& active) -> Status {
    active.counters.stop();
    return {};
  });
}

int ResumePerfCounterEvent(int event) {
  return with_active(event,
                     [](pi::perfutil::ActiveEvent& active) { return active.counters.start(); });
}

int ResetPerfCounterEvent(int event) {
  return with_active(event,
                     [](pi::perfutil::ActiveEvent& active) { return active.counters.reset(); });
}

int ReadPerfCounterEvent(int event, uint64_t* counts, uint64_t* times) {
  return with_active(event, [=](pi::perfutil::ActiveEvent& active) {
    return pi::perfutil::read(active, counts, times);
  });
}

int PiLoadEventDefinitions(const char* file) {
  return call([=](Trace&) { return pi::perfutil::load(file); });
}

int PiCounterEvent(unsigned int index, struct pi_event* event) {
  return call([=](Trace&) {
    return pi::perfutil::fill_struct(event, "pi_event",
                                     [=] { return pi::perfutil::event_at(index); });
  });
}
