// SPDX-License-Identifier: MIT
// The binary events of log-gen: blocks of one thread, which it appends to a file when they are
// full.
#include "event_buffer.h"

#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <pi/file_size_signal.h>

#include "memory.h"

namespace pi::callflow {
namespace {

// A program can have more events than any disk has space for. The last twentieth of it is left to
// the program and to others.
bool has_space(int file) {
  struct statfs system {};
  return ::fstatfs(file, &system) != 0 || system.f_bavail * 20 >= system.f_blocks;
}

}  // namespace

bool EventBuffer::open(int file, uint32_t tid, size_t metrics) {
  block_ = static_cast<char*>(map_pages(block_bytes));
  if (!block_) return false;
  file_ = file;
  metrics_ = metrics;
  *reinterpret_cast<BlockHead*>(block_) = {BlockHead::magic, static_cast<uint32_t>(metrics), tid,
                                           0};
  return true;
}

void EventBuffer::append(const EventHead& head, const uint64_t* differences) {
  auto& block = *reinterpret_cast<BlockHead*>(block_);
  if (sizeof block + block.bytes + event_bytes() > block_bytes) flush();
  char* place = block_ + sizeof block + block.bytes;
  std::memcpy(place, &head, sizeof head);
  std::memcpy(place + sizeof head, differences, metrics_ * sizeof *differences);
  block.bytes += static_cast<uint32_t>(event_bytes());
}

// The file is open for appending, so that a write of one block is not mixed with others. Not
// write(), in which a thread can be cancelled.
void EventBuffer::flush() {
  auto& block = *reinterpret_cast<BlockHead*>(block_);
  if (block.bytes == 0) return;
  const int error = errno;
  const size_t bytes = sizeof block + block.bytes;
  const pi::NoFileSizeSignal quiet;
  if (!has_space(file_) || ::syscall(SYS_write, file_, block_, bytes) != static_cast<long>(bytes))
    lose();
  block.bytes = 0;
  errno = error;
}

void EventBuffer::lose() {
  const auto& block = *reinterpret_cast<const BlockHead*>(block_);
  lost_.store(lost() + block.bytes / event_bytes(), std::memory_order_relaxed);
}

void EventBuffer::close() {
  unmap_pages(block_, block_bytes);
  block_ = nullptr;
}

}  // namespace pi::callflow
