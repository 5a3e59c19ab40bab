// SPDX-License-Identifier: MIT
// The places of a cache, whose number grows with its use: a small trace needs few, and memory that
// is not used costs no time.
#ifndef POST_CACHE_PLACES_H
#define POST_CACHE_PLACES_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace post {

// A place that holds nothing is Place().
template <typename Place>
class CachePlaces {
 public:
  // most: a power of two, or less than two for one place.
  explicit CachePlaces(size_t most)
      : most_(std::max<size_t>(most, 1)), places_(std::min(most_, first_number)) {}

  Place& at(uint64_t hash) { return places_[hash & (places_.size() - 1)]; }

  // To be called when at() has not found what it holds. After as many calls as there are places,
  // grow() is due; what is in the places is forgotten then.
  bool count_miss() { return ++misses_ >= places_.size() && places_.size() < most_; }
  void grow() {
    const size_t number = std::min(most_, places_.size() * growth);
    places_ = std::vector<Place>();  // first: not both at once
    places_ = std::vector<Place>(number);
    misses_ = 0;
  }
  // The place for what at() has not found.
  Place& after_miss(uint64_t hash) {
    if (count_miss()) grow();
    return at(hash);
  }

  auto begin() { return places_.begin(); }
  auto end() { return places_.end(); }

 private:
  static constexpr size_t first_number = 16, growth = 8;

  const size_t most_;
  std::vector<Place> places_;
  size_t misses_ = 0;
};

}  // namespace post

#endif  // POST_CACHE_PLACES_H
