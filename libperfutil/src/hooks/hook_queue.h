// SPDX-License-Identifier: MIT
// Merges records of several rings in time order: user hooks of all threads, and ticks.
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
  // Stores a record and sets time to the time it is stored with, which may be later.
  using Put =
      std::function<void(const FoundHook& hook, std::span<const std::byte> record, uint64_t& time)>;

  // HookServer adds the hooks that it finds here.
  HookBatch& incoming() { return batch_; }

  // Passes the hooks up to time horizon to put, oldest first, and keeps the others. The time of a
  // hook is never earlier than that with which the last hook of its ring was stored, and later than
  // that when it was stored for another CPU.
  void deliver(uint64_t horizon, const Put& put);

  void reset();

  // How many rings have an entry in last_.
  size_t remembered() const { return last_.size(); }

 private:
  struct Stored {
    uint64_t time = 0;
    uint32_t cpu = 0;
  };

  void forget_gone();

  HookBatch batch_;
  std::unordered_map<uint64_t, Stored> last_;  // by ring, of processes that are connected
};

// Ticks of one CPU that were read, held until older hooks are stored.
class HeldTicks {
 public:
  void hold(uint64_t time, std::span<const std::byte> record);
  // Passes those up to time until to put.
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
