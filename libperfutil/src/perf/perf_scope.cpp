// SPDX-License-Identifier: MIT
// Finds out what perf_event_open permits: the system or one process, with or without the kernel.
#include "perf_scope.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <pi/module_advice.h>

#include "events/perf_events.h"
#include "system/text.h"

namespace pi::perfutil {
namespace {

constexpr char paranoid_path[] = "/proc/sys/kernel/perf_event_paranoid";

// 0 when a clock event can be opened, else the error number.
int try_clock(int pid, uint32_t cpu, bool kernel) {
  EventFeatures features;
  features.kernel = kernel;
  features.lost_format = false;
  SamplePlan plan;
  plan.tick.period = tick_period_ns(100);
  const UniqueFd fd(
      open_perf_event(tick_attr(features, pid != -1, plan), pid, static_cast<int>(cpu)));
  // A negative error number is not a descriptor; UniqueFd leaves it alone.
  return fd ? 0 : -fd.get();
}

bool is_denied(int error) {
  return error == EACCES || error == EPERM;
}

// The program's own DT_RUNPATH; empty when it has none.
std::string own_runpath() {
  const link_map* program = _r_debug.r_map;
  const char* strings = nullptr;
  const ElfW(Dyn)* runpath = nullptr;
  for (const ElfW(Dyn)* entry = program ? program->l_ld : nullptr; entry && entry->d_tag != DT_NULL;
       ++entry) {
    // The loader has replaced the offset by an address.
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_RUNPATH || entry->d_tag == DT_RPATH) runpath = entry;
  }
  return runpath && strings ? strings + runpath->d_un.d_val : "";
}

// Whether the loader would find this library if the program's file had capabilities: then it
// searches absolute paths and the system's directories only.
bool runs_with_file_capabilities() {
  Dl_info facts{};
  if (::dladdr(reinterpret_cast<void*>(&own_runpath), &facts) == 0 || !facts.dli_fname)
    return false;
  const std::string library = facts.dli_fname;
  const std::string name = library.substr(library.rfind('/') + 1);
  for (const char* system : {"/lib/", "/usr/lib/", "/lib64/", "/usr/lib64/"})
    if (library.starts_with(system)) return true;
  std::istringstream paths(own_runpath());
  for (std::string path; std::getline(paths, path, ':');)
    if (path.starts_with('/') && ::access((path + "/" + name).c_str(), R_OK) == 0) return true;
  return false;
}

// process_could_help: the system was refused, and one process was not tried.
Error denied(bool process_could_help) {
  const int level = std::atoi(read_line(paranoid_path).c_str());
  if (::geteuid() == 0 || level < 0)
    return {PU_ERROR_ACCESS_DENIED,
            fmt::format("perf_event_open is refused {}", refusal_despite_rights(level))};
  std::string ways = "'sudo sysctl kernel.perf_event_paranoid=-1'; ";
  if (runs_with_file_capabilities()) {
    if (level > max_perfmon_paranoid)
      ways += fmt::format("'sudo sysctl kernel.perf_event_paranoid={}' and ", max_perfmon_paranoid);
    ways += fmt::format("'sudo setcap cap_perfmon,cap_sys_ptrace,cap_syslog=ep {}'; ",
                        own_program_path());
  }
  if (no_modules_because().empty())
    ways += fmt::format("load the pitrace module for one of your groups: '{}', and log in again; ",
                        module_group_commands());
  return {PU_ERROR_ACCESS_DENIED,
          fmt::format("The kernel does not let this user sample the {} (kernel.perf_event_paranoid "
                      "is {}). Do one of: {}run as root{}.",
                      process_could_help ? "whole system" : "process", level, ways,
                      process_could_help ? "; or trace one process with --pid" : "")};
}

Error unsupported(int error) {
  if (error == EMFILE || error == ENFILE) return too_many_open_files();
  return {PU_ERROR_NOT_SUPPORTED,
          fmt::format("perf_event_open does not work here ({}). A container or sandbox may forbid "
                      "the system call. Allow it, or use the pitrace module. {}",
                      errno_text(error), load_module_advice())};
}

Result<PerfScope> process_scope(int pid, uint32_t cpu) {
  if (pid <= 0) return denied(true);
  int error = 0;
  for (const bool kernel : {true, false}) {
    error = try_clock(pid, cpu, kernel);
    if (error == 0) return PerfScope{false, pid, kernel};
    if (!is_denied(error)) break;
  }
  if (is_denied(error)) return denied(false);
  if (error == ESRCH)
    return Error{PU_ERROR_INVALID_PARAMETER,
                 fmt::format("There is no process {}. Give the id of a running process.", pid)};
  return unsupported(error);
}

// Majors that the module records and perf cannot.
constexpr std::pair<uint32_t, const char*> unseen_majors[] = {
    {PITRACE_MAJOR_EXCEPTION, "exceptions"},
    {PITRACE_MAJOR_INTERRUPT, "interrupts"},
    {PITRACE_MAJOR_SYSCALL, "system calls"},
    {PITRACE_MAJOR_SWITCH, "task switches with stack pointers"}};

void add_blind_spots_of_dispatches(const PerfScope& scope, const CollectorStatus& status,
                                   std::vector<std::string>& list) {
  list.emplace_back(
      "Wake-ups, migrations, and the reason why a thread waits: perf only distinguishes runnable "
      "from blocked.");
  if (!scope.system)
    list.push_back(
        fmt::format("Dispatches of other processes: while no thread of process {} or its "
                    "descendants runs, the trace shows the idle task.",
                    scope.pid));
  if (status.stacks.which != 0 && !scope.kernel)
    list.emplace_back(
        "Stacks of dispatches: threads are switched out in the kernel, which this user cannot "
        "trace.");
}

}  // namespace

Result<PerfScope> decide_perf_scope(const TraceConfig& config) {
  const auto cpus = parse_cpu_list(read_text(config.online_path).value_or(""));
  const uint32_t cpu = cpus.empty() ? 0 : cpus.front();
  if (config.scope == TRACE_SCOPE_PROCESS) {
    if (config.pid <= 0)
      return Error{PU_ERROR_INVALID_PARAMETER,
                   "The scope is one process, but no process id was given. Give it with --pid."};
    return process_scope(config.pid, cpu);
  }
  const int error = try_clock(-1, cpu, true);
  if (error == 0) return PerfScope{true, 0, true};
  if (!is_denied(error)) return unsupported(error);
  if (config.scope == TRACE_SCOPE_SYSTEM) return denied(true);
  return process_scope(config.pid, cpu);
}

Status refuse_unseen(uint32_t major) {
  for (const auto& [unseen, name] : unseen_majors)
    if (major == unseen)
      return Error{PU_ERROR_NOT_SUPPORTED,
                   fmt::format("perf does not record {} (major {:#04x}). They need the pitrace "
                               "module. Load it ('swtrace check' shows how), then repeat 'swtrace "
                               "init'.",
                               name, major)};
  return {};
}

std::vector<std::string> perf_blind_spots(const PerfScope& scope, const CollectorStatus& status) {
  std::vector<std::string> list;
  if (status.tick.is_time())
    list = {
        "Code that runs with interrupts disabled: its time is charged to the instruction that "
        "enables them again.",
        "Idle processors: the kernel throttles perf's clock there, so the share of idle time is a "
        "lower bound."};
  for (const auto& [unseen, name] : unseen_majors)
    if (status.enabled.test(unseen))
      list.push_back(fmt::format("The kernel's own {}: perf does not record them.", name));
  if (status.enabled.test(PITRACE_MAJOR_DISPATCH))
    add_blind_spots_of_dispatches(scope, status, list);
  if (!scope.system && status.enabled.test(PITRACE_MAJOR_TPROF))
    list.push_back(
        "Short threads: the kernel starts a whole interval between ticks in each new thread, so "
        "a thread that runs less than that has no tick, and others may have one too few.");
  if (!scope.system)
    list.push_back(fmt::format("Other processes: only process {} and its descendants are sampled.",
                               scope.pid));
  if (!scope.kernel)
    list.push_back(
        fmt::format("The kernel: kernel.perf_event_paranoid is {}, so only user code is "
                    "sampled.",
                    read_line(paranoid_path)));
  std::array<char, 64> link{};
  // The initial pid namespace always has this inode number (include/linux/proc_ns.h).
  if (::readlink("/proc/self/ns/pid", link.data(), link.size() - 1) > 0 &&
      std::string(link.data()) != "pid:[4026531836]")
    list.push_back(
        "Processes outside this container: their ticks carry process number 0 and no names.");
  return list;
}

std::string count_of_processes(uint32_t count) {
  return fmt::format("{} process{}", count, count == 1 ? "" : "es");
}

std::string unreadable_processes_note(uint32_t count) {
  return fmt::format(
      "The system does not let this user see which files {} had mapped before the trace "
      "(/proc/PID/maps; root can be refused, too, in a container for example): code in these files "
      "has no names there.",
      count_of_processes(count));
}

}  // namespace pi::perfutil
