// SPDX-License-Identifier: MIT
// Cycles per instruction: of every CPU and the system, of one thread, or of a process and all that
// it starts.
#ifndef PI_PERFUTIL_CPI_H
#define PI_PERFUTIL_CPI_H

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <pi/result.h>

#include "above_idle.h"
#include "counters.h"
#include "perfutil.h"

namespace pi::perfutil {

class CpiMeter {
 public:
  // mode: PI_CPI_RAW, _SCALED, _THREAD (of the calling thread); priv: PI_PRIV_*.
  static Result<std::unique_ptr<CpiMeter>> open(int mode, int priv);
  // Of thread pid and all that it starts from now on, beginning at its next exec.
  static Result<std::unique_ptr<CpiMeter>> open_process(int pid, int priv);

  Status start();
  // The values since start(); they belong to the meter and are valid until the next call.
  Result<const cpi_data*> get();

  int mode() const { return mode_; }

  // Minor and label of records in the trace.
  int minor = PI_CPI_MINOR;
  std::string label;

 private:
  CpiMeter(int mode, int priv) : mode_(mode), priv_(priv) {}
  std::vector<TickEvent> events() const;
  Status open_system();
  Status open_thread(const CounterTarget& target);
  Status read_system(uint64_t elapsed_cycles);
  Status read_thread();

  int mode_;
  int priv_;
  bool started_ = false;
  std::optional<SystemCounters> system_;
  std::optional<CounterGroup> thread_;
  CounterValues thread_base_;
  std::unique_ptr<AboveIdleSource> above_idle_;
  AboveIdleCounters idle_base_;
  uint64_t start_ns_ = 0;
  uint64_t start_cycles_ = 0;
  cpi_data data_{};
  std::vector<pi_cpi> cpus_;
};

// Sets the three ratios from the sums; 0 when there are no instructions.
void set_ratios(pi_cpi& cpi);

// The part of cycles during which a CPU was not idle, by AboveIdle's counters of that time.
uint64_t busy_part(uint64_t cycles, const ai_counters& before, const ai_counters& now);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_CPI_H
