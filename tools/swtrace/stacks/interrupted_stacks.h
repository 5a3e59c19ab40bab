// SPDX-License-Identifier: MIT
// Reads the stacks that signal handlers on stacks of their own have interrupted.
#ifndef SWTRACE_INTERRUPTED_STACKS_H
#define SWTRACE_INTERRUPTED_STACKS_H

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "memory_thread.h"
#include "process_memory.h"

namespace pi::swtrace {

// Written by the job that reads it, before is_done.
struct InterruptedStack {
  explicit InterruptedStack(uint64_t from) : address(from) {}

  const uint64_t address;
  std::vector<std::byte> bytes;  // from there on; none: it could not be read
  std::atomic<bool> is_done = false;
};

// Used by one thread. What is read is the stack of a moment after the tick.
class InterruptedStacks {
 public:
  explicit InterruptedStacks(std::string proc = "/proc",
                             MemoryThread::Clock::duration patience = std::chrono::seconds(1))
      : proc_(std::move(proc)), thread_(patience) {}

  // Null: too many processes, or stacks that are still in use.
  std::shared_ptr<const InterruptedStack> read(uint32_t pid, uint64_t address);
  // The process has ended, or executes another program.
  void forget(uint32_t pid) { processes_.erase(pid); }
  void clear() { processes_.clear(); }
  // To be called while one is waited for.
  void check() { thread_.check(); }

 private:
  struct Process {
    explicit Process(std::string path) : memory(std::move(path)) {}
    ProcessMemory memory;
  };

  // Null: there are too many.
  std::shared_ptr<Process> process(uint32_t pid);
  bool may_read();

  const std::string proc_;
  MemoryThread thread_;  // not that of runtimes: a program can make it hang
  std::unordered_map<uint32_t, std::shared_ptr<Process>> processes_;
  std::vector<std::weak_ptr<const InterruptedStack>> used_;
};

}  // namespace pi::swtrace

#endif  // SWTRACE_INTERRUPTED_STACKS_H
