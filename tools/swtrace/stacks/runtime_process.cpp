// SPDX-License-Identifier: MIT
// Code without tables in a process with a runtime whose code keeps frame pointers.
#include "runtime_process.h"

#include <algorithm>
#include <array>
#include <utility>

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
constexpr size_t max_methods = 1 << 14;
// Reads of methods: the process says where they are, and each stack can name a thousand. A job is
// short, so that it does not seem to hang on a machine under load.
constexpr double reads_a_second = 2048, max_reads = 2 * reads_a_second;
constexpr size_t methods_a_job = 16;
constexpr uint64_t page = 4096;
constexpr uint64_t bytes_before = 512, bytes_after = 1536;

}  // namespace

bool RuntimeProcess::read(uint64_t address, std::span<std::byte> bytes) {
  return memory_.read(address, bytes) == bytes.size();
}

template <class Work>
bool RuntimeProcess::add(MemoryThread& thread, Work work) {
  return memory_.add(thread, shared_from_this(), [work](RuntimeProcess& self, bool may_read) {
    if (may_read)
      work(self);
    else
      ++self.method_reads_;  // it has answered: there will be no names
  });
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
  if (runtime_.runtime != Runtime::hotspot) return Answer::yes;
  const std::lock_guard lock(mutex_);
  if (facts_) {
    if (facts_->interpreter.contains(address)) return Answer::yes;
    if (!facts_->code.contains(address)) return Answer::no;
    if (!facts_->keeps_frames) lacks_frames_ = true;
    return facts_->keeps_frames ? Answer::yes : Answer::no;
  }
  if (memory_.hangs()) return Answer::no;
  if (facts_state_ == State::pending) return Answer::later;
  if (ended_ || facts_tries_ == max_tries) return Answer::no;
  if (facts_state_ == State::done && Clock::now() - facts_time_ < facts_tries_ * until_next_try)
    return Answer::later;
  ++facts_tries_;
  if (!add(thread, [](RuntimeProcess& self) { self.read_facts(); })) return Answer::no;
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
    if (found.state == State::pending && !memory_.hangs() && !(last && found.is_known))
      return Answer::later;
    if (is_over() || last || Clock::now() - found.time < valid_for) {
      frame = found.frame;
      return found.is_known ? Answer::yes : Answer::no;
    }
  }
  if (is_over()) return Answer::no;
  limit();
  if (!add(thread, [address](RuntimeProcess& self) { self.read_code(address); })) return Answer::no;
  found_[address].state = State::pending;
  return Answer::later;
}

// ---- interpreted methods ----

bool RuntimeProcess::interprets(uint64_t address) {
  if (!names_) return false;
  const std::lock_guard lock(mutex_);
  return facts_ && facts_->methods && facts_->interpreter.contains(address);
}

void RuntimeProcess::read_methods(const MethodLayout& layout, std::span<const uint64_t> methods) {
  for (const uint64_t method : methods) {
    const auto name = read_method_name(
        [this](uint64_t address, std::span<std::byte> bytes) { return read(address, bytes); },
        layout, method);
    const uint32_t number = name ? names_->add(*name, names_used_) : 0;
    const std::lock_guard lock(mutex_);
    methods_[method] = {State::done, Clock::now(), number};
  }
  ++method_reads_;
}

bool RuntimeProcess::may_read_a_method(Clock::time_point now) {
  const std::chrono::duration<double> passed = now - reads_time_;
  reads_left_ = std::min(max_reads, reads_left_ + passed.count() * reads_a_second);
  reads_time_ = now;
  if (reads_left_ < 1) return false;
  --reads_left_;
  return true;
}

// Another method can be at the same place when classes were unloaded: a name of a second before is
// read again.
RuntimeProcess::Answer RuntimeProcess::name_method(uint64_t method, Clock::time_point since,
                                                   bool last, std::vector<uint64_t>& unread,
                                                   uint32_t& number) {
  const auto known = methods_.find(method);
  if (known != methods_.end()) {
    number = known->second.name;
    if (last || is_over()) return Answer::yes;
    if (known->second.state == State::pending) return Answer::later;
    if (since - known->second.time < valid_for) return Answer::yes;
  }
  number = 0;
  if (last || is_over() || !may_read_a_method(Clock::now())) return Answer::no;
  if (methods_.size() >= max_methods)
    std::erase_if(methods_, [](const auto& entry) { return entry.second.state == State::done; });
  methods_[method].state = State::pending;
  unread.push_back(method);
  return Answer::later;
}

RuntimeProcess::Answer RuntimeProcess::name_methods(const Methods& methods, MemoryThread& thread,
                                                    bool last, std::span<uint32_t> numbers) {
  const std::lock_guard lock(mutex_);
  std::vector<uint64_t> unread;
  Answer all = Answer::yes;
  for (size_t i = 0; i < methods.places.size(); ++i) {
    const Answer answer = name_method(methods.places[i], methods.since, last, unread, numbers[i]);
    if (answer == Answer::later || all == Answer::yes) all = answer;
  }
  for (std::span<const uint64_t> rest = unread; !rest.empty();) {
    const auto some = rest.first(std::min(rest.size(), methods_a_job));
    rest = rest.subspan(some.size());
    const auto read = [layout = *facts_->methods,
                       methods = std::vector<uint64_t>(some.begin(), some.end())](
                          RuntimeProcess& self) { self.read_methods(layout, methods); };
    if (add(thread, read)) continue;
    for (const uint64_t method : some) methods_.erase(method);
  }
  return all;
}

}  // namespace pi::swtrace
