// SPDX-License-Identifier: MIT
// The call paths of the process's allocations, by the unwind tables of its files.
#ifndef HEAPWATCH_CALLERS_H
#define HEAPWATCH_CALLERS_H

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "allocators.h"
#include "call.h"
#include "call_path.h"
#include "stacks/stack_resolver.h"

namespace heapwatch {

class Callers final : public pi::heapit::CodeFiles {
 public:
  explicit Callers(int pid);

  // Has the tables of all files compiled, so that the first calls need not wait for them.
  void prepare();
  // The path that leads to the function that has returned. stack: the memory from the page of the
  // stack pointer on.
  void find(const Call& call, std::span<const std::byte> stack, pi::heapit::Stack& path);
  // Of the path of a wait: what it was for. The path begins with the caller of that function.
  pi::heap_log::Kind take_lock(std::span<const LockFunction> locks, pi::heapit::Stack& path) const;
  // Files were unloaded: others may be at their addresses.
  void code_unloaded() { is_old_ = true; }
  std::vector<std::string> notes() const { return resolver_.notes(); }

  // The process's code, as it was when it was read last.
  uint64_t generation() const override { return generation_; }
  void log_file_of(uint64_t address, pi::heapit::Log& log) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Mapped {
    uint64_t begin, end, offset, inode;
    std::string path;
    bool operator==(const Mapped&) const = default;
  };
  void read_code();
  const Mapped* mapped_at(uint64_t address) const;
  bool reaches_unknown_code(const pi::heapit::Stack& path) const;
  void resolve(const pi_stack_copy& copy, pi::heapit::Stack& path);

  const uint32_t pid_;
  pi::swtrace::StackResolver resolver_;
  std::vector<Mapped> code_;  // by address
  std::vector<bool> logged_;  // of each of them: the log has it
  Clock::time_point read_{};
  bool is_old_ = false;
  uint64_t generation_ = 0;
  uint64_t time_ = 0, copies_ = 0;
};

}  // namespace heapwatch

#endif  // HEAPWATCH_CALLERS_H
