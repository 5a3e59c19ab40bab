// SPDX-License-Identifier: MIT
// Why the kernel refused an event, in words.
#include "event_refusal.h"

#include <cerrno>

#include <fmt/format.h>

#include "perfutil.h"
#include "system/text.h"

namespace pi::perfutil {

std::string refusal_reason(int error) {
  switch (error) {
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
      return "the processor lacks it, or this is a virtual machine without hardware counters";
    case EINVAL:
      return "this counter can only count and cannot produce ticks, or its terms are wrong";
    case EBUSY:
    case ENOSPC:
      return "its counters are in use, for instance by the NMI watchdog (switch it off with "
             "'sysctl "
             "kernel.nmi_watchdog=0') or another profiler";
    case EACCES:
    case EPERM:
      return "this user is not permitted to; lower kernel.perf_event_paranoid, count user mode "
             "only, "
             "or run as root";
    default:
      return "the kernel refuses it: " + errno_text(error);
  }
}

Error refused_event(int error, const std::string& name) {
  const int code = error == EBUSY || error == ENOSPC   ? PU_ERROR_FACILITY_BUSY
                   : error == EACCES || error == EPERM ? PU_ERROR_ACCESS_DENIED
                                                       : PU_ERROR_EVENT_NOT_SUPPORTED;
  const char* remedy =
      code == PU_ERROR_EVENT_NOT_SUPPORTED
          ? " Software events work on every machine: page-faults, context-switches, "
            "cpu-migrations, cpu-clock; 'swtrace event list' shows the available events."
          : "";
  return {code, fmt::format("'{}' cannot be counted here ({}): {}.{}", name, errno_text(error),
                            refusal_reason(error), remedy)};
}

}  // namespace pi::perfutil
