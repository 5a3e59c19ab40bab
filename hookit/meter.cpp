// SPDX-License-Identifier: MIT
// The metrics of the options: which meter reads them, and which columns show them.
#include "meter.h"

#include <algorithm>

#include "perfutil_ptt.h"

namespace pi::hookit {
namespace {

namespace callflow = pi::callflow;
using Kind = callflow::Column::Kind;

constexpr const char* insts = "PTT_INSTS";
constexpr const char* cycles = "PTT_CYCLES";
constexpr const char* raw_cycles = "RAW_CYCLES";

// The name in libperfutil of a metric of the options.
struct PttName {
  const char* option;
  const char* event;
};
constexpr PttName ptt_names[] = {{insts, "INSTR"},
                                 {cycles, "CYCLES"},
                                 {"CACHE_MISSES", "cache-misses"},
                                 {"BRANCH_INSTS", "branches"},
                                 {"BRANCH_MISSES", "branch-misses"}};

std::string event_of(const std::string& name) {
  for (const auto& known : ptt_names)
    if (name == known.option) return known.event;
  return name;
}

const pitrace_ptt_slot* begin_thread() {
  if (PttInitThread(0) != PU_SUCCESS) return nullptr;
  const pitrace_ptt_slot* slot = PiPttSlot();
  return slot->active ? slot : nullptr;
}

// The metrics that have to be read: those of PTT in the order of their first use.
struct Needed {
  std::vector<std::string> ptt;
  bool raw = false;

  void add(const std::string& name) {
    if (name == raw_cycles)
      raw = true;
    else if (std::find(ptt.begin(), ptt.end(), name) == ptt.end())
      ptt.push_back(name);
  }

  size_t index_of(const std::string& name) const {
    return static_cast<size_t>(std::find(ptt.begin(), ptt.end(), name) - ptt.begin());
  }
};

Needed needed_for(const std::vector<MetricOption>& metrics) {
  Needed needed;
  for (const auto& metric : metrics) {
    if (metric.name == "CPI") {
      needed.add(cycles);
      needed.add(insts);
    } else if (metric.name == "LAT_CYCLES") {
      needed.add(raw_cycles);
      needed.add(cycles);
    } else {
      needed.add(metric.name);
    }
  }
  return needed;
}

std::vector<callflow::Column> columns_of(const std::vector<MetricOption>& metrics,
                                         const Needed& needed) {
  std::vector<callflow::Column> columns;
  const size_t raw = needed.ptt.size();
  for (const auto& metric : metrics) {
    if (metric.name == "CPI")
      columns.push_back(
          {"CPI", Kind::ratio, needed.index_of(cycles), needed.index_of(insts), metric.digits});
    else if (metric.name == "LAT_CYCLES")
      columns.push_back(
          {"LAT_CYCLES", Kind::difference, raw, needed.index_of(cycles), metric.digits});
    else
      columns.push_back({metric.name, Kind::sum,
                         metric.name == raw_cycles ? raw : needed.index_of(metric.name), 0,
                         metric.digits});
  }
  return columns;
}

int begin_ptt(const std::vector<std::string>& metrics) {
  if (PttQueryState()) PttTerminate();
  std::vector<std::string> events;
  for (const auto& name : metrics) events.push_back(event_of(name));
  std::vector<const char*> names;
  for (const auto& event : events) names.push_back(event.c_str());
  return PiPttInit(static_cast<int>(names.size()), names.data(), PI_PRIV_BOTH, nullptr);
}

}  // namespace

Result<ChosenMeter> choose_meter(const Options& options) {
  ChosenMeter chosen;
  std::vector<MetricOption> metrics = options.metrics;
  Needed needed = needed_for(metrics);
  int rc = needed.ptt.empty() ? PU_SUCCESS : begin_ptt(needed.ptt);
  if (rc != PU_SUCCESS && options.metrics_may_fail) {
    chosen.note = "Instructions cannot be counted here (" + std::string(RcToString(rc)) +
                  "): PTT_CYCLES is the only metric";
    metrics = {{cycles}};
    needed = needed_for(metrics);
    rc = begin_ptt(needed.ptt);
  }
  if (rc != PU_SUCCESS) {
    std::string list;
    for (const auto& name : needed.ptt) list += (list.empty() ? "" : "+") + name;
    return Error{rc, "METRICS=" + list + " cannot be measured: " + RcToString(rc) +
                         ". Choose others, RAW_CYCLES for example"};
  }
  callflow::Meter& meter = chosen.meter;
  meter.kind =
      needed.ptt.empty()
          ? (needed.raw ? callflow::MeterKind::raw_cycles : callflow::MeterKind::none)
          : (needed.raw ? callflow::MeterKind::reader_and_raw_cycles : callflow::MeterKind::reader);
  pi_ptt_state state{};
  state.size = sizeof state;
  if (!needed.ptt.empty()) {
    PttGetState(&state);
    meter.reader = PttReturnGetCurrentThreadDataFunctionPtr();
    meter.begin_thread = begin_thread;
    if (state.source != PI_PTT_SOURCE_MODULE && chosen.note.empty() &&
        needed.index_of(cycles) < needed.ptt.size())
      chosen.note =
          "Without the module pitrace PTT_CYCLES is the thread's clock, which includes interrupts";
  }
  for (size_t i = 0; i < needed.ptt.size(); ++i)
    meter.metrics.push_back({needed.ptt[i], state.unit[i]});
  if (needed.raw) meter.metrics.push_back({raw_cycles, "cycles"});
  chosen.columns = columns_of(metrics, needed);
  return chosen;
}

}  // namespace pi::hookit
