// SPDX-License-Identifier: MIT
// Unwinds the user stacks of ticks by tables, for libperfutil.
#ifndef SWTRACE_STACK_RESOLVER_H
#define SWTRACE_STACK_RESOLVER_H

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "interrupted_stacks.h"
#include "own_processes.h"
#include "perfutil.h"
#include "process_maps.h"
#include "runtime_processes.h"
#include "stack_code.h"
#include "table_files.h"

namespace pi::swtrace {

// Called by one thread at a time.
class StackResolver {
 public:
  // For stacks of running processes.
  explicit StackResolver(TableFiles::Compile compile, const TableFiles::Limits& limits = {})
      : files_(std::move(compile), limits), maps_({}, is_own()) {
    files_.reserve_for(is_own());
  }
  // For recorded stacks, whose processes are not here. open: opens their files; a stack ends where
  // one cannot be opened.
  StackResolver(TableFiles::Compile compile, const TableFiles::Limits& limits,
                TableFiles::Open open)
      : files_(std::move(compile), limits, std::move(open), TableFiles::When::when_wanted),
        is_recorded_(true) {}

  // What libperfutil calls; this must outlive the trace. Interpreted methods get names then.
  pi_stack_resolver functions();

  void begin();
  void change(const pi_process_change& change);
  // False: a table that the stack needs is not ready. last: then do without it.
  bool resolve(const pi_stack_copy& copy, bool last, std::span<uint64_t> addresses,
               pi_stack_frames& frames);
  void drop(uint64_t id) { waiting_.erase(id); }
  // Frames of interpreted methods have PI_FRAME_NAMED() from the next begin() on.
  void name_frames() { names_frames_ = true; }
  // Null: no frame has this number.
  const char* frame_name(uint32_t number) const { return names_ ? names_->at(number) : nullptr; }
  std::vector<std::string> notes() const;

 private:
  // A stack whose table, or code, or names, or interrupted stack are not ready.
  struct Waiting {
    std::shared_ptr<const ProcessMap> memory;             // as it was at the time of the stack
    std::shared_ptr<TableFile> missing;                   // null: code
    std::shared_ptr<RuntimeProcess> reader;               // of names; null: none are missing
    uint64_t reads = 0;                                   // its method_reads() then
    std::shared_ptr<const InterruptedStack> interrupted;  // null: none is needed so far
    RuntimeProcess::Clock::time_point since{};
  };

  // Stacks that end in the code of a file that could not be opened.
  struct CutStacks {
    uint64_t count = 0;
    std::string reason;
  };

  ProcessMaps::IsOwn is_own() {
    return [this](uint32_t pid) { return own_processes_.has(pid); };
  }
  void cut_at(const StackCode::Unopened& unopened, unwind::Walked& walked);
  std::string note_on_cut_stacks() const;
  std::shared_ptr<const ProcessMap> memory_at(const pi_stack_copy& copy);
  bool is_ready(const Waiting& waiting);
  // Puts names in place of addresses. Not null: the process that must first read some.
  std::shared_ptr<RuntimeProcess> put_names(StackCode& code,
                                            RuntimeProcess::Clock::time_point since,
                                            std::span<uint64_t> addresses, unwind::Walked& walked);

  OwnProcesses own_processes_;
  TableFiles files_;
  const bool is_recorded_ = false;
  std::map<std::string, CutStacks> cut_;  // by path
  uint64_t cut_elsewhere_ = 0;            // in more files
  ProcessMaps maps_;
  RuntimeProcesses runtimes_;
  InterruptedStacks interrupted_;
  std::unordered_map<uint64_t, Waiting> waiting_;  // by the id of the copy
  // Stacks unwound without a table, or code, or the stack that a signal handler has interrupted.
  uint64_t late_ = 0, late_code_ = 0, late_interrupted_ = 0;
  bool names_frames_ = false;
  std::shared_ptr<FrameNames> names_;
  uint64_t unnamed_ = 0;  // frames of interpreted methods
  std::string note_;      // the last that was asked for
};

}  // namespace pi::swtrace

#endif  // SWTRACE_STACK_RESOLVER_H
