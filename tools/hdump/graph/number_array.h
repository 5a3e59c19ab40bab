// SPDX-License-Identifier: MIT
// An array of numbers in work files, with as few bytes for each as the largest one needs.
#ifndef HDUMP_GRAPH_NUMBER_ARRAY_H
#define HDUMP_GRAPH_NUMBER_ARRAY_H

#include <cstdint>
#include <cstring>
#include <utility>

#include "disk_array.h"

namespace hdump {

class NumberArray {
 public:
  // `size` zeros, which can become numbers up to `largest`.
  static pi::Result<NumberArray> make(const DiskSpace& space, uint64_t size, uint64_t largest) {
    NumberArray array;
    while (array.width_ < 8 && largest >> (8 * array.width_) != 0) array.width_ *= 2;
    auto bytes = DiskArray<std::byte>::make(space, size * array.width_);
    if (!bytes) return bytes.error();
    array.bytes_ = std::move(*bytes);
    return array;
  }

  uint64_t operator[](uint64_t i) const {
    switch (width_) {
      case 1:
        return load<uint8_t>(i);
      case 2:
        return load<uint16_t>(i);
      case 4:
        return load<uint32_t>(i);
      default:
        return load<uint64_t>(i);
    }
  }
  void set(uint64_t i, uint64_t number) {
    switch (width_) {
      case 1:
        return store(i, static_cast<uint8_t>(number));
      case 2:
        return store(i, static_cast<uint16_t>(number));
      case 4:
        return store(i, static_cast<uint32_t>(number));
      default:
        return store(i, number);
    }
  }
  // Asks the processor for the number.
  void prefetch(uint64_t i) const { __builtin_prefetch(bytes_.data() + i * width_); }

 private:
  template <class T>
  T load(uint64_t i) const {
    return reinterpret_cast<const T*>(bytes_.data())[i];
  }
  template <class T>
  void store(uint64_t i, T number) {
    reinterpret_cast<T*>(bytes_.data())[i] = number;
  }

  unsigned width_ = 1;
  DiskArray<std::byte> bytes_;
};

}  // namespace hdump

#endif  // HDUMP_GRAPH_NUMBER_ARRAY_H
