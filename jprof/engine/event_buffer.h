// SPDX-License-Identifier: MIT
// The binary events of log-gen: blocks of one thread, which it appends to a file when they are
// full.
#ifndef PI_CALLFLOW_EVENT_BUFFER_H
#define PI_CALLFLOW_EVENT_BUFFER_H

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "types.h"

namespace pi::callflow {

struct EventHead {
  uint64_t method;
  uint32_t sequence;  // index_of(), or no_sequence: the thread's first event
  Type type;
  Transition how;
  uint16_t reserved;
  // Followed by a difference for each metric.
};
constexpr uint32_t no_sequence = UINT32_MAX;

// Before the events of one thread.
struct BlockHead {
  static constexpr uint32_t magic = 0x67666c63;  // after a full disk the next block is elsewhere

  uint32_t mark;
  uint32_t metrics;
  uint32_t tid;
  uint32_t bytes;  // of the events
};

class EventBuffer {
 public:
  static constexpr size_t block_bytes = 64 << 10;

  // False if there is no memory.
  bool open(int file, uint32_t tid, size_t metrics);
  bool is_open() const { return block_ != nullptr; }

  // Copies an event with its differences; a full block is appended to the file first.
  void append(const EventHead& head, const uint64_t* differences);
  // Appends what is left. Only when the thread does nothing meanwhile.
  void flush();
  // Counts what is left as lost: its thread is inside an event.
  void lose();
  void close();

  uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  size_t event_bytes() const { return sizeof(EventHead) + metrics_ * sizeof(uint64_t); }

  char* block_;
  int file_;
  size_t metrics_;
  std::atomic<uint64_t> lost_;  // events that could not be written
};

}  // namespace pi::callflow

#endif  // PI_CALLFLOW_EVENT_BUFFER_H
