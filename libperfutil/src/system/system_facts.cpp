// SPDX-License-Identifier: MIT
// Facts about the system: CPUs, processor speed, distribution.
#include "system_facts.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "text.h"

namespace pi::perfutil {
namespace {

// The value after "key : " in the first such line of /proc/cpuinfo.
std::string cpuinfo_value(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = next_word(text, '\n');
    if (!line.starts_with(key)) continue;
    next_word(line, ':');
    const size_t start = line.find_first_not_of(' ');
    return start == std::string_view::npos ? "" : std::string(line.substr(start));
  }
  return "";
}

uint32_t cpu_count(int which) {
  return static_cast<uint32_t>(std::max(::sysconf(which), 1L));
}

std::string distribution() {
  const std::string text = read_text("/etc/os-release").value_or("");
  std::string_view rest = text;
  constexpr std::string_view key = "PRETTY_NAME=";
  while (!rest.empty()) {
    std::string_view line = next_word(rest, '\n');
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    if (line.size() >= 2 && (line.front() == '"' || line.front() == '\''))
      line = line.substr(1, line.size() - 2);
    return std::string(line);
  }
  return "Linux";
}

}  // namespace

std::string clock_source() {
  const std::string name =
      read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  return name.empty() ? "unknown" : name;
}

uint32_t configured_cpus() {
  return cpu_count(_SC_NPROCESSORS_CONF);
}

uint32_t online_cpu_count() {
  return cpu_count(_SC_NPROCESSORS_ONLN);
}

uint64_t processor_hz() {
  if (const auto khz =
          parse_number(read_line("/sys/devices/system/cpu/cpu0/cpufreq/base_frequency")))
    return *khz * 1000;
  const std::string text = read_text("/proc/cpuinfo").value_or("");
  const double mhz = std::strtod(cpuinfo_value(text, "cpu MHz").c_str(), nullptr);
  return mhz > 0 && mhz < 1e6 ? static_cast<uint64_t>(mhz * 1e6) : 0;
}

std::string platform_line() {
  utsname name{};
  ::uname(&name);
  return fmt::format("{}, {} {} {}", distribution(), name.sysname, name.release, name.machine);
}

}  // namespace pi::perfutil
