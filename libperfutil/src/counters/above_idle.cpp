// SPDX-License-Identifier: MIT
// AboveIdle: idle, busy and interrupt time of each CPU, from the module or from /proc/stat.
#include "above_idle.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>
#include <pitrace/abi.h>

#include "proc/proc_stat.h"
#include "system/system_facts.h"
#include "system/text.h"

namespace pi::perfutil {
namespace {

class HookSource final : public AboveIdleSource {
 public:
  HookSource(std::unique_ptr<Device> device, uint32_t cpus)
      : device_(std::move(device)), cpus_(cpus) {}
  ~HookSource() override { (void)device_->control(PITRACE_IOC_AI_OFF, nullptr); }

  int kind() const override { return PI_AI_HOOKS; }

  Result<AboveIdleCounters> read() override {
    AboveIdleCounters counters;
    for (uint32_t cpu = 0; cpu < cpus_; ++cpu) {
      pitrace_ai now{};
      now.cpu = cpu;
      const int error = device_->control(PITRACE_IOC_AI_READ, &now);
      if (error == -ENXIO) continue;
      if (error != 0)
        return Error{PU_FAILURE, fmt::format("The pitrace module cannot report the times of "
                                             "CPU {} ({}).",
                                             cpu, errno_text(-error))};
      counters[cpu] = {now.now,
                       now.idle,
                       now.busy,
                       now.interrupt,
                       static_cast<uint32_t>(now.dispatches),
                       static_cast<uint32_t>(now.interrupts)};
    }
    return counters;
  }

 private:
  std::unique_ptr<Device> device_;
  uint32_t cpus_;
};

// The kernel measures idle time, but only samples busy time, at its clock tick. So busy time is the
// elapsed time without idle and interrupt time.
class ProcStatSource final : public AboveIdleSource {
 public:
  explicit ProcStatSource(std::string path) : path_(std::move(path)) {}

  int kind() const override { return PI_AI_PROC_STAT; }

  Result<AboveIdleCounters> read() override {
    const auto text = read_text(path_);
    const uint64_t now = trace_clock();
    const auto times = parse_proc_stat(text.value_or(""));
    if (times.empty()) return Error{PU_FAILURE, fmt::format("'{}' lists no CPU.", path_)};
    // Drop the state of CPUs that are offline: their offline time is not counted.
    std::erase_if(states_, [&](const auto& entry) { return times.count(entry.first) == 0; });
    AboveIdleCounters counters;
    for (const auto& [cpu, time] : times) counters[cpu] = advance(cpu, time, now);
    return counters;
  }

 private:
  struct State {
    CpuTimes times;
    uint64_t time = 0;
    ai_counters sums{};
    uint64_t owed_idle = 0;  // reported by the kernel, more than the elapsed time; carried over
    uint64_t owed_interrupt = 0;
  };

  // The kernel rounds to its ticks, and the clock is read a little later: time that exceeds the
  // elapsed time is carried over to the next reading.
  ai_counters advance(uint32_t cpu, const CpuTimes& times, uint64_t now) {
    const auto [entry, fresh] = states_.try_emplace(cpu, State{times, now});
    State& state = entry->second;
    if (!fresh) {
      const uint64_t elapsed = now - state.time;
      state.owed_interrupt +=
          (times.interrupt - std::min(times.interrupt, state.times.interrupt)) * tick_ns_;
      state.owed_idle += (times.idle - std::min(times.idle, state.times.idle)) * tick_ns_;
      const uint64_t interrupt = std::min(state.owed_interrupt, elapsed);
      const uint64_t idle = std::min(state.owed_idle, elapsed - interrupt);
      state.owed_interrupt -= interrupt;
      state.owed_idle = std::min(state.owed_idle - idle, tick_ns_);
      state.sums.CurTime += elapsed;
      state.sums.IntrTime += interrupt;
      state.sums.IdleTime += idle;
      state.sums.BusyTime += elapsed - interrupt - idle;
    }
    state.times = times;
    state.time = now;
    return state.sums;
  }

  std::string path_;
  uint64_t tick_ns_ = 1'000'000'000ull / static_cast<uint64_t>(::sysconf(_SC_CLK_TCK));
  std::map<uint32_t, State> states_;
};

}  // namespace

Result<std::unique_ptr<AboveIdleSource>> open_above_idle(std::unique_ptr<Device> device,
                                                         uint32_t cpus,
                                                         const std::string& stat_path) {
  pitrace_info info{};
  if (device->open() == 0 && device->control(PITRACE_IOC_INFO, &info) == 0 &&
      info.abi_major == PITRACE_ABI_MAJOR && device->control(PITRACE_IOC_AI_ON, nullptr) == 0)
    return std::unique_ptr<AboveIdleSource>(new HookSource(std::move(device), cpus));
  auto source = std::make_unique<ProcStatSource>(stat_path);
  // The first reading is the base of later ones.
  if (const auto first = source->read(); !first)
    return Error{PU_ERROR_NOT_SUPPORTED,
                 "AboveIdle has no source: this user cannot use the pitrace module, and " +
                     first.error().message};
  return std::unique_ptr<AboveIdleSource>(std::move(source));
}

}  // namespace pi::perfutil
