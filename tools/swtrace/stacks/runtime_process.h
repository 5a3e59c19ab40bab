// SPDX-License-Identifier: MIT
// Code without tables in a process with a runtime whose code keeps frame pointers.
#ifndef SWTRACE_RUNTIME_PROCESS_H
#define SWTRACE_RUNTIME_PROCESS_H

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pi/unique_fd.h>

#include "code/frame_of_code.h"
#include "hotspot.h"
#include "memory_thread.h"
#include "table/runtime.h"

namespace pi::swtrace {

// What a table says of the runtime of its file, and where that is mapped.
struct MappedRuntime {
  unwind::Runtime runtime = unwind::Runtime::none;
  uint64_t bias = 0;
  std::vector<uint64_t> symbols;
};

// Its memory is read by jobs of a MemoryThread; what they have found is kept for a short time, and
// for the stacks that come after the process has ended.
class RuntimeProcess : public std::enable_shared_from_this<RuntimeProcess> {
 public:
  RuntimeProcess(std::string memory, MappedRuntime runtime)
      : path_(std::move(memory)), runtime_(std::move(runtime)) {}

  enum class Answer : uint8_t { no, yes, later };

  // Is memory without a file at this address code of the runtime, which keeps frame pointers?
  Answer is_code(uint64_t address, MemoryThread& thread);
  // The frame at an instruction. Answer no: its code cannot be read. last: what was read earlier
  // will do.
  Answer frame_at(uint64_t address, MemoryThread& thread, bool last, unwind::FrameOfCode& frame);
  // Compiled code was met in a JVM that does not keep frame pointers.
  bool lacks_frames() const { return lacks_frames_; }
  // The process has ended: its memory is not read again.
  void end() { ended_ = true; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class State : uint8_t { none, pending, done };
  struct Found {
    State state = State::none;
    bool is_known = false;
    Clock::time_point time{};  // when it was read
    unwind::FrameOfCode frame{};
  };

  // In the thread of the jobs:
  bool read(uint64_t address, std::span<std::byte> bytes);
  void read_facts();
  void read_code(uint64_t address);
  void limit();

  const std::string path_;
  const MappedRuntime runtime_;
  bool ended_ = false, lacks_frames_ = false;
  UniqueFd memory_;  // of the jobs, as is:
  bool is_opened_ = false;
  const unwind::CodeReader reader_;
  std::mutex mutex_;  // guards what follows
  State facts_state_ = State::none;
  Clock::time_point facts_time_{};
  unsigned facts_tries_ = 0;
  std::optional<HotspotFacts> facts_;
  std::unordered_map<uint64_t, Found> found_;  // by address
};

}  // namespace pi::swtrace

#endif  // SWTRACE_RUNTIME_PROCESS_H
