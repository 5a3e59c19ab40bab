// SPDX-License-Identifier: MIT
// Sorts the records of a recording of perf by time.
#include "time_order.h"

#include <algorithm>
#include <utility>

namespace pi::perfutil {

void TimeOrder::add(uint64_t time, uint32_t cpu, uint32_t kind, Bytes record) {
  if (bytes_.size() + record.size() + (places_.size() + 1) * sizeof(Place) > max_bytes_) {
    std::vector<uint64_t> times;
    times.reserve(places_.size());
    for (const Place& place : places_) times.push_back(place.time);
    const auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    if (middle != times.end()) pass(*middle);
  }
  newest_ = std::max(newest_, time);
  last_added_ = time;
  places_.push_back({time, bytes_.size(), cpu, kind, record.size()});
  bytes_.insert(bytes_.end(), record.begin(), record.end());
}

void TimeOrder::end_round() {
  if (newest_of_last_round_ != 0) pass(newest_of_last_round_);
  newest_of_last_round_ = newest_;
}

void TimeOrder::end() {
  pass(UINT64_MAX);
}

// The oldest time of all records that have one; 0: none has.
uint64_t TimeOrder::oldest() const {
  uint64_t time = 0;
  for (const Place& place : places_)
    if (place.time != 0 && (time == 0 || place.time < time)) time = place.time;
  return time;
}

void TimeOrder::pass(uint64_t until) {
  const auto rest = std::stable_partition(places_.begin(), places_.end(),
                                          [=](const Place& each) { return each.time <= until; });
  if (rest == places_.begin()) return;
  if (passed_ == 0) passed_ = oldest();
  std::stable_sort(places_.begin(), rest,
                   [](const Place& a, const Place& b) { return a.time < b.time; });
  for (auto place = places_.begin(); place != rest; ++place) {
    out_of_order_ += place->time != 0 && place->time < passed_;
    passed_ = std::max(passed_, place->time);
    take_(passed_, place->cpu, place->kind, std::span(bytes_).subspan(place->offset, place->size));
  }
  places_.erase(places_.begin(), rest);
  std::vector<std::byte> kept;
  for (Place& place : places_) {
    const auto begin = bytes_.begin() + static_cast<ptrdiff_t>(place.offset);
    place.offset = kept.size();
    kept.insert(kept.end(), begin, begin + place.size);
  }
  bytes_ = std::move(kept);
}

}  // namespace pi::perfutil
