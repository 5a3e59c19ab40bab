// SPDX-License-Identifier: MIT
// Cycles per instruction: of every CPU and the system, of one thread, or of a process and all that
// it starts.
#include "cpi.h"

#include <linux/perf_event.h>

#include <algorithm>

#include "system/kernel_device.h"
#include "system/system_facts.h"
#include "system/tsc_x86.h"

namespace pi::perfutil {
namespace {

// The order in which the counters are opened and read.
enum { cycles_place, instructions_place };

uint64_t part_of(uint64_t whole, uint64_t part, uint64_t of) {
  if (of == 0) return 0;
  return static_cast<uint64_t>(static_cast<unsigned __int128>(whole) * std::min(part, of) / of);
}

double ratio(uint64_t cycles, uint64_t instructions) {
  return instructions == 0 ? 0 : static_cast<double>(cycles) / static_cast<double>(instructions);
}

void add(pi_cpi& sum, const pi_cpi& one) {
  sum.counted_ns += one.counted_ns;
  sum.cycles += one.cycles;
  sum.busy_cycles += one.busy_cycles;
  sum.active_cycles += one.active_cycles;
  sum.instructions += one.instructions;
}

}  // namespace

void set_ratios(pi_cpi& cpi) {
  cpi.raw_cpi = ratio(cpi.cycles, cpi.instructions);
  cpi.scaled_cpi = ratio(cpi.busy_cycles, cpi.instructions);
  cpi.active_cpi = ratio(cpi.active_cycles, cpi.instructions);
}

uint64_t busy_part(uint64_t cycles, const ai_counters& before, const ai_counters& now) {
  const uint64_t all = now.CurTime - before.CurTime;
  const uint64_t idle = now.IdleTime - before.IdleTime;
  return part_of(cycles, all - std::min(idle, all), all);
}

std::vector<TickEvent> CpiMeter::events() const {
  std::vector<TickEvent> events(2);
  for (auto& event : events) {
    event.type = PERF_TYPE_HARDWARE;
    (void)limit_to(event, priv_);
  }
  events[cycles_place].name = "cpu-cycles";
  events[cycles_place].config = PERF_COUNT_HW_CPU_CYCLES;
  events[instructions_place].name = "instructions";
  events[instructions_place].config = PERF_COUNT_HW_INSTRUCTIONS;
  return events;
}

Status CpiMeter::open_system() {
  auto system = SystemCounters::open(events());
  if (!system) return system.error();
  system_ = std::move(*system);
  if ((mode_ & PI_CPI_SCALED) == 0) return {};
  auto source = open_above_idle(std::make_unique<KernelDevice>(), configured_cpus());
  if (!source) return source.error();
  above_idle_ = std::move(*source);
  return {};
}

Status CpiMeter::open_thread(const CounterTarget& target) {
  auto thread = CounterGroup::open(events(), target);
  if (!thread) return thread.error();
  thread_ = std::move(*thread);
  thread_base_.values.resize(2);
  return {};
}

Result<std::unique_ptr<CpiMeter>> CpiMeter::open(int mode, int priv) {
  std::unique_ptr<CpiMeter> meter(new CpiMeter(mode, priv));
  if (auto opened = meter->open_system(); !opened) return opened.error();
  if ((mode & PI_CPI_THREAD) == 0) return meter;
  CounterTarget self;
  self.pid = 0;
  if (auto opened = meter->open_thread(self); !opened) return opened.error();
  if (auto started = meter->thread_->start(); !started) return started.error();
  return meter;
}

Result<std::unique_ptr<CpiMeter>> CpiMeter::open_process(int pid, int priv) {
  std::unique_ptr<CpiMeter> meter(new CpiMeter(PI_CPI_THREAD, priv));
  CounterTarget target;
  target.pid = pid;
  target.inherit = true;
  target.on_exec = true;
  if (auto opened = meter->open_thread(target); !opened) return opened.error();
  meter->start_ns_ = trace_clock();
  meter->start_cycles_ = processor_cycles();
  meter->started_ = true;
  return meter;
}

Status CpiMeter::start() {
  if (above_idle_) {
    auto idle = above_idle_->read();
    if (!idle) return idle.error();
    idle_base_ = std::move(*idle);
  }
  if (system_) {
    if (!system_->counting())
      if (auto started = system_->start(); !started) return started;
    if (auto reset = system_->reset(); !reset) return reset;
  }
  if (thread_) {
    auto now = thread_->read();
    if (!now) return now.error();
    thread_base_ = std::move(*now);
  }
  start_ns_ = trace_clock();
  start_cycles_ = processor_cycles();
  started_ = true;
  return {};
}

Status CpiMeter::read_system(uint64_t elapsed_cycles) {
  const auto counts = system_->read();
  if (!counts) return counts.error();
  AboveIdleCounters idle;
  if (above_idle_) {
    auto now = above_idle_->read();
    if (!now) return now.error();
    idle = std::move(*now);
  }
  for (const auto& [cpu, count] : *counts) {
    pi_cpi one{};
    one.cpu = static_cast<int>(cpu);
    one.counted_ns = count.counted_ns;
    one.cycles = part_of(elapsed_cycles, count.counted_ns, data_.elapsed_ns);
    one.active_cycles = count.values[cycles_place];
    one.instructions = count.values[instructions_place];
    if (above_idle_) one.busy_cycles = busy_part(one.cycles, idle_base_[cpu], idle[cpu]);
    add(data_.system, one);
    set_ratios(one);
    cpus_.push_back(one);
  }
  set_ratios(data_.system);
  return {};
}

Status CpiMeter::read_thread() {
  const auto now = thread_->read();
  if (!now) return now.error();
  pi_cpi& thread = data_.thread;
  thread.counted_ns = now->counted_ns - thread_base_.counted_ns;
  thread.active_cycles = now->values[cycles_place] - thread_base_.values[cycles_place];
  thread.instructions = now->values[instructions_place] - thread_base_.values[instructions_place];
  set_ratios(thread);
  return {};
}

Result<const cpi_data*> CpiMeter::get() {
  if (!started_) return Error{PU_ERROR_NOT_INITIALIZED, "Nothing is measured yet: call CpiStart."};
  data_ = {};
  cpus_.clear();
  data_.mode = mode_;
  data_.system.cpu = data_.thread.cpu = ALL_CPUS;
  const uint64_t cycles = processor_cycles() - start_cycles_;
  data_.elapsed_ns = trace_clock() - start_ns_;
  if (thread_)
    if (auto read = read_thread(); !read) return read.error();
  if (system_)
    if (auto read = read_system(cycles); !read) return read.error();
  data_.cpu_count = static_cast<int>(cpus_.size());
  data_.cpus = cpus_.data();
  return &data_;
}

}  // namespace pi::perfutil
