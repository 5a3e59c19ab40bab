// SPDX-License-Identifier: MIT
// Has the application find the frames of user stacks, from the registers and stack bytes that the
// source has copied.
#include "stack_unwinding.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "system/system_facts.h"

namespace pi::perfutil {
namespace {

uint32_t flags_of(const pi_stack_frames& frames) {
  uint32_t flags = PITRACE_STACK_USER_TABLES;
  if (frames.end == PI_STACK_WHOLE && frames.by_table == frames.frames)
    flags |= PITRACE_STACK_USER_WHOLE;
  if (frames.end == PI_STACK_CUT) flags |= PITRACE_STACK_USER_CUT;
  return flags;
}

}  // namespace

void StackUnwinding::begin() {
  forget();
  if (is_active()) copies_.resolver.begin(copies_.resolver.context);
}

void StackUnwinding::forget() {
  queues_.clear();
  held_bytes_ = 0;
}

void StackUnwinding::change(const pi_process_change& change) {
  if (is_active()) copies_.resolver.change(copies_.resolver.context, &change);
}

std::vector<std::string> StackUnwinding::notes() const {
  std::vector<std::string> notes;
  if (!is_active()) return notes;
  for (unsigned index = 0;; ++index) {
    const char* note = copies_.resolver.note(copies_.resolver.context, index);
    if (note == nullptr) return notes;
    notes.emplace_back(note);
  }
}

void StackUnwinding::hold(uint32_t cpu, HeldStack held) {
  held_bytes_ += held.size();
  queues_[cpu].push_back(std::move(held));
}

StackUnwinding::Queue* StackUnwinding::oldest(uint64_t until, uint32_t& cpu) {
  Queue* found = nullptr;
  for (auto& [number, queue] : queues_)
    if (!queue.empty() && queue.front().time <= until &&
        (!found || queue.front().time < found->front().time)) {
      found = &queue;
      cpu = number;
    }
  return found;
}

uint64_t StackUnwinding::advance(uint64_t until, Wait wait, const Put& put) {
  const auto age = static_cast<uint64_t>(limits_.age.count());
  const size_t space = std::max(limits_.bytes, limits_.bytes_a_cpu * queues_.size());
  uint32_t cpu = 0;
  while (Queue* queue = oldest(until, cpu)) {
    HeldStack& held = queue->front();
    const bool is_due = wait == Wait::none || held_bytes_ > space ||
                        (wait == Wait::usual && trace_clock() > held.time + age);
    if (held.has_copy && !resolve(held, is_due)) return held.time;
    held_bytes_ -= held.size();
    put(cpu, held, held.has_copy ? &resolved_ : nullptr);
    queue->pop_front();
  }
  return UINT64_MAX;
}

void StackUnwinding::finish(uint64_t until, const Put& put) {
  const auto end = std::chrono::steady_clock::now() + limits_.age;
  const auto wait = [&] {
    return std::chrono::steady_clock::now() > end ? Wait::none : Wait::at_end;
  };
  while (advance(until, wait(), put) != UINT64_MAX)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

bool StackUnwinding::resolve(HeldStack& held, bool last) {
  resolved_.frames.resize(depth_);
  pi_stack_copy copy = held.copy;
  copy.time = held.time;
  copy.bytes = held.stack.data();
  copy.length = held.stack.size();
  pi_stack_frames frames{};
  const auto& resolver = copies_.resolver;
  if (resolver.resolve(resolver.context, &copy, last, resolved_.frames.data(), depth_, &frames) ==
          0 &&
      !last)
    return false;
  frames.frames = std::min(frames.frames, depth_);
  resolved_.frames.resize(frames.frames);
  resolved_.by_table = frames.by_table = std::min(frames.by_table, frames.frames);
  resolved_.flags = flags_of(frames);
  return true;
}

}  // namespace pi::perfutil
