// SPDX-License-Identifier: MIT
// The processes with a runtime, by their ids.
#ifndef SWTRACE_RUNTIME_PROCESSES_H
#define SWTRACE_RUNTIME_PROCESSES_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "memory_thread.h"
#include "runtime_process.h"

namespace pi::swtrace {

class RuntimeProcesses {
 public:
  explicit RuntimeProcesses(std::string proc = "/proc") : proc_(std::move(proc)) {}

  // Null: there are too many; it is counted then.
  RuntimeProcess* of(uint32_t pid, const MappedRuntime& runtime);
  // The process has ended. Stacks of before may still come.
  void end(uint32_t pid);
  // The id belongs to another program now.
  void forget(uint32_t pid) { processes_.erase(pid); }
  void clear();
  // From now on interpreted methods get names.
  void use_names(std::shared_ptr<FrameNames> names) { names_ = std::move(names); }

  // Java virtual machines whose compiled code has no frame pointers: the first, and how many.
  struct Lacking {
    uint32_t first = 0;
    unsigned count = 0;
  };
  void note_lacking(uint32_t pid, const RuntimeProcess& process);
  Lacking lacking() const { return lacking_; }

  // Processes that were too many, each once.
  size_t refused() const { return refused_.size(); }

  MemoryThread& thread() { return thread_; }
  unsigned hanging() const { return thread_.hanging(); }

 private:
  struct Entry {
    std::shared_ptr<RuntimeProcess> process;
    bool ended = false, is_noted = false;
  };

  const std::string proc_;
  MemoryThread thread_;
  std::shared_ptr<FrameNames> names_;
  std::unordered_map<uint32_t, Entry> processes_;
  Lacking lacking_;
  std::unordered_set<uint32_t> refused_;
};

}  // namespace pi::swtrace

#endif  // SWTRACE_RUNTIME_PROCESSES_H
