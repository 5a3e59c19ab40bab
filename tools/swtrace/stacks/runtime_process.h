// SPDX-License-Identifier: MIT
// Code without tables in a process with a runtime whose code keeps frame pointers.
#ifndef SWTRACE_RUNTIME_PROCESS_H
#define SWTRACE_RUNTIME_PROCESS_H

#include <atomic>
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

#include "code/frame_of_code.h"
#include "frame_names.h"
#include "hotspot.h"
#include "memory_thread.h"
#include "process_memory.h"
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
  // names: of interpreted methods; null: they get none.
  RuntimeProcess(std::string memory, MappedRuntime runtime,
                 std::shared_ptr<FrameNames> names = nullptr)
      : memory_(std::move(memory)), runtime_(std::move(runtime)), names_(std::move(names)) {}

  enum class Answer : uint8_t { no, yes, later };

  // Is memory without a file at this address code of the runtime, which keeps frame pointers?
  Answer is_code(uint64_t address, MemoryThread& thread);
  // Its code has set its frame pointer at each call.
  bool has_frame_pointers() const { return runtime_.runtime != unwind::Runtime::python; }
  // The frame at an instruction. Answer no: its code cannot be read. last: what was read earlier
  // will do.
  Answer frame_at(uint64_t address, MemoryThread& thread, bool last, unwind::FrameOfCode& frame);
  // Is it code of an interpreter whose methods can be named?
  bool interprets(uint64_t address);
  using Clock = std::chrono::steady_clock;
  // Methods, which are structures in the JVM's memory, and when they were first asked for.
  struct Methods {
    std::span<const uint64_t> places;
    Clock::time_point since;
  };
  // The numbers of their names; 0: it has none.
  Answer name_methods(const Methods& methods, MemoryThread& thread, bool last,
                      std::span<uint32_t> numbers);
  // How many jobs have read methods so far: as long as it is the same, so is that answer.
  uint64_t method_reads() const { return method_reads_; }
  // Compiled code was met in a JVM that does not keep frame pointers.
  bool lacks_frames() const { return lacks_frames_; }
  // The process has ended: its memory is not read again.
  void end() { ended_ = true; }

 private:
  enum class State : uint8_t { none, pending, done };
  struct Found {
    State state = State::none;
    bool is_known = false;
    Clock::time_point time{};  // when it was read
    unwind::FrameOfCode frame{};
  };
  struct Method {
    State state = State::none;
    Clock::time_point time{};  // when it was read
    uint32_t name = 0;
  };

  // With mutex_ held:
  bool may_read_a_method(Clock::time_point now);
  Answer name_method(uint64_t method, Clock::time_point since, bool last,
                     std::vector<uint64_t>& unread, uint32_t& number);

  // A job of this process.
  template <class Work>
  bool add(MemoryThread& thread, Work work);
  // Its memory is not read again.
  bool is_over() const { return ended_ || memory_.hangs(); }

  // In the thread of the jobs:
  bool read(uint64_t address, std::span<std::byte> bytes);
  void read_facts();
  void read_code(uint64_t address);
  void read_methods(const MethodLayout& layout, std::span<const uint64_t> methods);
  void limit();

  ProcessMemory memory_;
  const MappedRuntime runtime_;
  const std::shared_ptr<FrameNames> names_;
  size_t names_used_ = 0;
  bool ended_ = false, lacks_frames_ = false;
  std::atomic<uint64_t> method_reads_ = 0;
  const unwind::CodeReader reader_;
  std::mutex mutex_;  // guards what follows
  State facts_state_ = State::none;
  Clock::time_point facts_time_{};
  unsigned facts_tries_ = 0;
  std::optional<HotspotFacts> facts_;
  std::unordered_map<uint64_t, Found> found_;     // by address
  std::unordered_map<uint64_t, Method> methods_;  // by address
  double reads_left_ = 0;                         // of methods, up to now
  Clock::time_point reads_time_{};
};

}  // namespace pi::swtrace

#endif  // SWTRACE_RUNTIME_PROCESS_H
