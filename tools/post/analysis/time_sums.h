// SPDX-License-Identifier: MIT
// Sums by key and time. Stretches of time are as long as the limits on their number and on the
// number of sums require.
#ifndef POST_TIME_SUMS_H
#define POST_TIME_SUMS_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace post {

// Time is divided into bins of 2^shift nanoseconds; bin n begins at n * 2^shift. So the bins of
// several objects with the same shift are the same.
class TimeSums {
 public:
  struct Limits {
    uint64_t bins = 2048;
    // When more sums differ in key or bin, bins become longer, but not where that hardly helps:
    // there may always be two for each key.
    size_t sums = 1 << 20;
  };

  struct Sum {
    uint32_t key = 0;
    uint64_t first = 0;  // bin
    uint64_t last = 0;
    // In a single bin; where first and last differ, each of the bins has its whole length.
    uint64_t amount = 0;
    bool operator==(const Sum&) const = default;
  };

  TimeSums() : TimeSums(Limits{}) {}
  explicit TimeSums(Limits limits)
      : limits_(limits), unite_at_(2 * limits.sums), recent_(recent_sums) {}

  void add(uint64_t time, uint32_t key, uint64_t amount);
  // Adds the nanoseconds from `from` to `to`: to each bin its part. Takes constant time and memory.
  void add_span(uint64_t from, uint64_t to, uint32_t key);

  unsigned shift() const { return shift_; }
  bool empty() const { return first_bin_ > last_bin_; }
  uint64_t first_bin() const { return first_bin_; }
  uint64_t last_bin() const { return last_bin_; }
  // Makes bins longer, never shorter.
  void coarsen_to(unsigned shift);
  // By key, then bin; what has the same key and bin is one sum.
  const std::vector<Sum>& sums();

 private:
  static constexpr size_t recent_sums = 1 << 14;

  // What is added to a key and bin again and again, before it is one of the sums.
  struct Recent {
    uint64_t bin = 0;
    uint64_t amount = 0;  // 0: none
    uint32_t key = 0;
  };

  void widen(uint64_t first, uint64_t last);
  void put(uint32_t key, uint64_t first, uint64_t last, uint64_t amount);
  void coarsen();
  size_t most_sums() const;
  void put_recent();
  void unite();

  Limits limits_;
  unsigned shift_ = 10;
  uint64_t first_bin_ = UINT64_MAX;
  uint64_t last_bin_ = 0;
  std::vector<Sum> sums_;
  // How many there are when they are united again.
  size_t unite_at_;
  size_t united_ = 0;           // the first ones: in order, each key and bin once
  std::vector<Recent> recent_;  // by key and bin
};

// By key, then bin.
void sort_sums(std::span<TimeSums::Sum> sums);

}  // namespace post

#endif  // POST_TIME_SUMS_H
