// SPDX-License-Identifier: MIT
// Facts about the processor for 'swtrace info', x86: by CPUID.
#include "machine_info.h"

#include <cpuid.h>
#include <sys/utsname.h>

#include <cstring>

#include "sysfile.h"

namespace pi::swtrace {

MachineInfo read_machine_info() {
  MachineInfo info;
  utsname name{};
  ::uname(&name);
  info.architecture = name.machine;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0, &a, &b, &c, &d)) {
    char text[12];
    std::memcpy(text, &b, 4);
    std::memcpy(text + 4, &d, 4);
    std::memcpy(text + 8, &c, 4);
    info.vendor.assign(text, sizeof text);
  }
  if (__get_cpuid(1, &a, &b, &c, &d)) {
    info.signature = a;
    // Extended family and model are added as the manuals define it.
    const uint32_t family = a >> 8 & 15, model = a >> 4 & 15;
    info.family = family == 15 ? family + (a >> 20 & 255) : family;
    info.model = family == 15 || family == 6 ? model | (a >> 16 & 15) << 4 : model;
  }
  const std::string control = read_line("/sys/devices/system/cpu/smt/control");
  const std::string active = read_line("/sys/devices/system/cpu/smt/active");
  info.hyper_threading =
      active == "1" ? "enabled"
      : control == "notsupported" || control == "notimplemented" || control.empty()
          ? "not supported"
          : "disabled";
  return info;
}

}  // namespace pi::swtrace
