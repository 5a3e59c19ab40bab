// SPDX-License-Identifier: MIT
// Measures the residual overhead of interrupts and context switches: the cycles that they still
// cost the interrupted thread.
#ifndef PI_PERFUTIL_PTT_CALIBRATE_H
#define PI_PERFUTIL_PTT_CALIBRATE_H

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <pitrace/ptt_data.h>

namespace pi::perfutil {

// Keeps the minimum for each kind of interrupt.
class ResidueMeter {
 public:
  // vector, softs: as in the slot; left: the cycles beyond those between two reads without an
  // interrupt.
  void add(uint32_t vector, uint32_t softs, uint64_t left);
  uint64_t interrupts() const { return interrupts_; }
  // Never more than the minimum of any kind, so that the time of no thread goes backwards.
  pitrace_ptt_residue result() const;

 private:
  // The minimum of the difference between softs and softs - 1 softirqs; 0 when it was not seen.
  uint64_t soft_step(uint32_t softs) const;

  std::map<std::pair<uint32_t, uint32_t>, uint64_t> least_;  // by vector and softs
  uint64_t interrupts_ = 0;
};

// How long to measure: at least one time, and until there are enough events, at most the other. On
// a busy machine a thread gets few events in a second.
struct MeasuringTime {
  uint64_t least_ns;
  uint64_t most_ns;
  uint64_t enough;  // events

  bool is_over(uint64_t begin, uint64_t now, uint64_t events) const {
    return now - begin >= (events < enough ? most_ns : least_ns);
  }
};

// Reads the slot for so long. It must be the calling thread's, with cycles as its first metric.
ResidueMeter measure_residue(const pitrace_ptt_slot& slot, const MeasuringTime& time);

// The residual overhead of each context switch, in ascending order. Empty when no process can be
// created.
//
// Meanwhile the calling thread stays on one CPU, for which child processes compete all the time.
std::vector<uint64_t> measure_dispatches(const pitrace_ptt_slot& slot, const MeasuringTime& time);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PTT_CALIBRATE_H
