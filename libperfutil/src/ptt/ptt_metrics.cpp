// SPDX-License-Identifier: MIT
// PTT's metrics: their numbers, names and events.
#include "ptt_metrics.h"

#include <strings.h>

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "events/event_names.h"
#include "events/events.h"
#include "perfutil_ptt.h"
#include "system/text.h"

namespace pi::perfutil {
namespace {

struct OwnMetric {
  int id;
  const char* name;
};

// Metrics besides the classic events.
constexpr OwnMetric own_metrics[] = {
    {PTT_METRIC_CYCLES, "CYCLES"},
    {PTT_METRIC_INSTR, "INSTR"},
    {PI_PTT_METRIC_PAGE_FAULTS, "page-faults"},
    {PI_PTT_METRIC_CONTEXT_SWITCHES, "context-switches"},
    {PI_PTT_METRIC_MIGRATIONS, "cpu-migrations"},
    {PI_PTT_METRIC_MINOR_FAULTS, "minor-faults"},
    {PI_PTT_METRIC_MAJOR_FAULTS, "major-faults"},
};

constexpr int counters_end = 18;  // classic counters by number: 0 to 17

std::optional<std::string> name_of(int id) {
  for (const auto& own : own_metrics)
    if (own.id == id) return own.name;
  const auto events = original_events();
  const int index = id - original_event_first;
  if (index >= 0 && static_cast<size_t>(index) < events.size())
    return events[static_cast<size_t>(index)].name;
  return std::nullopt;
}

int id_of(const std::string& name) {
  for (const auto& own : own_metrics)
    if (::strcasecmp(own.name, name.c_str()) == 0) return own.id;
  const auto events = original_events();
  for (size_t i = 0; i < events.size(); ++i)
    if (::strcasecmp(events[i].name, name.c_str()) == 0)
      return original_event_first + static_cast<int>(i);
  return 0;
}

bool is_counter(int id) {
  return id >= 0 && id < counters_end;
}

Status check_count(size_t count) {
  if (count == 0)
    return Error{PU_ERROR_INVALID_PARAMETER, "PTT needs at least one metric: CYCLES always works."};
  if (count > MAX_PTT_METRICS)
    return Error{PU_ERROR_TOO_MANY_METRICS,
                 fmt::format("{} metrics are too many: PTT counts up to {} at a time.", count,
                             MAX_PTT_METRICS)};
  return {};
}

Status check_ids(std::span<const int> ids) {
  for (const int id : ids)
    if (!is_counter(id) && !name_of(id))
      return Error{PU_ERROR_INVALID_METRIC,
                   fmt::format("{} is no metric: 255 are cycles, 254 instructions, 101 to 195 the "
                               "events of TraceSetTprofEvent.",
                               id)};
  const auto counters = std::count_if(ids.begin(), ids.end(), is_counter);
  if (counters != 0 && static_cast<size_t>(counters) != ids.size())
    return Error{PU_ERROR_MIXED_METRICS, "Counters by number and events exclude each other."};
  std::vector<int> sorted(ids.begin(), ids.end());
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    return Error{PU_ERROR_DUPLICATE_METRICS, fmt::format("Metric {} is there twice.", *twice)};
  if (counters != 0)
    return Error{PU_ERROR_NOT_SUPPORTED,
                 "Counters have no numbers here, as the kernel gives them out; name events."};
  return {};
}

Result<PttMetric> make_metric(const std::string& name, int priv) {
  PttMetric metric;
  metric.id = id_of(name);
  metric.name = metric.id != 0 ? *name_of(metric.id) : name;
  if (metric.id == PTT_METRIC_CYCLES) return metric;
  auto event = resolve_event(metric.name);
  if (!event) return event.error();
  metric.event = *event;
  if (const auto good = limit_to(metric.event, priv); !good) return good.error();
  return metric;
}

}  // namespace

Result<PttMetrics> ptt_metrics(std::span<const int> ids, int priv) {
  if (const auto good = check_count(ids.size()); !good) return good.error();
  if (const auto good = check_ids(ids); !good) return good.error();
  std::vector<std::string> names;
  for (const int id : ids) names.push_back(*name_of(id));
  return ptt_metrics(names, priv);
}

Result<PttMetrics> ptt_metrics(std::span<const std::string> names, int priv) {
  if (const auto good = check_count(names.size()); !good) return good.error();
  for (size_t i = 0; i < names.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (::strcasecmp(names[i].c_str(), names[j].c_str()) == 0)
        return Error{PU_ERROR_DUPLICATE_METRICS, fmt::format("'{}' is there twice.", names[i])};
  if (const auto good = check_privilege(priv); !good) return good.error();
  PttMetrics metrics;
  for (const auto& name : names) {
    auto metric = make_metric(name, priv);
    if (!metric) return metric.error();
    metrics.push_back(std::move(*metric));
  }
  return metrics;
}

pitrace_ptt_metric to_abi(const PttMetric& metric) {
  pitrace_ptt_metric abi{};
  abi.kind = metric.is_cycles() ? PITRACE_PTT_CYCLES : PITRACE_PTT_COUNTER;
  abi.id = static_cast<__u32>(metric.id);
  if (!metric.is_cycles()) {
    abi.type = metric.event.type;
    abi.config = metric.event.config;
    abi.config1 = metric.event.config1;
    abi.config2 = metric.event.config2;
    if ((metric.event.flags & PITRACE_EVENT_NO_KERNEL) != 0) abi.flags |= PITRACE_PTT_NO_KERNEL;
    if ((metric.event.flags & PITRACE_EVENT_NO_USER) != 0) abi.flags |= PITRACE_PTT_NO_USER;
  }
  metric.name.copy(abi.name, sizeof abi.name - 1);
  return abi;
}

bool ptt_has(const pitrace_ptt_info& info, const PttMetrics& metrics) {
  if (info.metrics < metrics.size()) return false;
  for (size_t i = 0; i < metrics.size(); ++i) {
    const pitrace_ptt_metric wanted = to_abi(metrics[i]);
    const pitrace_ptt_metric& there = info.metric[i];
    if (wanted.kind != there.kind || wanted.type != there.type || wanted.config != there.config ||
        wanted.config1 != there.config1 || wanted.config2 != there.config2 ||
        wanted.flags != there.flags)
      return false;
  }
  return true;
}

}  // namespace pi::perfutil
