// SPDX-License-Identifier: MIT
// What is known of the code of one process at the time of a stack.
#ifndef SWTRACE_STACK_CODE_H
#define SWTRACE_STACK_CODE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "interrupted_stacks.h"
#include "process_maps.h"
#include "runtime_processes.h"
#include "table_files.h"
#include "walk/walk_stack.h"

namespace pi::swtrace {

class StackCode : public unwind::CodeOfProcess {
 public:
  struct Process {
    uint32_t pid, tid;
    const ProcessMap* memory;  // null: nothing is known
    bool last;                 // do without what is not ready
    bool is_recorded;          // it has run elsewhere: the process of that id is another one
  };
  // What stacks of all processes use.
  struct Sources {
    TableFiles& files;
    RuntimeProcesses& runtimes;
    InterruptedStacks& interrupted;
  };
  // All must outlive this. read_before: by an earlier walk of this stack.
  StackCode(const Sources& from, const Process& process, const unwind::CapturedStack& stack,
            std::shared_ptr<const InterruptedStack> read_before)
      : files_(from.files),
        runtimes_(from.runtimes),
        interrupted_stacks_(from.interrupted),
        process_(process),
        stack_(stack),
        interrupted_(std::move(read_before)) {}

  unwind::Code find(const unwind::FramePlace& place) override;
  bool is_executable(uint64_t address) override { return mapping_at(address) != nullptr; }
  std::span<const std::byte> stack_at(uint64_t address, uint64_t signal_frame) override;

  // Something is not ready: the stack is not right.
  bool waits() const { return waits_; }
  // The file whose table that is; null: the code.
  const std::shared_ptr<TableFile>& missing() const { return missing_; }

  // The stack that a signal handler has interrupted; null: none, or it cannot be read.
  const std::shared_ptr<const InterruptedStack>& interrupted() const { return interrupted_; }
  // It is one that was not read.
  bool lacks_interrupted() const { return lacks_interrupted_; }

  // The first file of a recorded process that could not be opened, and the number of frames inside
  // of its code; null: none. What is found beyond is no caller.
  struct Unopened {
    std::shared_ptr<TableFile> file;
    size_t inner = 0;
  };
  const Unopened& unopened() const { return unopened_; }

  // The frames in an interpreter, and the structures of the methods that it interprets there.
  struct Interpreted {
    std::vector<size_t> frames;  // each the number of those inside of it
    std::vector<uint64_t> methods;
  };
  const Interpreted& interpreted() const { return interpreted_; }
  // Of the process, RuntimeProcess::method_reads().
  uint64_t method_reads() const { return runtime_ && *runtime_ ? (*runtime_)->method_reads() : 0; }
  // The numbers of the names of these methods. since: when they were first asked for. Not null: the
  // process that must first read some.
  std::shared_ptr<RuntimeProcess> name_methods(RuntimeProcess::Clock::time_point since,
                                               std::span<uint32_t> numbers);

 private:
  using Answer = RuntimeProcess::Answer;

  const Mapping* mapping_at(uint64_t address) const {
    return process_.memory ? process_.memory->find(address) : nullptr;
  }
  bool is_ready(const Mapping& mapping);
  const Mapping* find_runtime();
  RuntimeProcess* runtime();
  // Of an instruction of a runtime's code. Null: it is not known.
  const unwind::OwnedRule* rule_of(RuntimeProcess& runtime, const unwind::FramePlace& place);
  // Is a word of the stack the address of code? Without the word: yes.
  bool may_be_code(const unwind::FramePlace& place, uint64_t address);
  bool returns_to_code(const unwind::FramePlace& place, const unwind::OwnedRule& rule);
  void note_method(const unwind::FramePlace& place, const unwind::OwnedRule& rule);

  TableFiles& files_;
  RuntimeProcesses& runtimes_;
  InterruptedStacks& interrupted_stacks_;
  const Process process_;
  const unwind::CapturedStack& stack_;
  bool waits_ = false, lacks_interrupted_ = false;
  std::shared_ptr<const InterruptedStack> interrupted_;
  std::shared_ptr<TableFile> missing_;
  Unopened unopened_;
  std::optional<RuntimeProcess*> runtime_;  // once it was looked for
  unwind::FrameOfCode frame_;               // the last that was asked for
  Interpreted interpreted_;
};

}  // namespace pi::swtrace

#endif  // SWTRACE_STACK_CODE_H
