// SPDX-License-Identifier: MIT
// Counts the calls of a process that runs in a log.
#include "recording.h"

#include <utility>

namespace heapwatch {
namespace {

using pi::heap_log::Path;

const void* pointer(uint64_t address) {
  return reinterpret_cast<const void*>(address);
}

uint64_t bytes_of(Function function, const Call& call) {
  const auto& registers = call.registers;
  switch (function) {
    case Function::malloc:
      return registers[rdi];
    case Function::calloc:
      return registers[rdi] * registers[rsi];
    case Function::reallocarray:
      return registers[rsi] * registers[rdx];
    case Function::posix_memalign:
      return registers[rdx];
    default:
      return registers[rsi];
  }
}

bool moves(Function function) {
  return function == Function::realloc || function == Function::reallocarray;
}

}  // namespace

bool Recording::is_inside(const Call& call) const {
  const auto begun = begun_.find(call.thread);
  return begun != begun_.end() && call.registers[rsp] < begun->second.stack_pointer;
}

void Recording::free(uint64_t block) {
  if (block == 0) return;
  if (const auto known = live_.take(pointer(block)))
    pi::heapit::Live::freed(log_, *known);
  else
    ++log_.header().earlier_frees;
}

void Recording::enter(Function function, const Call& call) {
  if (is_inside(call)) return;
  if (function == Function::free) return free(call.registers[rdi]);
  Begun begun{function, call.registers[rsp], bytes_of(function, call), 0, {}};
  if (moves(function)) {
    begun.old = call.registers[rdi];
    // Before another thread may get its address.
    begun.known = live_.take(pointer(begun.old));
  }
  // What an earlier call of this thread has begun will not return any more.
  const auto old = begun_.find(call.thread);
  if (old != begun_.end()) {
    end_of_old(old->second, true);
    ++log_.header().lost[pi::heap_log::lost_calls];
    begun_.erase(old);
  }
  if (begun_.size() < max_begun) {
    begun_.emplace(call.thread, begun);
    return;
  }
  end_of_old(begun, true);
  ++log_.header().lost[pi::heap_log::lost_calls];
}

void Recording::end_of_old(const Begun& begun, bool was_freed) {
  if (begun.old == 0) return;
  if (!begun.known)
    log_.header().earlier_frees += was_freed;
  else if (was_freed)
    pi::heapit::Live::freed(log_, *begun.known);
  else
    live_.put_back(pointer(begun.old), *begun.known);
}

void Recording::leave(Function function, const Call& call, const FindPath& find) {
  const auto found = begun_.find(call.thread);
  if (found == begun_.end()) return;
  const Begun begun = found->second;
  // The return address is no longer on the stack.
  if (begun.function != function || begun.stack_pointer + sizeof(uint64_t) != call.registers[rsp])
    return;
  begun_.erase(found);
  const uint64_t block = call.value;
  if (moves(function)) end_of_old(begun, block != 0 || begun.bytes == 0);
  if (block != 0) live_.allocated(log_, find(), pointer(block), begun.bytes);
}

void Recording::lose(uint64_t lost_until_now) {
  if (lost_until_now <= lost_) return;
  log_.header().lost[pi::heap_log::lost_calls] += lost_until_now - lost_;
  lost_ = lost_until_now;
  for (const auto& [thread, begun] : begun_) end_of_old(begun, true);
  begun_.clear();
}

bool Recording::knows_all_ends() const {
  const uint64_t* lost = log_.header().lost;
  return lost[pi::heap_log::lost_calls] == 0 && lost[pi::heap_log::unseen_frees] == 0 &&
         lost[pi::heap_log::lost_blocks] == 0;
}

}  // namespace heapwatch
