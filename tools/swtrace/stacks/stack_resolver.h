// SPDX-License-Identifier: MIT
// Unwinds the user stacks of ticks by tables, for libperfutil.
#ifndef SWTRACE_STACK_RESOLVER_H
#define SWTRACE_STACK_RESOLVER_H

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "perfutil.h"
#include "process_maps.h"
#include "runtime_processes.h"
#include "table_files.h"

namespace pi::swtrace {

// Called by one thread at a time.
class StackResolver {
 public:
  explicit StackResolver(TableFiles::Compile compile,
                         CompileBudget::Clock::duration time = CompileBudget::usual)
      : files_(std::move(compile), time) {}

  // What libperfutil calls; this must outlive the trace.
  pi_stack_resolver functions();

  void begin();
  void change(const pi_process_change& change);
  // False: a table that the stack needs is not ready. last: then do without it.
  bool resolve(const pi_stack_copy& copy, bool last, std::span<uint64_t> addresses,
               pi_stack_frames& frames);
  void drop(uint64_t id) { waiting_.erase(id); }
  std::vector<std::string> notes() const;

 private:
  // A stack whose table, or code, is not ready.
  struct Waiting {
    std::shared_ptr<const ProcessMap> memory;  // as it was at the time of the stack
    std::shared_ptr<TableFile> missing;        // null: code
  };

  std::shared_ptr<const ProcessMap> memory_at(const pi_stack_copy& copy);

  TableFiles files_;
  ProcessMaps maps_;
  RuntimeProcesses runtimes_;
  std::unordered_map<uint64_t, Waiting> waiting_;  // by the id of the copy
  uint64_t late_ = 0, late_code_ = 0;              // stacks unwound without a table, or code
  std::string note_;                               // the last that was asked for
};

}  // namespace pi::swtrace

#endif  // SWTRACE_STACK_RESOLVER_H
