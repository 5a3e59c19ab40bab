// SPDX-License-Identifier: MIT
// The module's PTT for users who may trace the system: begins it, ends it, returns the counts.
#include "ptt_device.h"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>
#include <pi/module_advice.h>

#include "events/event_refusal.h"
#include "perfutil_ptt.h"
#include "system/kernel_device.h"
#include "system/text.h"

namespace pi::perfutil {
namespace {

Error control_error(int error, const char* what) {
  switch (error) {
    case ENOTTY:
      return {
          PU_ERROR_NOT_SUPPORTED,
          "The pitrace module that is loaded is older than this library and has no PTT; load the "
          "one that belongs to it."};
    case ENOMEM:
      return {PU_ERROR_NOT_ENOUGH_MEMORY, fmt::format("The kernel has no memory {}.", what)};
    default:
      return {PU_FAILURE,
              fmt::format("The pitrace module refuses {} ({}).", what, errno_text(error))};
  }
}

std::string metric_names(const pitrace_ptt_info& info) {
  std::string names;
  for (uint32_t i = 0; i < std::min<uint32_t>(info.metrics, PITRACE_PTT_METRICS); ++i)
    names += fmt::format("{}{}", i == 0 ? "" : ", ", info.metric[i].name);
  return names;
}

Error busy_error(Device& device) {
  pitrace_ptt_info info{};
  if (device.control(PITRACE_PTT_IOC_INFO, &info) != 0)
    return {PU_ERROR_FACILITY_BUSY, "PTT is active already."};
  return {
      PU_ERROR_FACILITY_BUSY,
      fmt::format("PTT is active already, with {}; it was begun by process {}. End it with 'ptt "
                  "term', or replace it with 'ptt init -force'.",
                  metric_names(info), info.owner_pid)};
}

Error begin_error(Device& device, int error, const PttMetrics& metrics) {
  const auto counted = std::find_if(metrics.begin(), metrics.end(),
                                    [](const PttMetric& metric) { return !metric.is_cycles(); });
  if (error == EBUSY) return busy_error(device);
  if (error == EOPNOTSUPP && counted == metrics.end())
    return {PU_ERROR_NOT_SUPPORTED,
            "This kernel lacks the hooks that PTT needs; 'swtrace check' "
            "shows more."};
  if (error == ENOTTY || error == ENOMEM || counted == metrics.end())
    return control_error(error, "to begin PTT");
  return refused_event(error, counted->name);
}

}  // namespace

Error ptt_open_error(int error, const char* path) {
  if (error == EACCES || error == EPERM)
    return {PU_ERROR_ACCESS_DENIED,
            fmt::format("The pitrace module is loaded, but this user may not open {}. Join a "
                        "group that may: '{}', and log in again; or run as root; or have the "
                        "administrator begin PTT with 'ptt init'.",
                        path, module_group_commands())};
  if (error == ENOENT || error == ENXIO || error == ENODEV)
    return {PU_ERROR_DRIVER_NOT_LOADED,
            fmt::format("The pitrace module is not loaded (there is no {}). {}", path,
                        load_module_advice())};
  return {PU_ERROR_DRIVER_NOT_LOADED,
          fmt::format("{} cannot be opened ({}).", path, errno_text(error))};
}

Result<std::unique_ptr<Device>> open_ptt_control() {
  auto device = std::make_unique<KernelDevice>();
  if (const int error = device->open(); error != 0)
    return ptt_open_error(-error, PITRACE_DEVICE_PATH);
  pitrace_ptt_info info{};
  if (const int error = device->control(PITRACE_PTT_IOC_INFO, &info); error != 0)
    return control_error(-error, "to report on PTT");
  if (info.abi_major != PITRACE_ABI_MAJOR) return control_error(ENOTTY, "");
  return std::unique_ptr<Device>(std::move(device));
}

Result<pitrace_ptt_info> ptt_info() {
  pitrace_ptt_info info{};
  if (const auto control = open_ptt_control();
      control && (*control)->control(PITRACE_PTT_IOC_INFO, &info) == 0)
    return info;
  const UniqueFd fd(::open(PITRACE_PTT_DEVICE_PATH, O_RDWR | O_CLOEXEC));
  if (!fd) return ptt_open_error(errno, PITRACE_PTT_DEVICE_PATH);
  if (::ioctl(fd.get(), PITRACE_PTT_IOC_INFO, &info) != 0)
    return control_error(errno, "to report on PTT");
  return info;
}

Status ptt_begin(Device& device, const PttMetrics& metrics, uint32_t flags, uint32_t threads) {
  constexpr uint64_t pids_usual = 4194304;
  pitrace_ptt_init init{};
  init.metrics = static_cast<__u32>(metrics.size());
  init.flags = flags;
  init.threads = threads == 0 ? PITRACE_PTT_THREADS_DEFAULT : threads;
  if (init.threads < PITRACE_PTT_THREADS_MIN || init.threads > PITRACE_PTT_THREADS_MAX)
    return Error{PU_ERROR_INVALID_PARAMETER,
                 fmt::format("PTT cannot have {} threads: {} to {} are possible.", threads,
                             PITRACE_PTT_THREADS_MIN, PITRACE_PTT_THREADS_MAX)};
  init.pids =
      static_cast<__u32>(parse_number(read_line("/proc/sys/kernel/pid_max")).value_or(pids_usual));
  for (size_t i = 0; i < metrics.size(); ++i) init.metric[i] = to_abi(metrics[i]);
  if (const int error = device.control(PITRACE_PTT_IOC_INIT, &init); error != 0)
    return begin_error(device, -error, metrics);
  return {};
}

Status ptt_end(Device& device) {
  const int error = device.control(PITRACE_PTT_IOC_TERM, nullptr);
  if (error == -EALREADY)
    return Error{PU_ERROR_NOT_INITIALIZED, "PTT is not active; 'ptt init' begins it."};
  if (error != 0) return control_error(-error, "to end PTT");
  return {};
}

Status ptt_interrupts(Device& device, bool separate) {
  __u32 ints = separate ? 1 : 0;
  if (const int error = device.control(PITRACE_PTT_IOC_INTS, &ints); error != 0)
    return control_error(-error, "to change what interrupts are charged to");
  return {};
}

Status ptt_take_residue(Device& device, const pitrace_ptt_residue& residue) {
  pitrace_ptt_residue copy = residue;
  const int error = device.control(PITRACE_PTT_IOC_RESIDUE, &copy);
  if (error == -EINVAL)
    return Error{
        PU_ERROR_INCORRECT_STATE,
        "Interrupts are charged to the thread ('ptt noints'): there is no residual overhead."};
  if (error != 0) return control_error(-error, "to subtract the residual overhead of interrupts");
  return {};
}

Result<PttDump> ptt_dump(Device& device) {
  PttDump dump;
  uint32_t threads = 1024, cpus = 64;
  for (;;) {
    dump.threads.resize(threads);
    dump.cpus.resize(cpus);
    dump.head = {};
    dump.head.thread_rows = reinterpret_cast<uintptr_t>(dump.threads.data());
    dump.head.cpu_rows = reinterpret_cast<uintptr_t>(dump.cpus.data());
    dump.head.threads = threads;
    dump.head.cpus = cpus;
    const int error = device.control(PITRACE_PTT_IOC_DUMP, &dump.head);
    if (error == -EINVAL)
      return Error{PU_ERROR_NOT_INITIALIZED,
                   "Nothing has been counted since the module was loaded; 'ptt init' begins."};
    if (error != 0 && error != -ENOSPC) return control_error(-error, "to report the counts");
    if (error == 0) break;
    // A quarter more, for threads that start meanwhile.
    threads = dump.head.threads + dump.head.threads / 4;
    cpus = std::max(cpus, dump.head.cpus);
  }
  dump.threads.resize(dump.head.threads);
  dump.cpus.resize(dump.head.cpus);
  return dump;
}

}  // namespace pi::perfutil
