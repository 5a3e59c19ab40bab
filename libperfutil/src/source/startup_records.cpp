// SPDX-License-Identifier: MIT
// Writes the start-up records of a trace without the module: clock, time base, rate, interval.
#include "startup_records.h"

#include <sys/time.h>

#include <ctime>

#include "system/system_facts.h"

namespace pi::perfutil {

void put_startup(uint64_t time, const TickEvent& tick, uint32_t rate, uint32_t interval_id,
                 UserBuffer& mte) {
  const pitrace_module kernel{};  // pid 0, address and size 0
  mte.put_module(time, kernel, PITRACE_KERNEL_NAME);

  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  const auto minutes_west = static_cast<uint32_t>(-local.tm_gmtoff / 60);
  const auto mhz = static_cast<uint32_t>(processor_hz() / 1'000'000);
  const auto put = [&](uint32_t minor, std::initializer_list<uint32_t> ints) {
    mte.put_ints(time, PITRACE_MAJOR_SYSTEM, minor, ints);
  };
  put(PITRACE_SYSTEM_CLOCK,
      {mhz, minutes_west, static_cast<uint32_t>(local.tm_isdst > 0), static_cast<uint32_t>(now)});
  put(PITRACE_SYSTEM_TIMEBASE, {1'000'000'000});
  put(PITRACE_SYSTEM_OS, {PITRACE_OS_LINUX});
  if (tick.is_time())
    put(PITRACE_SYSTEM_TPROF, {0, rate, 0});
  else
    put(PITRACE_SYSTEM_TPROF,
        {1, static_cast<uint32_t>(tick.period >> 32), static_cast<uint32_t>(tick.period)});
  put(PITRACE_SYSTEM_INTERVAL, {interval_id});
  put(PITRACE_SYSTEM_END, {});
}

}  // namespace pi::perfutil
