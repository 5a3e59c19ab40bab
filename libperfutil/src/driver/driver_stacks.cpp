// SPDX-License-Identifier: MIT
// Replaces the module's copies of stacks by the frames that the application finds in them.
#include "driver_stacks.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <pi/decode.h>

#include "system/limits.h"
#include "system/system_facts.h"

namespace pi::perfutil {
namespace {

constexpr uint64_t copies_a_buffer = 128;
constexpr uint64_t min_frame_bytes = 4 << 20;  // of the buffer of frames of a CPU
constexpr int usual_wait_ms = 50;
constexpr int wait_for_tables_ms = 10;
constexpr int shortest_wait_ms = 2;

uint64_t to_pages(uint64_t bytes) {
  constexpr uint64_t page = PITRACE_HEAD_BYTES;
  return (bytes + page - 1) / page * page;
}

// What a record says about the memory of a process; path: its name, if it has one.
std::optional<pi_process_change> process_change(const RecordView& record, std::string& path) {
  pi_process_change change{};
  ModuleEntry module;
  LinkEntry link;
  if (decode_module(record, module)) {
    change.kind = PI_PROCESS_MAPPED;
    change.pid = module.pid;
    change.address = module.address;
    change.bytes = module.size;
    change.offset = module.offset;
    change.inode = module.inode;
    path = module.name;
    return change;
  }
  if (!decode_link(record, link)) return std::nullopt;
  change.pid = link.pid;
  if (record.minor() == PITRACE_MTE_CREATE) {
    change.kind = PI_PROCESS_EXECUTED;
  } else if (record.minor() == PITRACE_MTE_KILL) {
    change.kind = PI_PROCESS_ENDED;
  } else if (record.minor() == PITRACE_MTE_PARENT && link.flags != PITRACE_PARENT_EXISTING) {
    change.kind = PI_PROCESS_FORKED;
    change.parent = link.other;
  } else {
    return std::nullopt;
  }
  return change;
}

}  // namespace

int DriverStacks::set(const StackCopies& copies) {
  if (copies.bytes == 0 && !is_active()) return 0;
  pitrace_copies request{};
  request.bytes = copies.bytes;
  const pitrace_copied copied{copies.bytes, 0, 0};
  if (copies.bytes != 0)
    request.buffer_bytes = to_pages(copies_a_buffer * pitrace_size_copy(&copied));
  const std::lock_guard lock(mutex_);
  cpus_.clear();
  cpus_failed_.clear();
  unwinding_.set({});
  const int error = device_.control(PITRACE_IOC_COPIES, &request);
  if (error != 0) return error;
  buffer_bytes_ = request.buffer_bytes;
  unwinding_.set(copies);
  return 0;
}

void DriverStacks::add_cpu(uint32_t cpu, const UniqueMapping& names) {
  const std::lock_guard lock(mutex_);
  if (!is_active() || cpus_.count(cpu) != 0) return;
  Cpu added{};
  added.names = &names;
  added.copies = device_.map(PITRACE_BUFFER_STACKS, cpu, ring_mapping_bytes(buffer_bytes_));
  if (!added.copies) return;
  auto frames = UserBuffer::create(std::max(trace_bytes_, min_frame_bytes), cpu,
                                   PITRACE_BUFFER_STACKS, &recording_);
  if (!frames) {
    cpus_failed_.insert(cpu);
    return;
  }
  cpus_failed_.erase(cpu);
  added.frames.emplace(std::move(*frames));
  cpus_.emplace(cpu, std::move(added));
}

void DriverStacks::begin() {
  const std::lock_guard lock(mutex_);
  recording_.full = false;
  names_end_ = UINT64_MAX;
  horizon_ = 0;
  for (auto& [number, cpu] : cpus_) {
    cpu.in_names = cpu.in_copies = {};
    cpu.lost = cpu.refused = 0;
    cpu.frames->reset();
  }
  unwinding_.begin();
}

Status DriverStacks::start(std::function<void()> look_for_cpus) {
  if (!is_active()) return {};
  stop_event_ = ProcessFd(::eventfd(0, EFD_CLOEXEC));
  if (!stop_event_) return no_thread("finding the frames of stacks");
  try {
    thread_ = std::thread([this, look = std::move(look_for_cpus)] { run(look); });
  } catch (const std::system_error&) {
    return no_thread("finding the frames of stacks");
  }
  return {};
}

void DriverStacks::stop() {
  if (!thread_.joinable()) return;
  ::eventfd_write(stop_event_.get(), 1);
  thread_.join();
}

void DriverStacks::run(const std::function<void()>& look_for_cpus) {
  using Clock = std::chrono::steady_clock;
  auto next_look = Clock::now();
  int wait_ms = usual_wait_ms;
  for (;;) {
    pollfd waiting{stop_event_.get(), POLLIN, 0};
    if (::poll(&waiting, 1, wait_ms) > 0) return;
    try {
      if (Clock::now() >= next_look) {
        look_for_cpus();
        next_look = Clock::now() + std::chrono::seconds(1);
      }
      const std::lock_guard lock(mutex_);
      wait_ms = drain()                   ? shortest_wait_ms
                : unwinding_.is_waiting() ? wait_for_tables_ms
                                          : usual_wait_ms;
    } catch (const std::bad_alloc&) {
      // The module counts the copies for which there is no space then.
    }
  }
}

void DriverStacks::end_names() {
  const std::lock_guard lock(mutex_);
  names_end_ = trace_clock();
}

// Waits for tables without the lock, so that the reader of names need not wait.
void DriverStacks::finish() {
  if (!is_active()) return;
  stop();
  const auto end = std::chrono::steady_clock::now() + unwinding_.patience();
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      (void)drain();
      const bool over = std::chrono::steady_clock::now() > end;
      if (put_frames(UINT64_MAX, over ? StackUnwinding::Wait::none
                                      : StackUnwinding::Wait::at_end) == UINT64_MAX)
        return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(shortest_wait_ms));
  }
}

void DriverStacks::catch_up() {
  const std::lock_guard lock(mutex_);
  // The second one finds the frames of what the first one has read.
  (void)drain();
  (void)drain();
}

int DriverStacks::discard(const std::function<int()>& discard_records) {
  const std::lock_guard lock(mutex_);
  const int error = discard_records();
  if (error != 0 || !is_active()) return error;
  unwinding_.forget();
  for (auto& [number, cpu] : cpus_) {
    cpu.in_copies = {};
    cpu.lost = cpu.refused = 0;
    cpu.frames->reset();
  }
  recording_.full = false;
  return 0;
}

void DriverStacks::see_names(const BufferView& view) {
  const std::lock_guard lock(mutex_);
  const auto cpu = cpus_.find(view.cpu);
  if (cpu != cpus_.end()) read_names(cpu->second, view);
}

void DriverStacks::read_names(Cpu& cpu, const BufferView& view) {
  cpu.in_names.follow(
      view, [this](const RecordView& record, uint64_t time) { tell_resolver(record, time); });
}

void DriverStacks::tell_resolver(const RecordView& record, uint64_t time) {
  if (time > names_end_) return;
  std::string path;
  auto change = process_change(record, path);
  if (!change || change->pid == 0) return;
  change->time = time;
  change->path = path.c_str();
  unwinding_.change(*change);
}

bool DriverStacks::read_copies(Cpu& cpu) {
  const BufferView view = RingMemory(cpu.copies).unread();
  cpu.in_copies.follow(view, [&](const RecordView& record, uint64_t time) {
    StackCopy copy;
    if (!decode_stack_copy(record, copy)) return;
    HeldStack held;
    held.time = time;
    held.has_copy = true;
    held.id = copy.id;
    held.copy.pid = copy.pid;
    held.copy.tid = copy.tid;
    static_assert(PI_STACK_REGISTERS == PITRACE_STACK_REGISTERS);
    std::copy(std::begin(copy.registers), std::end(copy.registers), held.copy.registers);
    held.stack = unwinding_.take_buffer();
    held.stack.assign(copy.stack.begin(), copy.stack.end());
    held.stack.insert(held.stack.end(), copy.interrupted.begin(), copy.interrupted.end());
    held.interrupted = copy.interrupted.size();
    held.copy.interrupted_at = copy.interrupted_at;
    unwinding_.hold(view.cpu, std::move(held));
  });
  pitrace_consumed consumed{PITRACE_BUFFER_STACKS, view.cpu, view.position + view.records.size()};
  (void)device_.control(PITRACE_IOC_CONSUMED, &consumed);
  const auto& lost = view.counts.lost;
  const uint64_t dropped = lost[PITRACE_LOST_FULL] + lost[PITRACE_LOST_STOPPED];
  cpu.frames->count_lost_by_source(dropped - cpu.lost);
  cpu.lost = dropped;
  cpu.refused = lost[PITRACE_LOST_SOURCE];
  return view.records.size() > buffer_bytes_ / 8;
}

bool DriverStacks::drain() {
  const uint64_t now = trace_clock();
  bool full = false;
  for (auto& [number, cpu] : cpus_) read_names(cpu, RingMemory(*cpu.names).unread());
  for (auto& [number, cpu] : cpus_) full |= read_copies(cpu);
  // Whoever has stored a record up to the last horizon has finished it since.
  (void)put_frames(horizon_, StackUnwinding::Wait::usual);
  horizon_ = now;
  return full;
}

uint64_t DriverStacks::put_frames(uint64_t until, StackUnwinding::Wait wait) {
  return unwinding_.advance(
      until, wait, [this](uint32_t cpu, const HeldStack& held, const ResolvedStack* resolved) {
        if (resolved)
          cpus_.at(cpu).frames->put_user_frames(held.time, held.id, resolved->flags,
                                                resolved->frames, resolved->by_table);
      });
}

std::vector<BufferView> DriverStacks::buffers() {
  const std::lock_guard lock(mutex_);
  std::vector<BufferView> views;
  if (recording_.mode == PITRACE_MODE_WRAP) return views;
  for (const auto& [number, cpu] : cpus_) views.push_back(cpu.frames->unread());
  return views;
}

void DriverStacks::consumed(uint32_t cpu, uint64_t position) {
  const std::lock_guard lock(mutex_);
  cpus_.at(cpu).frames->consume(position);
}

void DriverStacks::copy(const std::function<void(BufferCopy)>& take) {
  const std::lock_guard lock(mutex_);
  for (const auto& [number, cpu] : cpus_) take(cpu.frames->copy());
}

std::string DriverStacks::frame_names(uint32_t& known) {
  const std::lock_guard lock(mutex_);
  return unwinding_.frame_names(known);
}

void DriverStacks::forget_frame_names() {
  const std::lock_guard lock(mutex_);
  unwinding_.begin();
}

std::vector<std::string> DriverStacks::notes() {
  const std::lock_guard lock(mutex_);
  auto list = unwinding_.notes();
  uint64_t lost = 0, refused = 0;
  for (const auto& [number, cpu] : cpus_) {
    lost += cpu.lost;
    refused += cpu.refused;
  }
  if (lost != 0)
    list.push_back(
        fmt::format("{} user stack(s) follow frame pointers, since the recorder had no time for "
                    "their copies.",
                    lost));
  if (refused != 0)
    list.push_back(
        fmt::format("{} user stack(s) follow frame pointers, since this user may not debug their "
                    "processes.",
                    refused));
  if (!cpus_failed_.empty())
    list.push_back(
        fmt::format("There was no memory for the user stacks of {} CPU(s).", cpus_failed_.size()));
  return list;
}

}  // namespace pi::perfutil
