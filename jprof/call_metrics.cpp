// SPDX-License-Identifier: MIT
// METRICS= of JProf and hookit: which meter reads the metrics, and which columns show them.
#include "call_metrics.h"

#include <algorithm>
#include <iterator>

namespace pi::jprof {
namespace {

using Kind = callflow::Column::Kind;

constexpr std::string_view insts = "PTT_INSTS";
constexpr std::string_view cycles = "PTT_CYCLES";
constexpr std::string_view raw_cycles = "RAW_CYCLES";
constexpr std::string_view thread_clock = "THREAD_CLOCK";
constexpr std::string_view ratio = "CPI";
constexpr std::string_view latency = "LAT_CYCLES";

constexpr std::string_view words[] = {insts,          cycles,         raw_cycles,
                                      thread_clock,   ratio,          latency,
                                      "CACHE_MISSES", "BRANCH_INSTS", "BRANCH_MISSES"};

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return result;
}

// The name in libperfutil of a metric of the options.
struct PttName {
  std::string_view option;
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

// Those of this process, for begin_thread(), which has no argument.
PttFunctions functions;

const pitrace_ptt_slot* begin_thread() {
  if (functions.init_thread(0) != PU_SUCCESS) return nullptr;
  const pitrace_ptt_slot* slot = functions.slot();
  return slot->active ? slot : nullptr;
}

// The metrics that have to be read: those of PTT in the order of their first use.
struct Needed {
  std::vector<std::string> ptt;
  bool raw = false;
  bool clock = false;

  void add(std::string_view name) {
    if (name == raw_cycles)
      raw = true;
    else if (name == thread_clock)
      clock = true;
    else if (std::find(ptt.begin(), ptt.end(), name) == ptt.end())
      ptt.emplace_back(name);
  }

  size_t index_of(std::string_view name) const {
    return static_cast<size_t>(std::find(ptt.begin(), ptt.end(), name) - ptt.begin());
  }
};

Needed needed_for(const MetricOptions& metrics) {
  Needed needed;
  for (const auto& metric : metrics) {
    if (metric.name == ratio) {
      needed.add(cycles);
      needed.add(insts);
    } else if (metric.name == latency) {
      needed.add(raw_cycles);
      needed.add(cycles);
    } else {
      needed.add(metric.name);
    }
  }
  return needed;
}

std::vector<callflow::Column> columns_of(const MetricOptions& metrics, const Needed& needed) {
  std::vector<callflow::Column> columns;
  const size_t raw = needed.ptt.size();
  for (const auto& metric : metrics) {
    callflow::Column column{metric.name, Kind::sum, needed.index_of(metric.name), 0, metric.digits};
    if (metric.name == ratio) {
      column.kind = Kind::ratio;
      column.metric = needed.index_of(cycles);
      column.other = needed.index_of(insts);
    } else if (metric.name == latency) {
      column.kind = Kind::difference;
      column.metric = raw;
      column.other = needed.index_of(cycles);
    }
    columns.push_back(column);
  }
  return columns;
}

int begin_ptt(const std::vector<std::string>& metrics) {
  if (functions.query_state()) functions.terminate();
  std::vector<std::string> events;
  for (const auto& name : metrics) events.push_back(event_of(name));
  std::vector<const char*> names;
  for (const auto& event : events) names.push_back(event.c_str());
  return functions.init(static_cast<int>(names.size()), names.data(), PI_PRIV_BOTH, nullptr);
}

Error cannot_measure(const std::vector<std::string>& names, int code, const std::string& why) {
  std::string list;
  for (const auto& name : names) list += (list.empty() ? "" : "+") + name;
  return {code, "METRICS=" + list + " cannot be measured: " + why +
                    ". Choose others, RAW_CYCLES for example"};
}

// Cycles alone without the module: PTT would call this clock for each of them.
ChosenMeter clock_for_cycles(const MetricOption& metric, const std::string& note) {
  ChosenMeter chosen{callflow::thread_clock(), columns_of({metric}, needed_for({metric})), note};
  chosen.meter.metrics[0].name = metric.name;
  return chosen;
}

constexpr const char* clock_note =
    "Without the module pitrace PTT_CYCLES is the thread's clock, in nanoseconds, which includes "
    "interrupts";

MetricOptions only_cycles() {
  return {{std::string(cycles)}};
}

Result<ChosenMeter> choose_ptt(MetricOptions metrics, bool may_fail) {
  std::string note;
  Needed needed = needed_for(metrics);
  int rc = begin_ptt(needed.ptt);
  if (rc != PU_SUCCESS && may_fail) {
    note = "Instructions cannot be counted here (" + std::string(functions.text_of(rc)) +
           "): PTT_CYCLES is the only metric";
    metrics = only_cycles();
    needed = needed_for(metrics);
    rc = begin_ptt(needed.ptt);
  }
  if (rc != PU_SUCCESS) return cannot_measure(needed.ptt, rc, functions.text_of(rc));
  pi_ptt_state state{};
  state.size = sizeof state;
  functions.get_state(&state);
  if (state.source != PI_PTT_SOURCE_MODULE && needed.index_of(cycles) < needed.ptt.size())
    note += (note.empty() ? "" : ". ") + std::string(clock_note);
  const bool cycles_alone = metrics.size() == 1 && metrics[0].name == cycles;
  if (state.source != PI_PTT_SOURCE_MODULE && cycles_alone) {
    functions.terminate();
    return clock_for_cycles(metrics[0], note);
  }
  ChosenMeter chosen;
  chosen.note = note;
  callflow::Meter& meter = chosen.meter;
  meter.kind =
      needed.raw ? callflow::MeterKind::reader_and_raw_cycles : callflow::MeterKind::reader;
  meter.reader = functions.reader();
  meter.begin_thread = begin_thread;
  for (size_t i = 0; i < needed.ptt.size(); ++i)
    meter.metrics.push_back({needed.ptt[i], state.unit[i]});
  if (needed.raw) meter.metrics.push_back({std::string(raw_cycles), "cycles"});
  chosen.columns = columns_of(metrics, needed);
  return chosen;
}

Result<MetricOption> parse_metric(std::string_view item) {
  const size_t colon = std::min(item.find(':'), item.size());
  const std::string_view digits = colon == item.size() ? "0" : item.substr(colon + 1);
  if (digits.size() != 1 || digits[0] < '0' || digits[0] > '9')
    return Error{PU_ERROR_INVALID_METRIC,
                 "METRICS=" + std::string(item) +
                     ": after ':' comes the number of decimal digits to drop, 0 to 9"};
  std::string name(item.substr(0, colon));
  if (const std::string word = upper(name); is_metric_word(word)) name = word;
  return MetricOption{name, static_cast<unsigned>(digits[0] - '0')};
}

}  // namespace

bool is_metric_word(std::string_view name) {
  return std::find(std::begin(words), std::end(words), name) != std::end(words);
}

Result<MetricOptions> parse_metrics(std::string_view list) {
  MetricOptions metrics;
  if (upper(list) == "NONE") return metrics;
  const auto failure = [list](const std::string& why) {
    return Error{PU_ERROR_INVALID_METRIC, "METRICS=" + std::string(list) + ": " + why};
  };
  for (std::string_view rest = list; !rest.empty();) {
    const size_t end = std::min(rest.find('+'), rest.size());
    if (end > 0) {
      auto metric = parse_metric(rest.substr(0, end));
      if (!metric) return metric.error();
      metrics.push_back(std::move(*metric));
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (metrics.size() > callflow::max_metrics)
    return failure("at most " + std::to_string(callflow::max_metrics) + " metrics can be measured");
  const bool clock = needed_for(metrics).clock;
  if (clock && metrics.size() > 1) return failure("THREAD_CLOCK can only be measured alone");
  return metrics;
}

Result<ChosenMeter> choose_meter(const MetricOptions& metrics, bool may_fail,
                                 Result<PttFunctions> (*ptt)()) {
  const Needed needed = needed_for(metrics);
  if (needed.ptt.empty()) {
    if (needed.clock) return ChosenMeter{callflow::thread_clock(), columns_of(metrics, needed), {}};
    if (needed.raw) return ChosenMeter{callflow::raw_cycles(), columns_of(metrics, needed), {}};
    return ChosenMeter{callflow::no_metrics(), {}, {}};
  }
  const auto found = ptt();
  if (found) {
    functions = *found;
    return choose_ptt(metrics, may_fail);
  }
  const bool cycles_alone = metrics.size() == 1 && metrics[0].name == cycles;
  if (!may_fail && !cycles_alone)
    return cannot_measure(needed.ptt, found.error().code, found.error().message);
  return clock_for_cycles(cycles_alone ? metrics[0] : only_cycles()[0],
                          found.error().message +
                              ", so there is no PTT: PTT_CYCLES is the "
                              "thread's clock, in nanoseconds, which includes interrupts");
}

}  // namespace pi::jprof
