// SPDX-License-Identifier: MIT
// Encodes ITrace's records of the flow of threads.
#include "flow_writer.h"

#include <algorithm>
#include <array>

#include "system/system_facts.h"

namespace pi::perfutil {

void FlowWriter::put(uint64_t time, uint32_t major, uint32_t minor,
                     std::span<const uint32_t> ints) {
  constexpr uint32_t max_ints = PITRACE_ITRACE_START_INTS;
  alignas(4) std::array<std::byte, sizeof(pitrace_record) + 4 * max_ints> bytes;
  const auto count = static_cast<uint32_t>(ints.size());
  pitrace_encode_ints(bytes.data(), static_cast<uint32_t>(time), major, minor, ints.data(), count);
  put_(time, std::span(bytes).first(pitrace_size_ints(count)));
}

// Writes a thread record when the thread changes. Returns the time for the next record.
uint64_t FlowWriter::begin(const FlowThread& thread) {
  const uint64_t time = trace_clock();
  if (current_ != thread.tid) {
    const std::array<uint32_t, 2> ints{0, thread.pid};
    put(time, PITRACE_MAJOR_ITRACE_THREAD, thread.tid, ints);
    current_ = thread.tid;
  }
  return time;
}

void FlowWriter::start(const FlowThread& thread, uint64_t address) {
  const uint64_t time = begin(thread);
  std::array<uint32_t, PITRACE_ITRACE_START_INTS> ints;
  pitrace_put_itrace_start(ints.data(), thread.pid, thread.tid, flags_, address);
  put(time, PITRACE_MAJOR_ITRACE_START, 0, ints);
}

void FlowWriter::branch(const FlowThread& thread, uint64_t from, uint64_t to, uint32_t count) {
  const uint64_t time = begin(thread);
  alignas(4) std::array<std::byte, sizeof(pitrace_record) + 4 * 4> bytes;
  pitrace_encode_branch(bytes.data(), static_cast<uint32_t>(time), 1, from, to, counted(), count);
  put_(time, std::span(bytes).first(pitrace_size_branch(counted())));
}

void FlowWriter::gap(const FlowThread& thread, uint32_t kind, uint32_t count, uint64_t nanoseconds,
                     uint64_t to) {
  const uint64_t time = begin(thread);
  std::array<uint32_t, PITRACE_GAP_INTS> ints;
  pitrace_put_gap(ints.data(), counted() ? count : 0, 0,
                  static_cast<uint32_t>(std::min<uint64_t>(nanoseconds, UINT32_MAX)), to);
  put(time, PITRACE_MAJOR_ITRACE_GAP, kind, ints);
}

void FlowWriter::stop(const FlowThread& thread, uint32_t reason, uint32_t branches, uint32_t count,
                      uint64_t address) {
  const uint64_t time = begin(thread);
  std::array<uint32_t, PITRACE_ITRACE_STOP_INTS> ints;
  pitrace_put_itrace_stop(ints.data(), 0, branches, thread.tid, counted() ? count : 0, address);
  put(time, PITRACE_MAJOR_ITRACE_STOP, reason, ints);
}

}  // namespace pi::perfutil
