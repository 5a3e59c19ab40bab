// SPDX-License-Identifier: MIT
// The source of a process's PTT: the module, or perf events of its own threads.
#ifndef PI_PERFUTIL_PTT_SOURCE_H
#define PI_PERFUTIL_PTT_SOURCE_H

#include <memory>

#include <pi/result.h>

#include "perfutil_ptt.h"
#include "ptt_metrics.h"

namespace pi::perfutil {

class PttSource {
 public:
  virtual ~PttSource() = default;       // ends what it began
  virtual int kind() const = 0;         // PI_PTT_SOURCE_*
  virtual int read_method() const = 0;  // PI_PTT_READ_*
  virtual pi_ptt_reader reader() const = 0;
  virtual const char* cannot_separate() const = 0;
  virtual const char* unit(const PttMetric& metric) const = 0;
  // For the calling thread; detach() without attach() is harmless.
  virtual Status attach() = 0;
  virtual void detach() = 0;
  // Of the calling thread.
  virtual Status read(ptt_thread_data_ex& data) = 0;
};

// The module's. Errors are those of ptt_begin(); with PU_ERROR_DRIVER_NOT_LOADED and
// PU_ERROR_ACCESS_DENIED a caller can use perf instead.
Result<std::unique_ptr<PttSource>> open_module_ptt(const PttMetrics& metrics,
                                                   const pi_ptt_options& options);

// Perf's. PU_ERROR_EVENT_NOT_SUPPORTED, PU_ERROR_ACCESS_DENIED.
Result<std::unique_ptr<PttSource>> open_perf_ptt(const PttMetrics& metrics);

// In the child of a fork(): resets the state that its only thread has inherited.
void forget_module_thread();
void forget_perf_thread();

// The calling thread's slot, or one that is not active.
const pitrace_ptt_slot* module_slot();

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PTT_SOURCE_H
