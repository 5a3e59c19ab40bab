// SPDX-License-Identifier: MIT
// swtrace check: does perf_event_open work here, for which users, and what blocks it?
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <fmt/format.h>
#include <pi/unique_fd.h>

#include "check.h"
#include "sysfile.h"

namespace pi::swtrace {
namespace {

// 0 when the kernel opens a sampling clock event, else the error number.
int try_perf(int pid, int cpu, bool kernel) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = 10'000'000;
  attr.sample_type = PERF_SAMPLE_IP;
  attr.disabled = 1;
  attr.exclude_kernel = !kernel;
  attr.exclude_hv = 1;
  const UniqueFd fd(
      static_cast<int>(::syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
  return fd ? 0 : errno;
}

uint64_t effective_capabilities(const CheckPaths& paths) {
  const std::string status = read_all(paths.root + "/proc/self/status");
  const size_t at = status.find("CapEff:");
  return at == std::string::npos ? 0 : std::strtoull(status.c_str() + at + 7, nullptr, 16);
}

void check_capabilities(const CheckPaths& paths, CheckReport& report) {
  const uint64_t have = effective_capabilities(paths);
  std::string names;
  for (const auto& [bit, name] : {std::pair(CAP_SYS_ADMIN, "sys_admin"),
                                  {CAP_PERFMON, "perfmon"},
                                  {CAP_SYSLOG, "syslog"},
                                  {CAP_SYS_PTRACE, "sys_ptrace"}})
    if (have >> bit & 1) names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  if ((have >> CAP_SYS_ADMIN & 1) != 0 || (have >> CAP_PERFMON & 1) != 0)
    report.ok("capabilities", fmt::format("this process has {}", names));
  else
    report.note("capabilities",
                "this process has neither CAP_PERFMON nor CAP_SYS_ADMIN; the kernel's "
                "settings decide what it can trace");
}

constexpr char widen_remedy[] = "sudo sysctl kernel.perf_event_paranoid=-1";

void check_opening(CheckReport& report, const std::string& paranoid) {
  const int system = try_perf(-1, 0, true);
  const int process = try_perf(0, -1, false);
  const bool kernel = try_perf(0, -1, true) == 0;
  report.perf_system_works = system == 0;
  report.perf_process_works = process == 0;
  if (system == 0) return report.ok("perf", "perf_event_open works for the whole system");
  const bool denied = system == EACCES || system == EPERM;
  const bool strict = denied && std::atoi(paranoid.c_str()) > 0;
  const char* remedy =
      strict ? widen_remedy
             : "allow the system call perf_event_open in the profile of the container or sandbox";
  if (process == 0)
    return report.note(
        "perf",
        fmt::format("perf_event_open works for this user's processes only{}; for the whole system "
                    "it fails: {}",
                    kernel ? "" : ", user code only", std::generic_category().message(system)),
        remedy);
  report.fail("perf", "perf",
              fmt::format("perf_event_open fails: {}", std::generic_category().message(process)),
              remedy);
}

}  // namespace

void check_perf(const CheckPaths& paths, CheckReport& report) {
  check_capabilities(paths, report);
  const std::string paranoid = read_line(paths.root + "/proc/sys/kernel/perf_event_paranoid");
  check_opening(report, paranoid);
  if (paranoid.empty())
    report.fail("paranoid", "perf", "this kernel has no perf events (no perf_event_paranoid)",
                "use the pitrace module, or boot a kernel with CONFIG_PERF_EVENTS");
  else if (report.perf_system_works)
    report.ok("paranoid", fmt::format("kernel.perf_event_paranoid is {}", paranoid));
  else
    report.note("paranoid",
                fmt::format("kernel.perf_event_paranoid is {}{}", paranoid,
                            std::atoi(paranoid.c_str()) > 2
                                ? "; kernels of Debian then demand CAP_SYS_ADMIN, not CAP_PERFMON"
                                : ""),
                widen_remedy);

  constexpr long ring_kb = 2 * (32 + 4);  // two rings a CPU at their smallest
  const std::string limit = read_line(paths.root + "/proc/sys/kernel/perf_event_mlock_kb");
  if (report.perf_system_works || limit.empty() || std::atol(limit.c_str()) >= ring_kb)
    report.ok("mlock",
              fmt::format("kernel.perf_event_mlock_kb is {}", limit.empty() ? "absent" : limit));
  else
    report.fail(
        "mlock", "perf",
        fmt::format("kernel.perf_event_mlock_kb is {}: too small for the rings of perf", limit),
        "sudo sysctl kernel.perf_event_mlock_kb=516");
}

}  // namespace pi::swtrace
