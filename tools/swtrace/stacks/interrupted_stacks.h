// SPDX-License-Identifier: MIT
// Reads the stacks that signal handlers on stacks of their own have interrupted.
#ifndef SWTRACE_INTERRUPTED_STACKS_H
#define SWTRACE_INTERRUPTED_STACKS_H

#include <array>
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
#include "signal_frame_x86.h"

namespace pi::swtrace {

struct InterruptedStack {
  // Where it is, and what the kernel has saved for the handler's return.
  struct Place {
    uint32_t pid = 0, tid = 0;
    uint64_t address = 0;
    uint64_t signal_frame = 0;
    std::array<std::byte, signal_frame_bytes> saved{};
  };

  explicit InterruptedStack(const Place& where) : place(where) {}

  const Place place;
  // Written by the job that reads it, before is_done.
  std::vector<std::byte> bytes;  // from there on; none: it could not be read, or is another one
  std::atomic<bool> is_done = false;
};

// Used by one thread. A stack is read some time after the tick. Only one is accepted whose thread
// is still in the same handler: what was saved is the same, and signals are blocked that were not.
class InterruptedStacks {
 public:
  explicit InterruptedStacks(std::string proc = "/proc",
                             MemoryThread::Clock::duration patience = std::chrono::seconds(1))
      : proc_(std::move(proc)), thread_(patience) {}

  // Null: too many processes, or stacks that are still in use, or the reads of that process take
  // too long.
  std::shared_ptr<const InterruptedStack> read(const InterruptedStack::Place& place);
  // The process has ended, or executes another program.
  void forget(uint32_t pid) { processes_.erase(pid); }
  void clear() { processes_.clear(); }
  // To be called while one is waited for.
  void check() { thread_.check(); }

 private:
  struct Process {
    explicit Process(std::string path) : memory(std::move(path)) {}
    ProcessMemory memory;
    std::vector<std::weak_ptr<const InterruptedStack>> used;
    std::atomic<MemoryThread::Clock::duration> over{};  // time of reads, less what each may take
  };

  // Null: there are too many.
  std::shared_ptr<Process> process(const InterruptedStack::Place& place);
  static bool has_space(std::vector<std::weak_ptr<const InterruptedStack>>& used, size_t most);
  static void read(Process& process, InterruptedStack& stack, const std::string& proc);

  const std::string proc_;
  MemoryThread thread_;  // not that of runtimes: a program can make it hang
  std::unordered_map<uint32_t, std::shared_ptr<Process>> processes_;
  std::vector<std::weak_ptr<const InterruptedStack>> used_;
};

}  // namespace pi::swtrace

#endif  // SWTRACE_INTERRUPTED_STACKS_H
