// SPDX-License-Identifier: MIT
// Brings what several rings held into the order of time: user hooks of all threads, and ticks.
#ifndef PI_PERFUTIL_HOOK_QUEUE_H
#define PI_PERFUTIL_HOOK_QUEUE_H

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "hook_area.h"

namespace pi::perfutil {

class HookQueue {
 public:
  // Stores a record and makes time that with which it is stored, which may be later.
  using Put =
      std::function<void(const FoundHook& hook, std::span<const std::byte> record, uint64_t& time)>;

  // Where HookServer puts what it finds.
  HookBatch& incoming() { return batch_; }

  // Hands out the hooks that are not younger than horizon, oldest first; the others wait. A hook is
  // never handed out with an earlier time than the one before it of the same thread was stored
  // with, and a later one when that was stored for another CPU.
  void deliver(uint64_t horizon, const Put& put);

  void reset();

  // Rings of which something is remembered.
  size_t remembered() const { return last_.size(); }

 private:
  struct Stored {
    uint64_t time = 0;
    uint32_t cpu = 0;
  };

  void forget_gone();

  HookBatch batch_;
  std::unordered_map<uint64_t, Stored> last_;  // by ring, of processes that are there
};

// Ticks of one CPU that were read and wait for hooks that are older.
class HeldTicks {
 public:
  void hold(uint64_t time, std::span<const std::byte> record);
  // Hands out those that are not younger than until.
  void release(uint64_t until, const std::function<void(std::span<const std::byte>)>& put);

  // Bytes in memory.
  size_t held() const { return bytes_.size(); }

 private:
  void drop_released();

  struct Tick {
    uint64_t time;
    size_t place, size;
  };

  std::vector<std::byte> bytes_;
  std::vector<Tick> ticks_;
  size_t next_ = 0;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_HOOK_QUEUE_H
