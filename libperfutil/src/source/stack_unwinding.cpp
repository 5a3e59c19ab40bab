// SPDX-License-Identifier: MIT
// Has the application find the frames of user stacks, from the registers and stack bytes that the
// source has copied.
#include "stack_unwinding.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "system/system_facts.h"

namespace pi::perfutil {
namespace {

constexpr size_t max_buffers = 256;

static_assert(PI_FRAME_NAMED(7) == PITRACE_FRAME_NAMED(7) &&
              PI_FRAME_OWN(7) == PITRACE_FRAME_OWN(7));

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
  const auto& resolver = copies_.resolver;
  for (const HeldStack* held : waiting_)
    if (resolver.drop) resolver.drop(resolver.context, held->copy.id);
  waiting_.clear();
  queues_.clear();
  buffers_.clear();
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

std::string StackUnwinding::frame_names(uint32_t& known) const {
  const auto& resolver = copies_.resolver;
  std::string lines;
  if (!is_active() || !resolver.frame_name) return lines;
  while (const char* name = resolver.frame_name(resolver.context, known + 1)) {
    const std::string_view text(name);
    fmt::format_to(std::back_inserter(lines), "{} {}\n", ++known, text.substr(0, text.find('\n')));
  }
  return lines;
}

std::vector<std::byte> StackUnwinding::take_buffer() {
  if (buffers_.empty()) return {};
  auto buffer = std::move(buffers_.back());
  buffers_.pop_back();
  return buffer;
}

void StackUnwinding::hold(uint32_t cpu, HeldStack held) {
  held.copy.id = ++last_id_;
  held_bytes_ += held.size();
  queues_[cpu].held.push_back(std::move(held));
}

StackUnwinding::Queue* StackUnwinding::oldest_new(uint64_t until) {
  Queue* found = nullptr;
  uint64_t first = until;
  for (auto& [number, queue] : queues_) {
    if (queue.tried == queue.held.size()) continue;
    const uint64_t time = queue.held[queue.tried].time;
    if (time > until || (found && time >= first)) continue;
    found = &queue;
    first = time;
  }
  return found;
}

StackUnwinding::Queue* StackUnwinding::oldest(uint64_t until, uint32_t& cpu) {
  Queue* found = nullptr;
  for (auto& [number, queue] : queues_)
    if (!queue.held.empty() && queue.held.front().time <= until &&
        (!found || queue.held.front().time < found->held.front().time)) {
      found = &queue;
      cpu = number;
    }
  return found;
}

void StackUnwinding::try_again(Wait wait) {
  const auto age = static_cast<uint64_t>(limits_.age.count());
  const uint64_t now = wait == Wait::usual && !waiting_.empty() ? trace_clock() : 0;
  std::erase_if(waiting_, [&](HeldStack* held) {
    return resolve(*held, wait == Wait::none || (wait == Wait::usual && now > held->time + age));
  });
}

// An application that cannot be asked again for an older one must answer before the next.
void StackUnwinding::try_new(uint64_t until, Wait wait) {
  const bool in_order = !copies_.resolver.drop;
  while (Queue* queue = in_order && !waiting_.empty() ? nullptr : oldest_new(until)) {
    HeldStack& held = queue->held[queue->tried++];
    if (!held.has_copy || resolve(held, wait == Wait::none)) continue;
    held.stack.shrink_to_fit();
    waiting_.push_back(&held);
  }
}

void StackUnwinding::put_done(uint64_t until, const Put& put) {
  uint32_t cpu = 0;
  for (Queue* queue = oldest(until, cpu); queue; queue = oldest(until, cpu)) {
    HeldStack& held = queue->held.front();
    if (queue->tried == 0 || !held.is_done()) return;
    held_bytes_ -= held.size();
    put(cpu, held, held.resolved ? &*held.resolved : nullptr);
    queue->held.pop_front();
    --queue->tried;
  }
}

bool StackUnwinding::is_over() const {
  return held_bytes_ > std::max(limits_.bytes, limits_.bytes_a_cpu * queues_.size());
}

uint64_t StackUnwinding::advance(uint64_t until, Wait wait, const Put& put) {
  try_again(wait);
  try_new(until, wait);
  put_done(until, put);
  // The oldest does without what the application waits for.
  while (is_over() && !waiting_.empty()) {
    (void)resolve(*waiting_.front(), true);
    waiting_.pop_front();
    try_new(until, wait);
    put_done(until, put);
  }
  return waiting_.empty() ? UINT64_MAX : waiting_.front()->time;
}

void StackUnwinding::finish(uint64_t until, const Put& put) {
  const auto end = std::chrono::steady_clock::now() + limits_.age;
  const auto wait = [&] {
    return std::chrono::steady_clock::now() > end ? Wait::none : Wait::at_end;
  };
  while (advance(until, wait(), put) != UINT64_MAX)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  buffers_.clear();
}

bool StackUnwinding::resolve(HeldStack& held, bool last) {
  ResolvedStack resolved;
  if (!ask(held, last, resolved)) return false;
  held_bytes_ -= held.size();
  if (held.stack.capacity() != 0 && buffers_.size() < max_buffers)
    buffers_.push_back(std::move(held.stack));
  held.stack = {};
  held.interrupted = 0;
  held.resolved = std::move(resolved);
  held_bytes_ += held.size();
  return true;
}

bool StackUnwinding::ask(const HeldStack& held, bool last, ResolvedStack& resolved) {
  pi_stack_copy copy = held.copy;
  copy.time = held.time;
  copy.bytes = held.stack.data();
  copy.length = held.stack.size() - held.interrupted;
  copy.interrupted_length = held.interrupted;
  copy.interrupted = held.interrupted != 0 ? held.stack.data() + copy.length : nullptr;
  pi_stack_frames frames{};
  const auto& resolver = copies_.resolver;
  space_.resize(depth_);
  if (resolver.resolve(resolver.context, &copy, last, space_.data(), depth_, &frames) == 0 && !last)
    return false;
  frames.frames = std::min(frames.frames, depth_);
  resolved.frames.assign(space_.begin(), space_.begin() + frames.frames);
  resolved.by_table = frames.by_table = std::min(frames.by_table, frames.frames);
  resolved.flags = flags_of(frames);
  return true;
}

}  // namespace pi::perfutil
