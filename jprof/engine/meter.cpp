// SPDX-License-Identifier: MIT
// What is measured at each event.
#include "meter.h"

namespace pi::callflow {

Meter no_metrics() {
  return {};
}

Meter raw_cycles() {
  return {MeterKind::raw_cycles, {{"RAW_CYCLES", "cycles"}}, nullptr, nullptr};
}

Meter thread_clock() {
  return {MeterKind::thread_clock, {{"THREAD_CLOCK", "nanoseconds"}}, nullptr, nullptr};
}

}  // namespace pi::callflow
