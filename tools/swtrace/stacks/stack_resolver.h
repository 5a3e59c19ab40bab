// SPDX-License-Identifier: MIT
// Unwinds the user stacks of ticks by tables, for libperfutil.
#ifndef SWTRACE_STACK_RESOLVER_H
#define SWTRACE_STACK_RESOLVER_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "perfutil.h"
#include "process_maps.h"
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
  std::vector<std::string> notes() const;

 private:
  TableFiles files_;
  ProcessMaps maps_;
  uint64_t late_ = 0;
  std::string note_;  // the last that was asked for
};

}  // namespace pi::swtrace

#endif  // SWTRACE_STACK_RESOLVER_H
