// SPDX-License-Identifier: MIT
// Facts about the processor for 'swtrace info'.
#ifndef PI_SWTRACE_MACHINE_INFO_H
#define PI_SWTRACE_MACHINE_INFO_H

#include <cstdint>
#include <string>

namespace pi::swtrace {

struct MachineInfo {
  uint32_t signature = 0;  // EAX of CPUID leaf 1; 0 where there is no CPUID
  uint32_t family = 0;
  uint32_t model = 0;
  std::string vendor;
  std::string architecture;     // uname -m
  std::string hyper_threading;  // "enabled", "disabled", "not supported"
};

MachineInfo read_machine_info();

}  // namespace pi::swtrace

#endif  // PI_SWTRACE_MACHINE_INFO_H
