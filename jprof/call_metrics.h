// SPDX-License-Identifier: MIT
// METRICS= of JProf and hookit: which meter reads the metrics, and which columns show them.
#ifndef PI_JPROF_CALL_METRICS_H
#define PI_JPROF_CALL_METRICS_H

#include <string>
#include <string_view>
#include <vector>

#include <meter.h>
#include <perfutil_ptt.h>
#include <pi/result.h>
#include <report.h>

namespace pi::jprof {

struct MetricOption {
  std::string name;     // PTT_INSTS, RAW_CYCLES, CPI or an event's name
  unsigned digits = 0;  // how many decimal digits are dropped

  bool operator==(const MetricOption&) const = default;
};

using MetricOptions = std::vector<MetricOption>;

// The words that are options of their own, in capitals.
bool is_metric_word(std::string_view name);

// The value of METRICS: "A+B:n", or NONE. The error's message names the value.
Result<MetricOptions> parse_metrics(std::string_view list);

// The functions of libperfutil for PTT.
struct PttFunctions {
  decltype(&PttQueryState) query_state = nullptr;
  decltype(&PttTerminate) terminate = nullptr;
  decltype(&PiPttInit) init = nullptr;
  decltype(&PttInitThread) init_thread = nullptr;
  decltype(&PttGetState) get_state = nullptr;
  decltype(&PttReturnGetCurrentThreadDataFunctionPtr) reader = nullptr;
  decltype(&PiPttSlot) slot = nullptr;
  decltype(&RcToString) text_of = nullptr;
};

struct ChosenMeter {
  callflow::Meter meter;
  std::vector<callflow::Column> columns;
  std::string note;  // what is measured otherwise than the names say, or left out; or empty
};

// Begins PTT if a metric needs it; it ends with the process. ptt: called if a metric needs it; its
// functions are used until the process ends. may_fail: the metrics were not chosen by name, so that
// those that cannot be measured are left out.
Result<ChosenMeter> choose_meter(const MetricOptions& metrics, bool may_fail,
                                 Result<PttFunctions> (*ptt)());

}  // namespace pi::jprof

#endif  // PI_JPROF_CALL_METRICS_H
