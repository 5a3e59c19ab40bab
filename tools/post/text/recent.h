// SPDX-License-Identifier: MIT
// What was computed last for some keys, in a limited number of places: a key displaces an older
// one.
#ifndef POST_RECENT_H
#define POST_RECENT_H

#include <cstddef>
#include <cstdint>

#include "cache_places.h"

namespace post {

// Key() must not occur. Key has hash(), whose lowest bits are used. Two keys with the same bits
// have places in one line of the processor's cache.
template <typename Key, typename Value>
class Recent {
 public:
  // places: a power of two.
  explicit Recent(size_t places) : sets_(places / 2) {}

  // make() returns the value of a key that is not there. Valid until the next call.
  template <typename Make>
  const Value& at(const Key& key, const Make& make) {
    const uint64_t hash = key.hash();
    const Set& known = sets_.at(hash);
    if (known.newer.key == key) return known.newer.value;
    if (known.older.key == key) return known.older.value;
    const Value value = make();
    Set& set = sets_.after_miss(hash);
    set.older = set.newer;
    set.newer = {key, value};
    return set.newer.value;
  }

 private:
  struct Place {
    Key key{};
    Value value{};
  };
  struct alignas(64) Set {
    Place newer, older;
  };
  CachePlaces<Set> sets_;
};

}  // namespace post

#endif  // POST_RECENT_H
