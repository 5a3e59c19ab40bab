// SPDX-License-Identifier: MIT
// C entry points of ITrace, except ITraceOn() and ITraceOff().
#include <unistd.h>

#include <fmt/format.h>

#include "call.h"
#include "driver/driver_itrace.h"
#include "itrace_switch.h"
#include "perfutil.h"
#include "struct_size.h"
#include "trace/trace.h"

namespace pi::perfutil {
namespace {

constexpr int known_flags = PI_ITRACE_RING | PI_ITRACE_COUNT | PI_ITRACE_STEP |
                            PI_ITRACE_INTERRUPTS | PI_ITRACE_NO_KERNEL | PI_ITRACE_NO_USER |
                            PI_ITRACE_CHILDREN | PI_ITRACE_CONTINUOUS;
static_assert(PI_ITRACE_RING == PITRACE_ITRACE_RING && PI_ITRACE_COUNT == PITRACE_ITRACE_COUNT &&
              PI_ITRACE_STEP == PITRACE_ITRACE_STEP &&
              PI_ITRACE_INTERRUPTS == PITRACE_ITRACE_INTERRUPTS &&
              PI_ITRACE_NO_KERNEL == PITRACE_ITRACE_NO_KERNEL &&
              PI_ITRACE_NO_USER == PITRACE_ITRACE_NO_USER &&
              PI_ITRACE_CHILDREN == PITRACE_ITRACE_CHILDREN &&
              PI_ITRACE_CONTINUOUS == PITRACE_ITRACE_CONTINUOUS);

// Checks that this process owns the trace.
Status owned(Trace& trace) {
  if (trace.is_initialised()) return {};
  if (trace.is_of_parent()) return trace.initialised();
  if (const auto device = device_of_program(); !device) return device.error();
  return Error{PU_ERROR_NOT_INITIALIZED,
               "This process has not initialised the trace; call TraceInit first, or use 'swtrace "
               "it_install' and 'it_remove' if a recorder has."};
}

Status init(Trace& trace, int flags, uint32_t threads, uint32_t reserve) {
  if (const auto good = owned(trace); !good) return good;
  if ((flags & ~known_flags) != 0)
    return Error{PU_ERROR_INVALID_PARAMETER,
                 fmt::format("Unknown flags for ITrace: {:#x}.", flags & ~known_flags)};
  if (threads > PITRACE_ITRACE_THREADS_MAX)
    return Error{PU_ERROR_INVALID_PARAMETER,
                 fmt::format("ITrace traces at most {} threads.", PITRACE_ITRACE_THREADS_MAX)};
  pitrace_itrace setup{};
  setup.flags = static_cast<uint32_t>(flags) | PITRACE_ITRACE_RING;
  setup.threads = threads;
  if ((flags & PI_ITRACE_CONTINUOUS) != 0)
    setup.reserve = reserve != 0 ? reserve : PITRACE_ITRACE_RESERVE_DEFAULT;
  const auto installed = trace.itrace_install(setup);
  if (installed) set_itrace_owner(trace.itrace_fd());
  return installed;
}

Status enable(Trace& trace, int first, int last) {
  if (first < 0 || last < first)
    return Error{PU_ERROR_INVALID_PARAMETER,
                 fmt::format("{} to {} is not a range of process ids.", first, last)};
  const auto from = static_cast<uint32_t>(first);
  const auto to = static_cast<uint32_t>(last);
  if (trace.is_initialised()) return trace.itrace_enable(from, to);
  const auto device = device_of_program();
  return device ? DriverITrace(**device).enable(from, to) : Status(device.error());
}

int enable(int first, int last) {
  return call([=](Trace& trace) { return enable(trace, first, last); });
}

Result<pitrace_itrace_info> info(Trace& trace) {
  if (trace.is_initialised()) return trace.itrace_info();
  const auto device = device_of_program();
  if (!device) return device.error();
  return DriverITrace(**device).info();
}

Result<pi_itrace_status> status_of(Trace& trace) {
  const auto now = info(trace);
  if (!now) return now.error();
  pi_itrace_status out{};
  out.installed = now->installed != 0;
  out.on = now->on != 0;
  out.flags = static_cast<int>(now->flags);
  if (out.installed)
    out.how = trace.source() == PI_SOURCE_PERF ? PI_ITRACE_BY_PTRACE
              : now->branch_trap != 0          ? PI_ITRACE_BY_BRANCH_TRAP
                                               : PI_ITRACE_BY_STEP;
  out.threads = now->threads;
  out.untraced = now->untraced;
  out.dirty = now->dirty;
  out.steps = now->steps;
  out.branches = now->branches;
  out.gaps = now->gaps;
  return out;
}

}  // namespace
}  // namespace pi::perfutil

using pi::Error;
using pi::Status;
using pi::perfutil::call;
using pi::perfutil::Trace;

int ITraceInit(int flags) {
  return PiITraceInit(flags, 0, 0);
}

int PiITraceInit(int flags, uint32_t threads, uint32_t reserve) {
  return call([=](Trace& trace) { return pi::perfutil::init(trace, flags, threads, reserve); });
}

int ITraceTerminate(void) {
  return call([](Trace& trace) -> Status {
    if (const auto good = pi::perfutil::owned(trace); !good) return good;
    pi::perfutil::clear_itrace_owner();
    return trace.itrace_remove();
  });
}

int ITraceDisable(void) {
  return call([](Trace& trace) -> Status {
    if (const auto good = pi::perfutil::owned(trace); !good) return good;
    return trace.itrace_disable();
  });
}

int ITraceEnableAll(void) {
  return pi::perfutil::enable(0, INT32_MAX);
}

int ITraceEnableCurrent(void) {
  return ITraceEnablePid(::getpid());
}

int ITraceEnablePid(int pid) {
  return pi::perfutil::enable(pid, pid);
}

int ITraceEnableGreater(int pid) {
  return pi::perfutil::enable(pid, INT32_MAX);
}

int ITraceEnableRange(int first, int last) {
  return pi::perfutil::enable(first, last);
}

int ITraceEnableList(const int* pids, int count) {
  if (pids == nullptr)
    return call([](Trace&) { return Status(Error{PU_ERROR_NULL_POINTER, "The list is null."}); });
  for (int i = 0; i < count; ++i)
    if (const int rc = ITraceEnablePid(pids[i]); rc != PU_SUCCESS) return rc;
  return PU_SUCCESS;
}

int ITraceSetSkipCount(int count) {
  return call([=](Trace&) -> Status {
    if (count >= 0) return {};
    return Error{PU_ERROR_INVALID_PARAMETER, "A skip count must be 0 or more."};
  });
}

int PiITraceStatus(struct pi_itrace_status* status) {
  return call([=](Trace& trace) {
    return pi::perfutil::fill_struct(status, "pi_itrace_status",
                                     [&] { return pi::perfutil::status_of(trace); });
  });
}

// Classic names: they enable processes and turn ITrace on.

int ITrace_Set_Skip_Count(int count) {
  return ITraceSetSkipCount(count);
}

int ITrace_On_CurPID(void) {
  const int rc = ITraceEnableCurrent();
  return rc == PU_SUCCESS ? ITraceOn() : rc;
}

int ITrace_On_GTPID(int pid) {
  const int rc = ITraceEnableGreater(pid);
  return rc == PU_SUCCESS ? ITraceOn() : rc;
}

int ITrace_On_PIDList(const int* pids, int count) {
  const int rc = ITraceEnableList(pids, count);
  return rc == PU_SUCCESS ? ITraceOn() : rc;
}

int ITrace_Off(void) {
  return ITraceOff();
}
