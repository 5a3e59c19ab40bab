// SPDX-License-Identifier: MIT
// Code without tables in a process with a runtime whose code keeps frame pointers.
#include "runtime_process.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include <pi/uninterrupted.h>

namespace pi::swtrace {
namespace {

using unwind::FrameOfCode;
using unwind::Runtime;

constexpr size_t max_found = 1 << 13;
// A JVM that has just started is not ready: after 20 ms, then 40, 60 ..., in all for 6 seconds.
constexpr unsigned max_tries = 25;
constexpr auto until_next_try = std::chrono::milliseconds(20);
// Code that is generated elsewhere meanwhile is not seen.
constexpr auto valid_for = std::chrono::seconds(1);
constexpr uint64_t page = 4096;
constexpr uint64_t bytes_before = 512, bytes_after = 1536;

}  // namespace

bool RuntimeProcess::read(uint64_t address, std::span<std::byte> bytes) {
  if (address > INT64_MAX) return false;
  // It stays that of the program that runs then, whatever the process executes later.
  if (!std::exchange(is_opened_, true))
    memory_ = UniqueFd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!memory_) return false;
  const auto got = uninterrupted([&] {
    return ::pread(memory_.get(), bytes.data(), bytes.size(), static_cast<off_t>(address));
  });
  return got == static_cast<ssize_t>(bytes.size());
}

// ---- the JVM's facts ----

void RuntimeProcess::read_facts() {
  const auto facts = read_hotspot(
      [this](uint64_t address, std::span<std::byte> bytes) { return read(address, bytes); },
      runtime_.bias, runtime_.symbols);
  const std::lock_guard lock(mutex_);
  facts_ = facts;
  facts_time_ = Clock::now();
  facts_state_ = State::done;
}

RuntimeProcess::Answer RuntimeProcess::is_code(uint64_t address, MemoryThread& thread) {
  if (runtime_.runtime == Runtime::v8) return Answer::yes;
  const std::lock_guard lock(mutex_);
  if (facts_) {
    if (facts_->interpreter.contains(address)) return Answer::yes;
    if (!facts_->code.contains(address)) return Answer::no;
    if (!facts_->keeps_frames) lacks_frames_ = true;
    return facts_->keeps_frames ? Answer::yes : Answer::no;
  }
  if (facts_state_ == State::pending) return Answer::later;
  if (ended_ || facts_tries_ == max_tries) return Answer::no;
  if (facts_state_ == State::done && Clock::now() - facts_time_ < facts_tries_ * until_next_try)
    return Answer::later;
  ++facts_tries_;
  if (!thread.add([self = shared_from_this()] { self->read_facts(); })) return Answer::no;
  facts_state_ = State::pending;
  return Answer::later;
}

// ---- code ----

void RuntimeProcess::read_code(uint64_t address) {
  std::array<std::byte, bytes_before + bytes_after> bytes;
  FrameOfCode frame;
  bool is_known = false;
  // The code before or behind may not be mapped.
  const uint64_t begin_of_page = address / page * page, end_of_page = begin_of_page + page;
  const std::pair<uint64_t, uint64_t> ranges[] = {
      {address - std::min(address, bytes_before), address + bytes_after},
      {std::max(begin_of_page, address - std::min(address, bytes_before)),
       std::min(end_of_page, address + bytes_after)}};
  for (const auto& [begin, end] : ranges) {
    const auto window = std::span(bytes).first(end - begin);
    if (!read(begin, window)) continue;
    frame = reader_.find(window, begin, address);
    is_known = true;
    break;
  }
  const std::lock_guard lock(mutex_);
  Found& found = found_[address];
  found.state = State::done;
  found.time = Clock::now();
  if (!is_known) return;  // what was there before is used
  found.is_known = true;
  found.frame = frame;
}

void RuntimeProcess::limit() {
  if (found_.size() < max_found) return;
  std::erase_if(found_, [](const auto& entry) { return entry.second.state == State::done; });
}

RuntimeProcess::Answer RuntimeProcess::frame_at(uint64_t address, MemoryThread& thread, bool last,
                                                FrameOfCode& frame) {
  const std::lock_guard lock(mutex_);
  const auto known = found_.find(address);
  if (known != found_.end()) {
    const Found& found = known->second;
    if (found.state == State::pending && !(last && found.is_known)) return Answer::later;
    if (ended_ || last || Clock::now() - found.time < valid_for) {
      frame = found.frame;
      return found.is_known ? Answer::yes : Answer::no;
    }
  }
  if (ended_) return Answer::no;
  limit();
  if (!thread.add([self = shared_from_this(), address] { self->read_code(address); }))
    return Answer::no;
  found_[address].state = State::pending;
  return Answer::later;
}

}  // namespace pi::swtrace
