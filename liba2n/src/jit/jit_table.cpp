// SPDX-License-Identifier: MIT
// The JIT-compiled code of each process, from all sources that report it.
#include "jit_table.h"

#include <algorithm>
#include <utility>

namespace a2n {
namespace {

// Maximum fork depth searched for inherited JIT code. No runtime comes near it.
constexpr int max_fork_depth = 16;

}  // namespace

void JitTable::add(uint32_t pid, JitCode code) {
  Sources& sources = processes_[pid];
  if (code.timeless()) {
    sources.timeless.push_back(std::move(code));
    return;
  }
  if (ignore_times_) code.ignore_times();
  sources.timed.push_back(std::move(code));
}

JitCode& JitTable::own(uint32_t pid) {
  JitCode& code = processes_[pid].own;
  if (ignore_times_) code.ignore_times();
  return code;
}

void JitTable::ignore_times() {
  ignore_times_ = true;
  processes_.for_each([](Sources& sources) {
    sources.own.ignore_times();
    for (JitCode& code : sources.timed) code.ignore_times();
  });
}

const JitMethod* JitTable::find_own(const Space& space, uint64_t address, uint64_t time,
                                    JitTrust trust) const {
  const Sources* const sources = processes_.find(space.owner);
  if (!sources) return nullptr;
  if (trust == JitTrust::timed)
    if (const JitMethod* method = sources->own.find(address, time, space.begun)) return method;
  for (const JitCode& code : trust == JitTrust::timed ? sources->timed : sources->timeless) {
    if (!code.can_be_of_process_begun(space.begun)) continue;
    if (const JitMethod* method = code.find(address, time, space.begun)) return method;
  }
  return nullptr;
}

const JitMethod* JitTable::find(const Space* space, uint64_t address, uint64_t time,
                                JitTrust trust) const {
  if (processes_.empty()) return nullptr;
  for (int i = 0; space && i < max_fork_depth; ++i) {
    if (const JitMethod* method = find_own(*space, address, time, trust)) return method;
    // A process has its parent's code as of the fork. After an exec it has none: forked is null.
    time = std::min(time, space->begun);
    space = space->forked.get();
  }
  return nullptr;
}

uint64_t JitTable::next_change(uint32_t pid, uint64_t time) const {
  const Sources* const sources = processes_.find(pid);
  if (!sources) return UINT64_MAX;
  uint64_t next = sources->own.next_change(time);
  for (const JitCode& code : sources->timed) next = std::min(next, code.next_change(time));
  return next;
}

}  // namespace a2n
