// SPDX-License-Identifier: MIT
// ITrace by the module: ioctls, and the meaning of their errors.
#include "driver_itrace.h"

#include <cerrno>

#include <fmt/format.h>

#include "perfutil.h"
#include "system/text.h"

namespace pi::perfutil {

// EINVAL has several causes: find out which.
Error DriverITrace::not_possible_now(const char* what) {
  const auto now = info();
  pitrace_info trace{};
  if (now && now->installed == 0) return itrace_not_installed();
  if (device_.control(PITRACE_IOC_INFO, &trace) == 0 && trace.state != PITRACE_TRACE_ON)
    return {PU_ERROR_INCORRECT_STATE,
            "The trace is not on. Turn it on before ITrace, with TraceOn (swtrace on)."};
  return {PU_ERROR_INCORRECT_STATE,
          fmt::format("The pitrace module cannot {} now: no process, or not this process, is "
                      "enabled. Call ITraceEnableCurrent or another ITraceEnable function "
                      "(swtrace it_install -p) first.",
                      what)};
}

Status DriverITrace::outcome(int error, const char* what) {
  const auto text = [&](const char* more) {
    return fmt::format("The pitrace module refused to {} ({}). {}", what, errno_text(error), more);
  };
  switch (error) {
    case 0:
      return {};
    case ENOTTY:
      return Error{
          PU_ERROR_NOT_SUPPORTED,
          "The loaded pitrace module is older than this library and does not support ITrace. "
          "Build and load the module of this version (scripts/build-module, or the package "
          "pitrace-dkms)."};
    case EOPNOTSUPP:
      return Error{
          PU_ERROR_NOT_SUPPORTED,
          text("This kernel lacks a hook that ITrace needs; 'swtrace info' shows its name.")};
    case EACCES:
      return Error{
          PU_ERROR_ACCESS_DENIED,
          text("Without privileges, ITrace traces what 'gdb -p' could debug: one process of "
               "this user, given by its process id, and only its user code (-user). Kernel "
               "code needs CAP_PERFMON. All processes, ranges, and processes of other users "
               "need CAP_SYS_PTRACE and CAP_PERFMON, or root. "
               "/proc/sys/kernel/yama/ptrace_scope restricts this further.")};
    case EPROTONOSUPPORT:
      return Error{
          PU_ERROR_NOT_SUPPORTED,
          text("This processor enters and leaves the kernel by FRED, which the module's ITrace "
               "does not support, neither for kernel nor for user code. Boot the kernel "
               "with fred=off, or trace user code by ptrace (--source=perf).")};
    case ESRCH:
      return Error{PU_ERROR_INVALID_PARAMETER, text("There is no such process.")};
    case ESHUTDOWN:
      return Error{PU_ERROR_INCORRECT_STATE,
                   text("The machine is about to restart, so ITrace has ended.")};
    case EPERM:
      return Error{PU_ERROR_ACCESS_DENIED,
                   text("Only the owner of the trace can do that. Another program can enable only "
                        "itself, and turn ITrace on and off only for its own threads.")};
    case ENOMEM:
      return Error{PU_ERROR_NOT_ENOUGH_MEMORY, text("Use fewer threads or a smaller reserve.")};
    case EBUSY:
      return itrace_is_installed();
    default:
      return Error{PU_FAILURE, text("'dmesg' may show the cause.")};
  }
}

Status DriverITrace::install(const pitrace_itrace& setup) {
  pitrace_itrace request = setup;
  const int error = -device_.control(PITRACE_IOC_IT_INSTALL, &request);
  if (error == EINVAL)
    return Error{
        PU_ERROR_INVALID_PARAMETER,
        "The pitrace module refuses this combination of flags, number of threads and size "
        "of the reserve for ITrace. Losing no records (-cont) needs a trace in continuous mode: "
        "'swtrace init -t cont'."};
  return outcome(error, "install ITrace");
}

Status DriverITrace::remove() {
  const int error = -device_.control(PITRACE_IOC_IT_REMOVE, nullptr);
  if (error == EALREADY) return itrace_not_installed();
  return outcome(error, "remove ITrace");
}

Status DriverITrace::enable(uint32_t first, uint32_t last) {
  pitrace_itrace_pids pids{first, last};
  const int error = -device_.control(PITRACE_IOC_IT_ENABLE, &pids);
  if (error == EINVAL) {
    const auto now = info();
    if (now && now->installed == 0) return itrace_not_installed();
    return Error{PU_ERROR_INVALID_PARAMETER,
                 fmt::format("{} to {} is not a range of process ids.", first, last)};
  }
  if (error == ENOSPC)
    return Error{PU_ERROR_INSUFFICIENT_RESOURCES,
                 fmt::format("At most {} ranges of processes can be enabled. Disable them with "
                             "ITraceDisable, or enable a wider range.",
                             PITRACE_ITRACE_RANGES)};
  return outcome(error, "enable processes for ITrace");
}

Status DriverITrace::disable() {
  return outcome(-device_.control(PITRACE_IOC_IT_DISABLE, nullptr),
                 "disable all processes for ITrace");
}

Status DriverITrace::switched(int error, bool on) {
  const char* what = on ? "turn ITrace on" : "turn ITrace off";
  switch (error) {
    case EINVAL:
      return not_possible_now(what);
    case EALREADY:
      return Error{PU_ERROR_INCORRECT_STATE, on ? "ITrace is on already." : "ITrace is not on."};
    case ENOSPC:
      return Error{
          PU_ERROR_INSUFFICIENT_RESOURCES,
          "The maximum number of threads is traced already. Install ITrace with more threads "
          "(PiITraceInit, swtrace it_install -threads)."};
    default:
      return outcome(error, what);
  }
}

Status DriverITrace::on() {
  uint32_t scope = PITRACE_ITRACE_ALL;
  return switched(-device_.control(PITRACE_IOC_IT_ON, &scope), true);
}

Status DriverITrace::off() {
  uint32_t scope = PITRACE_ITRACE_ALL;
  return switched(-device_.control(PITRACE_IOC_IT_OFF, &scope), false);
}

Result<pitrace_itrace_info> DriverITrace::info() {
  pitrace_itrace_info now{};
  const int error = -device_.control(PITRACE_IOC_IT_INFO, &now);
  if (const auto done = outcome(error, "report the state of ITrace"); !done) return done.error();
  return now;
}

}  // namespace pi::perfutil
