// SPDX-License-Identifier: MIT
// C entry points for versions and facts: the library, the module and the machine.
#include <unistd.h>

#include "call.h"
#include "driver/driver_collector.h"
#include "perf/perf_scope.h"
#include "perfutil.h"
#include "system/kernel_device.h"
#include "system/system_facts.h"
#include "system/text.h"
#include "trace/trace.h"

using pi::perfutil::query;
using pi::perfutil::Trace;

uint32_t GetDLLVersionEx(void) {
  return uint32_t{PI_VERSION_MAJOR} << 24 | uint32_t{PI_VERSION_MINOR} << 16 | PI_VERSION_REVISION;
}

uint32_t GetDDVersionEx(void) {
  return query([](Trace&) -> uint32_t {
    pi::perfutil::KernelDevice device;
    pitrace_info info{};
    if (device.open() != 0 || device.control(PITRACE_IOC_INFO, &info) != 0) return 0;
    return info.abi_major << 24 | info.abi_minor << 16;
  });
}

int IsDeviceDriverInstalled(void) {
  return pi::perfutil::kernel_device_exists();
}

int IsTprofSupported(void) {
  if (GetDDVersionEx() != 0) return 1;
  return query([](Trace&) {
    pi::perfutil::TraceConfig config;
    config.pid = ::getpid();  // for a user who may trace one process only
    return static_cast<bool>(pi::perfutil::decide_perf_scope(config));
  });
}

uint64_t ReadCycles(void) {
  return pi::perfutil::trace_clock();
}

uint64_t GetProcessorSpeed(void) {
  return query([](Trace&) { return pi::perfutil::processor_hz(); });
}

int PiGetActiveProcessorCount(void) {
  return static_cast<int>(pi::perfutil::online_cpu_count());
}

int GetActiveProcessorList(int* list, int n) {
  return pi::perfutil::call_for_number([=](Trace&) -> pi::Result<int> {
    if (list == nullptr && n > 0) return pi::perfutil::null_pointer("list");
    int count = 0;
    const auto cpus =
        pi::perfutil::parse_cpu_list(pi::perfutil::read_line("/sys/devices/system/cpu/online"));
    for (const uint32_t cpu : cpus)
      if (count++ < n) list[count - 1] = static_cast<int>(cpu);
    return count;
  });
}
