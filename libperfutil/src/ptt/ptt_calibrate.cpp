// SPDX-License-Identifier: MIT
// Measures the residual overhead of interrupts and context switches: the cycles that they still
// cost the interrupted thread.
#include "ptt_calibrate.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <limits>

#include "perfutil_ptt.h"
#include "system/system_facts.h"

namespace pi::perfutil {
namespace {

constexpr uint64_t none = std::numeric_limits<uint64_t>::max();

__u16 clipped(uint64_t value) {
  return static_cast<__u16>(std::min<uint64_t>(value, std::numeric_limits<__u16>::max()));
}

struct Reading {
  uint64_t cycles;
  uint64_t changes;  // the slot's counter at that moment
};

Reading read(const pitrace_ptt_slot& slot) {
  const volatile pitrace_ptt_slot& now = slot;
  Reading reading{};
  do {
    reading.changes = now.changes;
    (void)PiPttReadCycles(&slot, &reading.cycles);
  } while (reading.changes != now.changes);
  return reading;
}

// What consecutive readings show until an interrupt or a switch comes between two of them.
struct Watch {
  uint64_t between = none;  // minimum of cycles between two readings without a change
  uint64_t last = 0;        // cycles between the last two readings
  uint64_t changes = 0;     // the slot's changes between them
};

// Processes that compete for the CPU of the thread that creates them, which is bound to it
// meanwhile.
class Competitors {
 public:
  Competitors() {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    placed_ = ::sched_getaffinity(0, sizeof before_, &before_) == 0 &&
              ::sched_setaffinity(0, sizeof one, &one) == 0;
    if (placed_)
      for (pid_t& process : processes_) process = compete();
  }
  ~Competitors() {
    for (const pid_t process : processes_)
      if (process > 0) {
        (void)::kill(process, SIGKILL);
        (void)::waitpid(process, nullptr, __WALL);
      }
    if (placed_) (void)::sched_setaffinity(0, sizeof before_, &before_);
  }
  Competitors(const Competitors&) = delete;
  Competitors& operator=(const Competitors&) = delete;
  bool are_there() const {
    return std::all_of(std::begin(processes_), std::end(processes_),
                       [](pid_t process) { return process > 0; });
  }

 private:
  // As fork(), but invisible to the program: no atfork handlers run, and no SIGCHLD is sent.
  static pid_t compete() {
    const pid_t self = ::getpid();
    const auto process = static_cast<pid_t>(::syscall(SYS_clone, 0, nullptr, nullptr, nullptr, 0));
    if (process != 0) return process;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (::getppid() == self)
      for (int i = 0; i < 1'000'000'000; ++i) asm volatile("");
    ::_exit(0);
  }

  cpu_set_t before_{};
  pid_t processes_[4] = {};
  bool placed_ = false;
};

// Reads until something changes, or for a limited time. Returns the last reading.
Reading watch(const pitrace_ptt_slot& slot, Watch& seen) {
  constexpr int rounds = 100'000;
  Reading before = read(slot);
  seen.changes = 0;
  for (int i = 0; i < rounds; ++i) {
    const Reading after = read(slot);
    // Not in the first round: the entry to the loop takes less time than a round.
    if (i != 0) {
      seen.last = after.cycles - before.cycles;
      seen.changes = after.changes - before.changes;
      if (seen.changes != 0) return after;
      seen.between = std::min(seen.between, seen.last);
    }
    before = after;
  }
  return before;
}

}  // namespace

void ResidueMeter::add(uint32_t vector, uint32_t softs, uint64_t left) {
  ++interrupts_;
  const auto [entry, fresh] = least_.try_emplace({vector, softs}, left);
  if (!fresh) entry->second = std::min(entry->second, left);
}

uint64_t ResidueMeter::soft_step(uint32_t softs) const {
  uint64_t step = none;
  for (const auto& [kind, left] : least_) {
    const auto without = least_.find({kind.first, softs - 1});
    if (kind.second == softs && without != least_.end())
      step = std::min(step, left - std::min(left, without->second));
  }
  return step == none ? 0 : step;
}

pitrace_ptt_residue ResidueMeter::result() const {
  pitrace_ptt_residue residue{};
  const uint64_t first = soft_step(1), next = soft_step(2);
  residue.first_soft = clipped(first);
  residue.next_soft = clipped(next);
  uint64_t hard[std::size(residue.hard)];
  std::fill(std::begin(hard), std::end(hard), none);
  for (const auto& [kind, left] : least_) {
    const auto [vector, softs] = kind;
    if (vector >= std::size(hard)) continue;
    const uint64_t soft = softs == 0 ? 0 : first + (softs - 1) * next;
    hard[vector] = std::min(hard[vector], left - std::min(left, soft));
  }
  for (size_t i = 0; i < std::size(hard); ++i)
    residue.hard[i] = hard[i] == none ? 0 : clipped(hard[i]);
  return residue;
}

ResidueMeter measure_residue(const pitrace_ptt_slot& slot, const MeasuringTime& time) {
  ResidueMeter meter;
  Watch seen;
  const volatile pitrace_ptt_slot& now = slot;
  const uint64_t begin = trace_clock();
  do {
    const uint64_t dispatches = now.dispatches;
    const Reading after = watch(slot, seen);
    const uint32_t vector = now.last_vector, softs = now.last_softs;
    // Exactly one complete interrupt, and nothing since.
    if (seen.changes == 1 + softs && now.dispatches == dispatches && now.changes == after.changes &&
        seen.last > seen.between && seen.between != none)
      meter.add(vector, softs, seen.last - seen.between);
  } while (!time.is_over(begin, trace_clock(), meter.interrupts()));
  return meter;
}

std::vector<uint64_t> measure_dispatches(const pitrace_ptt_slot& slot, const MeasuringTime& time) {
  std::vector<uint64_t> left;
  const Competitors competitors;
  if (!competitors.are_there()) return left;
  Watch seen;
  const volatile pitrace_ptt_slot& now = slot;
  const uint64_t begin = trace_clock();
  do {
    const uint64_t dispatches = now.dispatches;
    const Reading after = watch(slot, seen);
    if (now.dispatches == dispatches + 1 && now.changes == after.changes && seen.between != none &&
        seen.last > seen.between)
      left.push_back(seen.last - seen.between);
  } while (!time.is_over(begin, trace_clock(), left.size()));
  std::sort(left.begin(), left.end());
  return left;
}

}  // namespace pi::perfutil
