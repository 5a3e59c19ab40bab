// SPDX-License-Identifier: MIT
// The pitrace module as a source: ioctls, and its buffers mapped read-only.
#include "driver_collector.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <pi/module_advice.h>
#include <pi/nrm2.h>

#include "events/event_refusal.h"
#include "source/ring_memory.h"
#include "system/system_facts.h"
#include "system/text.h"

namespace pi::perfutil {
namespace {

constexpr uint32_t max_cpus = 1 << 16;

Error busy_error(Device& device) {
  pitrace_info info{};
  if (device.control(PITRACE_IOC_INFO, &info) != 0 || info.owner_pid <= 0)
    return {PU_ERROR_FACILITY_BUSY, "The trace facility is busy: another process owns it."};
  const std::string name = read_line(fmt::format("/proc/{}/comm", info.owner_pid));
  return {PU_ERROR_FACILITY_BUSY,
          fmt::format("The trace facility is busy: process {} ({}) owns it. End its trace first, "
                      "for instance with 'swtrace free'.",
                      info.owner_pid, name.empty() ? "name unknown" : name)};
}

Error no_memory_error(Device& device, const TraceConfig& config) {
  pitrace_info info{};
  constexpr uint64_t megabyte = 1 << 20;
  const bool known = device.control(PITRACE_IOC_INFO, &info) == 0;
  return {PU_ERROR_NOT_ENOUGH_MEMORY,
          fmt::format(
              "There is not enough memory for trace and MTE buffers of {} + {} MB for each CPU. {}",
              config.trace_bytes / megabyte, config.mte_bytes / megabyte,
              known ? fmt::format("At most {} MB for each CPU are free, for both together.",
                                  info.largest / megabyte)
                    : "Use smaller buffers.")};
}

Error control_error(int error, const char* what) {
  const std::string text =
      fmt::format("The pitrace module refused to {} ({}).", what, errno_text(error));
  switch (error) {
    case ENOMEM:
      return {PU_ERROR_NOT_ENOUGH_MEMORY, text + " Use smaller buffers."};
    case EACCES:
    case EPERM:
      return {PU_ERROR_ACCESS_DENIED, text};
    case EINVAL:
      return {PU_ERROR_INVALID_PARAMETER, text};
    case EBUSY:
      return {PU_ERROR_INCORRECT_STATE, text};
    case ENOSPC:
      return {PU_ERROR_BUFFER_FULL, text + " Recording has ended: a buffer became full."};
    default:
      return {PU_FAILURE, text + " 'dmesg' may show the cause."};
  }
}

// For an ioctl that the module does not know.
Error too_old(const char* what) {
  return {
      PU_ERROR_NOT_SUPPORTED,
      fmt::format("The loaded pitrace module is older than this library and does not support {}. "
                  "Build and load the module of this version (scripts/build-module, or the "
                  "package pitrace-dkms).",
                  what)};
}

std::string probe_name(const pitrace_probe& probe) {
  return {probe.name, ::strnlen(probe.name, sizeof probe.name)};
}

}  // namespace

Error device_open_error(int error) {
  if (error == EPERM)
    return {PU_ERROR_ACCESS_DENIED,
            "The pitrace module is loaded, but this kernel is locked down and does not permit "
            "tracing (/sys/kernel/security/lockdown)."};
  if (error == EACCES)
    return {
        PU_ERROR_ACCESS_DENIED,
        fmt::format("The pitrace module is loaded, but this user may not open /dev/pitrace. Join "
                    "a group that may: '{}', and log in again; or run as root.",
                    module_group_commands())};
  if (error == ENOENT || error == ENXIO || error == ENODEV)
    return {PU_ERROR_DRIVER_NOT_LOADED,
            fmt::format("The pitrace module is not loaded (there is no /dev/pitrace). {} "
                        "Or use --source=perf, which does not need it. 'swtrace check' shows more.",
                        load_module_advice())};
  return {PU_ERROR_DRIVER_NOT_LOADED,
          fmt::format("Cannot open /dev/pitrace ({}).", errno_text(error))};
}

Result<pitrace_info> read_device_info(Device& device) {
  pitrace_info info{};
  if (const int error = device.control(PITRACE_IOC_INFO, &info); error != 0)
    return Error{PU_ERROR_NOT_SUPPORTED,
                 fmt::format("/dev/pitrace does not answer as the pitrace module ({}).",
                             errno_text(-error))};
  if (info.abi_major != PITRACE_ABI_MAJOR)
    return Error{PU_ERROR_NOT_SUPPORTED,
                 fmt::format("The loaded pitrace module has version {}.{}, this library needs "
                             "{}.x. Build and load the module of this version "
                             "(scripts/build-module, or the package pitrace-dkms).",
                             info.abi_major, info.abi_minor, PITRACE_ABI_MAJOR)};
  return info;
}

Result<std::unique_ptr<Collector>> DriverCollector::create(const TraceConfig& config,
                                                           std::unique_ptr<Device> device) {
  if (const int error = device->open(); error == -EBUSY)
    return busy_error(*device);
  else if (error != 0)
    return device_open_error(-error);
  if (const auto info = read_device_info(*device); !info) return info.error();
  pitrace_alloc request{};
  request.trace_bytes = config.trace_bytes;
  request.mte_bytes = config.mte_bytes;
  request.mode = static_cast<uint32_t>(config.mode);
  request.section_bytes = config.mode == COLLECTION_MODE_NORMAL ? 0 : config.section_bytes;
  request.flags = config.anonymous ? PITRACE_ALLOC_ANON : 0;
  const int error = device->control(PITRACE_IOC_ALLOC, &request);
  if (error == -EBUSY) return busy_error(*device);
  if (error == -ENOMEM) return no_memory_error(*device, config);
  if (error != 0) return control_error(-error, "allocate trace buffers");
  std::unique_ptr<DriverCollector> collector(new DriverCollector(std::move(device), config));
  // Sizes as rounded by the module.
  if (const auto status = collector->status(); !status) return status.error();
  if (collector->mapped_.empty())
    return Error{PU_ERROR_NOT_ENOUGH_MEMORY, "Cannot map the trace buffers of the pitrace module."};
  return std::unique_ptr<Collector>(std::move(collector));
}

DriverCollector::~DriverCollector() {
  cgroups_.stop();
  user_stacks_.stop();
  mapped_.clear();
  (void)device_->control(PITRACE_IOC_TERMINATE, nullptr);
}

Status DriverCollector::control(unsigned long request, void* argument, const char* what) {
  const int error = device_->control(request, argument);
  if (error != 0) return control_error(-error, what);
  return {};
}

void DriverCollector::map_new_cpus() {
  const std::lock_guard lock(mapped_mutex_);
  const uint32_t cpus = std::min(info_.cpus_possible, max_cpus);
  const uint64_t bytes[PITRACE_BUFFERS] = {info_.trace_bytes, info_.mte_bytes};
  for (uint32_t cpu = 0; cpu < cpus; ++cpu) {
    if (mapped_.count(cpu) != 0) continue;
    std::vector<UniqueMapping> both;
    for (uint32_t kind = 0; kind < PITRACE_BUFFERS; ++kind) {
      UniqueMapping mapping = device_->map(kind, cpu, ring_mapping_bytes(bytes[kind]));
      if (mapping) both.push_back(std::move(mapping));
    }
    if (both.size() == PITRACE_BUFFERS) mapped_.emplace(cpu, std::move(both));
  }
  for (const auto& [cpu, mappings] : mapped_) {
    cgroups_.add_cpu(cpu, mappings[PITRACE_BUFFER_MTE]);
    user_stacks_.add_cpu(cpu, mappings[PITRACE_BUFFER_MTE]);
  }
}

Status DriverCollector::enable(uint32_t major) {
  return control(PITRACE_IOC_ENABLE, &major, "enable a major");
}

Status DriverCollector::disable(uint32_t major) {
  return control(PITRACE_IOC_DISABLE, &major, "disable a major");
}

Status DriverCollector::set_rate(uint32_t rate) {
  if (!tick_.is_time()) {
    pitrace_event by_time{};
    by_time.type = PITRACE_EVENT_TIME;
    if (const auto set = control(PITRACE_IOC_EVENT, &by_time, "tick by time again"); !set)
      return set;
    tick_ = {};
  }
  return control(PITRACE_IOC_RATE, &rate, "set the rate of ticks");
}

Status DriverCollector::set_event(const TickEvent& event) {
  pitrace_event request{};
  request.type = event.type;
  request.flags = event.flags;
  request.config = event.config;
  request.config1 = event.config1;
  request.config2 = event.config2;
  request.period = event.period;
  const int error = device_->control(PITRACE_IOC_EVENT, &request);
  if (error == -ENOTTY) return too_old("ticks by events");
  // The caller has checked that the trace is off: EBUSY means that the counters are in use.
  if (error != 0) return refused_event(-error, event.name);
  tick_ = event;
  return {};
}

Status DriverCollector::set_stack_resolver(const StackCopies& copies) {
  const int error = user_stacks_.set(copies);
  if (error == -ENOTTY) return too_old("copies of stacks");
  if (error != 0) return control_error(-error, "copy stacks");
  map_new_cpus();
  return {};
}

Status DriverCollector::set_stacks(const StackChoice& stacks) {
  // Copies have deeper user stacks than the module finds.
  const auto depth = std::min<uint32_t>(stacks.depth, PITRACE_STACK_DEPTH_MAX);
  pitrace_stacks request{stacks.which, depth};
  const int error = device_->control(PITRACE_IOC_STACKS, &request);
  if (error == -ENOTTY) return too_old("stacks");
  if (error != 0) return control_error(-error, "record stacks");
  user_stacks_.set_depth(stacks.depth);
  stacks_ = stacks;
  return {};
}

Status DriverCollector::start_threads() {
  const bool names = (info_.enabled[PITRACE_MAJOR_MTE >> 3] >> (PITRACE_MAJOR_MTE & 7) & 1) != 0;
  const auto look_for_cpus = [this] { map_new_cpus(); };
  Status started;
  if (names) started = cgroups_.start(trace_clock(), look_for_cpus);
  if (started) started = user_stacks_.start(look_for_cpus);
  if (!started) cgroups_.stop();
  return started;
}

Status DriverCollector::on() {
  if (const auto begun = cgroups_.begin(); !begun) return begun;
  user_stacks_.begin();
  const int error = device_->control(PITRACE_IOC_ON, nullptr);
  if (error == 0) {
    auto started = start_threads();
    if (!started) (void)device_->control(PITRACE_IOC_OFF, nullptr);
    return started;
  }
  // The module opens the counters when the trace is turned on.
  const bool of_event =
      error == -ENOENT || error == -EOPNOTSUPP || error == -ENOSPC || error == -EINVAL;
  if (!tick_.is_time() && of_event) return refused_event(-error, tick_.name);
  return control_error(-error, "start recording");
}

Status DriverCollector::off() {
  user_stacks_.end_names();
  const auto stopped = control(PITRACE_IOC_OFF, nullptr, "stop recording");
  if (!stopped) return stopped;
  map_new_cpus();
  cgroups_.finish();
  user_stacks_.finish();
  return {};
}

Status DriverCollector::suspend() {
  return control(PITRACE_IOC_SUSPEND, nullptr, "suspend recording");
}

Status DriverCollector::resume() {
  return control(PITRACE_IOC_RESUME, nullptr, "resume recording");
}

Status DriverCollector::discard() {
  const int error =
      user_stacks_.discard([this] { return device_->control(PITRACE_IOC_DISCARD, nullptr); });
  if (error != 0) return control_error(-error, "discard what was recorded");
  return {};
}

Result<CollectorStatus> DriverCollector::status() {
  if (const auto read = control(PITRACE_IOC_INFO, &info_, "report its state"); !read)
    return read.error();
  map_new_cpus();
  CollectorStatus status;
  status.on = info_.state == PITRACE_TRACE_ON;
  status.full = info_.full != 0;
  status.suspended = info_.suspended != 0;
  status.interval_id = info_.interval_id;
  status.scope = TRACE_SCOPE_SYSTEM;
  status.pid = pid_;
  status.trace_bytes = info_.trace_bytes;
  status.mte_bytes = info_.mte_bytes;
  status.rate = info_.rate;
  status.tick = tick_;
  status.stacks = stacks_;
  if (tick_.is_time() && info_.rate != 0) status.tick_ns = 1'000'000'000ull / info_.rate;
  status.start_time = info_.start_time;
  status.stop_time = info_.stop_time;
  for (uint32_t major = 0; major < 256; ++major)
    status.enabled[major] = (info_.enabled[major >> 3] >> (major & 7) & 1) != 0;
  for (const auto& probe : probes())
    if (probe.attached != 0) status.missed[probe_name(probe)] += probe.missed;
  return status;
}

std::vector<pitrace_probe> DriverCollector::probes() {
  constexpr uint32_t max_probes = 256;
  std::vector<pitrace_probe> list;
  for (uint32_t index = 0; index < max_probes; ++index) {
    pitrace_probe probe{};
    probe.index = index;
    if (device_->control(PITRACE_IOC_PROBE, &probe) != 0) break;
    list.push_back(probe);
  }
  return list;
}

bool DriverCollector::wraps(uint32_t kind) const {
  return info_.mode == PITRACE_MODE_WRAP && kind == PITRACE_BUFFER_TRACE;
}

std::vector<BufferView> DriverCollector::buffers() {
  const std::lock_guard lock(mapped_mutex_);
  std::vector<BufferView> views = user_stacks_.buffers();
  for (const BufferView& view : cgroups_.buffers()) views.push_back(view);
  // Names last: then they include those of all trace records in the views.
  for (const uint32_t kind : {PITRACE_BUFFER_TRACE, PITRACE_BUFFER_MTE})
    for (const auto& [cpu, mappings] : mapped_)
      if (!wraps(kind)) views.push_back(RingMemory(mappings[kind]).unread());
  return views;
}

void DriverCollector::copy_trace(const std::function<void(BufferCopy)>& take) {
  // The addresses stay valid without the lock, because mappings are only added.
  std::vector<const UniqueMapping*> all;
  {
    const std::lock_guard lock(mapped_mutex_);
    for (const auto& [cpu, mappings] : mapped_) all.push_back(&mappings[PITRACE_BUFFER_TRACE]);
  }
  for (const auto* mapping : all) take(RingMemory(*mapping).copy());
  user_stacks_.catch_up();
  user_stacks_.copy(take);
}

std::vector<BufferView> DriverCollector::unread() {
  map_new_cpus();
  return buffers();
}

void DriverCollector::consumed(const BufferView& view, size_t bytes) {
  if (view.kind == PITRACE_BUFFER_STACKS)
    return user_stacks_.consumed(view.cpu, view.position + bytes);
  if (view.cpu == nrm2::recorder_cpu) return cgroups_.consumed(view.position + bytes);
  if (view.kind == PITRACE_BUFFER_MTE) {
    BufferView names = view;
    names.records = view.records.first(bytes);
    cgroups_.see_names(names);
    if (user_stacks_.is_active()) user_stacks_.see_names(names);
  }
  pitrace_consumed request{view.kind, view.cpu, view.position + bytes};
  (void)device_->control(PITRACE_IOC_CONSUMED, &request);
}

std::vector<std::string> DriverCollector::cannot_see() {
  std::vector<std::string> list{
      "Code that runs with interrupts disabled: its time is charged to the instruction that "
      "enables "
      "them again."};
  for (const auto& probe : probes())
    if (probe.attached == 0)
      list.push_back(
          fmt::format("Records of the hook '{}': it is not attached; this kernel lacks it, or "
                      "kprobes or ftrace are switched off (see 'swtrace check').",
                      probe_name(probe)));
  return list;
}

std::vector<std::string> DriverCollector::notes() {
  std::vector<std::string> list = user_stacks_.notes();
  for (auto& note : cgroups_.notes()) list.push_back(std::move(note));
  if (info_.cpus_failed != 0)
    list.push_back(
        fmt::format("{} CPUs came online when there was no memory for their buffers; "
                    "they are not traced.",
                    info_.cpus_failed));
  return list;
}

}  // namespace pi::perfutil
