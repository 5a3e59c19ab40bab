// SPDX-License-Identifier: MIT
// Sorts the records of a recording of perf by time.
#ifndef PI_PERFUTIL_TIME_ORDER_H
#define PI_PERFUTIL_TIME_ORDER_H

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "perf_event_table.h"

namespace pi::perfutil {

// perf empties the rings of the CPUs in rounds: what a round has is newer than what the ring of the
// same CPU had in the round before, so that all records up to the newest one of a round have been
// read when the next round ends. Records on what ran before have the time 0; they are passed on
// with that of the first record that has one.
class TimeOrder {
 public:
  // kind: for the receiver, which may change the record.
  using Take =
      std::function<void(uint64_t time, uint32_t cpu, uint32_t kind, std::span<std::byte> record)>;

  // Records of equal times keep their order. max_bytes: that are kept, if there are no rounds;
  // beyond it the oldest ones are passed on, and older ones that follow are out of order.
  TimeOrder(Take take, size_t max_bytes) : take_(std::move(take)), max_bytes_(max_bytes) {}

  void add(uint64_t time, uint32_t cpu, uint32_t kind, Bytes record);
  void end_round();
  void end();

  // The time of the last record since the last call; 0: there is none, or it has none.
  uint64_t take_last_added() { return std::exchange(last_added_, 0); }
  // How many records were passed on after a newer one.
  uint64_t out_of_order() const { return out_of_order_; }

 private:
  struct Place {
    uint64_t time;
    size_t offset;
    uint32_t cpu;
    uint32_t kind;
    size_t size;
  };

  uint64_t oldest() const;
  // Passes on all records up to this time.
  void pass(uint64_t until);

  Take take_;
  size_t max_bytes_;
  std::vector<Place> places_;
  std::vector<std::byte> bytes_;
  uint64_t newest_ = 0;
  uint64_t last_added_ = 0;
  uint64_t newest_of_last_round_ = 0;
  uint64_t passed_ = 0;  // time of the newest record that was passed on; first that of the oldest
  uint64_t out_of_order_ = 0;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_TIME_ORDER_H
