// SPDX-License-Identifier: MIT
// One process for each CPU, pinned to it, that writes numbered user hooks and logs the result of
// each.
#include "schedule_writers.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "perfutil.h"

namespace schedule {
namespace {

constexpr unsigned max_writers = 64;

bool pin_to(unsigned cpu) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(cpu, &only);
  return ::sched_setaffinity(0, sizeof only, &only) == 0;
}

}  // namespace

struct Writers::Shared {
  struct Control {
    std::atomic<uint32_t> order;  // odd: hold
    std::atomic<uint32_t> obeyed;
  };
  std::atomic<uint32_t> state;  // the low two bits: Recording; the rest counts changes
  std::atomic<uint32_t> burst, pause_us;
  std::atomic<int> failure;
  Control controls[max_writers];
  WriterLog logs[];
};

Writers::Writers(unsigned count) : count_(count) {
  if (count > max_writers) throw std::runtime_error("more CPUs than this program has writers for");
  // Only used pages take memory.
  void* memory = ::mmap(nullptr, sizeof(Shared) + count * sizeof(WriterLog), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no memory for the writers' logs");
  shared_ = static_cast<Shared*>(memory);
  set_pace(1, 1000);
  const pid_t parent = ::getpid();
  for (unsigned writer = 0; writer < count; ++writer) {
    shared_->controls[writer].order = 1;
    const pid_t pid = ::fork();
    if (pid < 0) throw std::runtime_error("a writer cannot be forked");
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(1);
      write(*shared_, writer);
    }
    pids_.push_back(pid);
  }
}

Writers::~Writers() {
  for (const pid_t pid : pids_) ::kill(pid, SIGKILL);
  for (const pid_t pid : pids_) ::waitpid(pid, nullptr, 0);
}

const WriterLog& Writers::log(unsigned writer) const {
  return shared_->logs[writer];
}

void Writers::hold(unsigned writer) {
  auto& control = shared_->controls[writer];
  if (control.order % 2 == 0) ++control.order;
  while (control.obeyed != control.order) {
    check();
    ::usleep(200);
  }
}

void Writers::release(unsigned writer) {
  auto& control = shared_->controls[writer];
  if (control.order % 2 == 1) ++control.order;
}

void Writers::set_recording(Recording recording) {
  shared_->state = ((shared_->state >> 2) + 1) << 2 | recording;
}

void Writers::set_pace(uint32_t burst, uint32_t pause_us) {
  shared_->burst = burst;
  shared_->pause_us = pause_us;
}

void Writers::check() const {
  if (const int rc = shared_->failure; rc != 0)
    throw std::runtime_error(std::string("a writer failed: ") + RcToString(rc));
}

// A number is consumed if its record may have been written.
void Writers::write(Shared& shared, unsigned writer) {
  auto& control = shared.controls[writer];
  WriterLog& log = shared.logs[writer];
  uint64_t number = 0;
  uint32_t left = 0;
  for (;;) {
    if (const uint32_t order = control.order; order % 2 == 1) {
      control.obeyed = order;
      while (control.order == order) ::usleep(500);
      // The affinity of a process is lost when its CPU was offline.
      if (!pin_to(writer)) shared.failure = PU_FAILURE;
      continue;
    }
    if (left == 0 || number == log_capacity) {
      ::usleep(shared.pause_us);
      left = shared.burst;
      continue;
    }
    --left;
    const uint32_t before = shared.state;
    const int rc =
        TraceHook(hook_major, writer, 3, 0, writer, writer, static_cast<uint32_t>(number));
    const uint32_t after = shared.state;
    if (rc == PU_ERROR_NO_BUFFER) {
      left = 0;
      continue;
    }
    if (rc != PU_SUCCESS && rc != PU_ERROR_BUFFER_FULL) {
      shared.failure = rc;
      ::pause();
    }
    const auto recording = before == after ? static_cast<uint8_t>(before & 3) : uint8_t{unsure};
    log.entries[number++] = recording | (rc == PU_SUCCESS ? 0 : WriterLog::refused);
    log.count = number;
  }
}

}  // namespace schedule
