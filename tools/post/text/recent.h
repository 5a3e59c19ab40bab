// SPDX-License-Identifier: MIT
// What was computed last for some keys, in a fixed number of places: a key displaces an older one.
#ifndef POST_RECENT_H
#define POST_RECENT_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace post {

// Key() must not occur. Key has hash(), whose lowest bits are used. Two keys with the same bits
// have places in one line of the processor's cache.
template <typename Key, typename Value>
class Recent {
 public:
  // places: a power of two.
  explicit Recent(size_t places) : sets_(places < 2 ? 1 : places / 2) {}

  // make() returns the value of a key that is not there. Valid until the next call.
  template <typename Make>
  const Value& at(const Key& key, const Make& make) {
    auto& [newer, older] = sets_[key.hash() & (sets_.size() - 1)];
    if (newer.key == key) return newer.value;
    if (older.key == key) return older.value;
    const Value value = make();
    older = newer;
    newer = {key, value};
    return newer.value;
  }

 private:
  struct Place {
    Key key{};
    Value value{};
  };
  struct alignas(64) Set {
    Place newer, older;
  };
  std::vector<Set> sets_;
};

}  // namespace post

#endif  // POST_RECENT_H
