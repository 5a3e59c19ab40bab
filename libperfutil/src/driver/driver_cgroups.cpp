// SPDX-License-Identifier: MIT
// Reads the control groups of processes for traces of the module.
#include "driver_cgroups.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <pi/decode.h>
#include <pi/nrm2.h>

#include "proc/cgroup.h"
#include "proc/proc_snapshot.h"
#include "source/ring_memory.h"
#include "system/limits.h"

namespace pi::perfutil {
namespace {

constexpr int round_ms = 100;
// Programs that start all the time must not take more of a processor than this part of each round.
constexpr auto time_of_round = std::chrono::milliseconds(20);
constexpr auto time_of_start = std::chrono::seconds(2);
constexpr auto time_of_end = std::chrono::milliseconds(200);
constexpr size_t most_waiting = 10'000;

// The kernel's constant number of the initial PID namespace (PROC_PID_INIT_INO).
constexpr ino_t initial_pid_namespace = 0xEFFFFFFC;

bool is_in_pid_namespace(const std::string& proc) {
  struct stat facts {};
  return ::stat((proc + "/self/ns/pid").c_str(), &facts) == 0 &&
         facts.st_ino != initial_pid_namespace;
}

}  // namespace

Status DriverCgroups::begin() {
  const std::lock_guard lock(mutex_);
  if (!records_) {
    auto records = UserBuffer::create(bytes_, nrm2::recorder_cpu, PITRACE_BUFFER_MTE, &recording_);
    if (!records) return records.error();
    records_.emplace(std::move(*records));
  }
  recording_.full = false;
  records_->reset();
  for (auto& [number, cpu] : cpus_) cpu.cursor = {};
  waiting_.clear();
  unread_ = 0;
  has_other_ids_ = is_in_pid_namespace(proc_);
  running_ = has_other_ids_ ? std::vector<uint32_t>() : list_processes(proc_, 0);
  return {};
}

void DriverCgroups::add_cpu(uint32_t cpu, const UniqueMapping& names) {
  const std::lock_guard lock(mutex_);
  cpus_.try_emplace(cpu, Cpu{&names, {}});
}

Status DriverCgroups::start(uint64_t begin, std::function<void()> look_for_cpus) {
  begin_ = begin;
  if (has_other_ids_) return {};
  stop_event_ = ProcessFd(::eventfd(0, EFD_CLOEXEC));
  if (!stop_event_) return no_thread("reading control groups");
  try {
    thread_ = std::thread([this, look = std::move(look_for_cpus)] { run(look); });
  } catch (const std::system_error&) {
    return no_thread("reading control groups");
  }
  return {};
}

void DriverCgroups::stop() {
  if (!thread_.joinable()) return;
  ::eventfd_write(stop_event_.get(), 1);
  thread_.join();
}

void DriverCgroups::finish() {
  if (!thread_.joinable()) return;
  stop();
  read_waiting(Clock::now() + time_of_end);
}

void DriverCgroups::run(const std::function<void()>& look_for_cpus) {
  auto next_look = Clock::now();
  try {
    read_running();
  } catch (const std::bad_alloc&) {
    // Children of a process without a control group have none either.
  }
  for (;;) {
    pollfd waiting{stop_event_.get(), POLLIN, 0};
    if (::poll(&waiting, 1, round_ms) > 0) return;
    try {
      if (Clock::now() >= next_look) {
        look_for_cpus();
        next_look = Clock::now() + std::chrono::seconds(1);
      }
      read_waiting(Clock::now() + time_of_round);
    } catch (const std::bad_alloc&) {
      // The next round tries again.
    }
  }
}

void DriverCgroups::read_running() {
  auto deadline = Clock::now() + time_of_start;
  bool stopping = false;
  for (const uint32_t pid : running_) {
    pollfd waiting{stop_event_.get(), POLLIN, 0};
    if (!stopping && ::poll(&waiting, 1, 0) > 0) {
      stopping = true;
      deadline = std::min(deadline, Clock::now() + time_of_end);
    }
    if (Clock::now() < deadline) {
      put(pid, begin_);
      continue;
    }
    const std::lock_guard lock(mutex_);
    ++unread_;
  }
}

// The oldest first, since a stream's times do not run backwards.
void DriverCgroups::read_waiting(Clock::time_point deadline) {
  std::vector<std::pair<uint64_t, uint32_t>> now;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [number, cpu] : cpus_) follow(cpu, RingMemory(*cpu.names).unread());
    for (const auto& [pid, time] : waiting_) now.emplace_back(time, pid);
    waiting_.clear();
  }
  std::ranges::sort(now);
  for (const auto& [time, pid] : now) {
    if (Clock::now() < deadline) {
      put(pid, time);
      continue;
    }
    const std::lock_guard lock(mutex_);
    ++unread_;
  }
}

void DriverCgroups::put(uint32_t pid, uint64_t time) {
  const auto cgroup = read_cgroup(proc_, pid);
  if (!cgroup) return;
  const std::lock_guard lock(mutex_);
  records_->put_name(time, PITRACE_MTE_CGROUP, {pid, cgroup->hierarchy}, cgroup->path);
}

void DriverCgroups::follow(Cpu& cpu, const BufferView& view) {
  cpu.cursor.follow(view, [this](const RecordView& record, uint64_t time) {
    LinkEntry link;
    if (!decode_link(record, link)) return;
    if (record.minor() == PITRACE_MTE_KILL) {
      waiting_.erase(link.pid);
    } else if (record.minor() == PITRACE_MTE_CREATE) {
      if (waiting_.size() < most_waiting || waiting_.count(link.pid) != 0)
        waiting_[link.pid] = time;
      else
        ++unread_;
    }
  });
}

void DriverCgroups::see_names(const BufferView& view) {
  const std::lock_guard lock(mutex_);
  if (const auto cpu = cpus_.find(view.cpu); cpu != cpus_.end()) follow(cpu->second, view);
}

std::vector<BufferView> DriverCgroups::buffers() {
  const std::lock_guard lock(mutex_);
  if (!records_) return {};
  return {records_->unread()};
}

void DriverCgroups::consumed(uint64_t position) {
  const std::lock_guard lock(mutex_);
  records_->consume(position);
}

std::vector<std::string> DriverCgroups::notes() {
  const std::lock_guard lock(mutex_);
  if (has_other_ids_)
    return {"The recorder is in a PID namespace: the control groups of processes are not known."};
  if (unread_ == 0) return {};
  return {
      fmt::format("There was no time to read the control groups of {} process{}: those of their "
                  "parents are shown.",
                  unread_, unread_ == 1 ? "" : "es")};
}

}  // namespace pi::perfutil
