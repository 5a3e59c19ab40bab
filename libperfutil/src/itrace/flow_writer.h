// SPDX-License-Identifier: MIT
// Encodes ITrace's records of the flow of threads; include/pitrace/abi.h defines them.
#ifndef PI_PERFUTIL_FLOW_WRITER_H
#define PI_PERFUTIL_FLOW_WRITER_H

#include <cstdint>
#include <functional>
#include <span>

#include <pitrace/encode.h>

namespace pi::perfutil {

struct FlowThread {
  uint32_t pid = 0;
  uint32_t tid = 0;
};

// All flows in one stream, of user code only. Not thread-safe.
class FlowWriter {
 public:
  // Takes a whole record and its time, which is never earlier than that of the last record.
  using Put = std::function<void(uint64_t time, std::span<const std::byte> record)>;

  // flags: PITRACE_ITRACE_* of the installation.
  FlowWriter(Put put, uint32_t flags) : put_(std::move(put)), flags_(flags) {}

  void start(const FlowThread& thread, uint64_t address);
  void branch(const FlowThread& thread, uint64_t from, uint64_t to, uint32_t count);
  // kind: PITRACE_GAP_*. nanoseconds: its duration.
  void gap(const FlowThread& thread, uint32_t kind, uint32_t count, uint64_t nanoseconds,
           uint64_t to);
  // reason: PITRACE_STOP_*. branches: how many were recorded of this thread.
  void stop(const FlowThread& thread, uint32_t reason, uint32_t branches, uint32_t count,
            uint64_t address);

 private:
  bool counted() const { return (flags_ & PITRACE_ITRACE_COUNT) != 0; }
  uint64_t begin(const FlowThread& thread);
  void put(uint64_t time, uint32_t major, uint32_t minor, std::span<const uint32_t> ints);

  Put put_;
  uint32_t flags_;
  uint32_t current_ = 0;  // tid of the thread to which the next records belong
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_FLOW_WRITER_H
