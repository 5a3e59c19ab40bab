// SPDX-License-Identifier: MIT
// What the C entry points share: the trace of this process and the error text of each thread.
#include "call.h"

#include "trace/trace.h"

namespace pi::perfutil {

Trace& global_trace() {
  // Never destroyed: TraceTerminate() ends the trace, or the end of the process, which closes the
  // device and the events.
  static Trace* trace = nullptr;
  static uint32_t process = 0;
  if (process != process_number()) {
    trace = trace ? Trace::in_child_of(*trace).release() : new Trace;
    process = process_number();
  }
  return *trace;
}

std::string& last_error_text() {
  thread_local std::string text;
  return text;
}

}  // namespace pi::perfutil
