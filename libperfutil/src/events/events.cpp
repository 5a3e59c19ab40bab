// SPDX-License-Identifier: MIT
// Defines what the name of an event means on this machine.
#include "events.h"

#include <linux/perf_event.h>
#include <strings.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "event_names.h"
#include "perf_events.h"
#include "perfutil.h"
#include "system/text.h"

namespace pi::perfutil {
namespace {

bool same_name(const char* a, const std::string& b) {
  return a != nullptr && ::strcasecmp(a, b.c_str()) == 0;
}

const GenericEvent* find_generic(const std::string& name) {
  const auto events = generic_events();
  const auto found = std::find_if(events.begin(), events.end(), [&](const GenericEvent& each) {
    return same_name(each.name, name) || same_name(each.other_name, name);
  });
  return found == events.end() ? nullptr : &*found;
}

// By number or name.
const OriginalEvent* find_original(const std::string& name) {
  const auto events = original_events();
  if (const auto id = parse_number(name); id && *id >= original_event_first) {
    const uint64_t index = *id - original_event_first;
    return index < events.size() ? &events[index] : nullptr;
  }
  const auto found = std::find_if(events.begin(), events.end(), [&](const OriginalEvent& each) {
    return same_name(each.name, name);
  });
  return found == events.end() ? nullptr : &*found;
}

TickEvent event_of(uint32_t type, uint64_t config) {
  TickEvent event;
  event.type = type;
  event.config = config;
  return event;
}

Result<TickEvent> resolve_original(const OriginalEvent& original) {
  if (original.kernel == nullptr)
    return Error{PU_ERROR_EVENT_NOT_SUPPORTED,
                 fmt::format("The kernel has no counter for the classic event {}. Use an event of "
                             "this processor instead; 'swtrace event list' shows them.",
                             original.name)};
  const GenericEvent* generic = find_generic(original.kernel);
  return event_of(generic->type, generic->config);
}

// rHEX
std::optional<uint64_t> raw_number(const std::string& name) {
  if (name.size() < 2 || name.front() != 'r') return std::nullopt;
  return parse_number(std::string_view(name).substr(1), 16);
}

Result<TickEvent> resolve(const std::string& name, const std::string& devices) {
  if (const OriginalEvent* original = find_original(name)) return resolve_original(*original);
  if (const GenericEvent* generic = find_generic(name))
    return event_of(generic->type, generic->config);
  if (const auto raw = raw_number(name)) return event_of(PERF_TYPE_RAW, *raw);
  auto device = resolve_device_event(name, devices);
  if (device || name.find('/') != std::string::npos) return device;
  return resolve_library_event(name);
}

}  // namespace

Result<TickEvent> resolve_event(const std::string& name, const std::string& devices) {
  auto event = resolve(name, devices);
  if (event) event->name = name;
  return event;
}

Status check_privilege(int priv) {
  if (priv >= PI_PRIV_KERNEL && priv <= PI_PRIV_BOTH) return {};
  return Error{PU_ERROR_INVALID_PRIVILEGE,
               fmt::format("{} is not a privilege; give 1 kernel, 2 user or 3 both.", priv)};
}

Status limit_to(TickEvent& event, int priv) {
  if (const auto good = check_privilege(priv); !good) return good;
  if ((priv & PI_PRIV_KERNEL) == 0) event.flags |= PITRACE_EVENT_NO_KERNEL;
  if ((priv & PI_PRIV_USER) == 0) event.flags |= PITRACE_EVENT_NO_USER;
  constexpr uint32_t neither = PITRACE_EVENT_NO_KERNEL | PITRACE_EVENT_NO_USER;
  if ((event.flags & neither) != neither) return {};
  return Error{
      PU_ERROR_INVALID_PRIVILEGE,
      fmt::format("The modifier of '{}' excludes the mode that was selected; omit one of them.",
                  event.name)};
}

uint64_t default_period(const TickEvent& event) {
  const bool is_clock =
      event.config == PERF_COUNT_SW_CPU_CLOCK || event.config == PERF_COUNT_SW_TASK_CLOCK;
  return event.type == PERF_TYPE_SOFTWARE && !is_clock ? 1 : PI_EVENT_PERIOD_DEFAULT;
}

bool is_kernel_name(const std::string& name) {
  return find_original(name) != nullptr || find_generic(name) != nullptr || raw_number(name);
}

int try_event(const TickEvent& event) {
  EventFeatures features;
  features.lost_format = false;
  SamplePlan plan;
  plan.tick = event;
  constexpr uint64_t some_period = 1'000'000;
  plan.tick.period = some_period;
  int fd = -EACCES;
  for (const bool kernel : {true, false}) {
    features.kernel = kernel;
    fd = open_perf_event(tick_attr(features, false, plan), 0, -1);
    if (fd != -EACCES && fd != -EPERM) break;
  }
  const UniqueFd owner(fd);
  return owner ? 0 : -fd;
}

std::vector<NamedEvent> list_events(const std::string& devices) {
  std::vector<NamedEvent> list;
  const auto add = [&](const GenericEvent& event, const char* group) {
    list.push_back({0, group, event.name, event.other_name ? event.other_name : ""});
  };
  for (const auto& event : generic_events())
    if (event.type == PERF_TYPE_SOFTWARE) add(event, "software");
  for (const auto& event : generic_events())
    if (event.type != PERF_TYPE_SOFTWARE) add(event, "hardware");
  int id = original_event_first;
  for (const auto& event : original_events())
    list.push_back({id++, "original", event.name, event.kernel ? event.kernel : ""});
  for (auto& event : list_device_events(devices)) list.push_back(std::move(event));
  for (auto& event : list_library_events()) list.push_back(std::move(event));
  return list;
}

}  // namespace pi::perfutil
