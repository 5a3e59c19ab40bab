// SPDX-License-Identifier: MIT
// Replaces operator new: counts bytes in use, and fails on request of a test.
#ifndef TEST_SUPPORT_HEAP_H
#define TEST_SUPPORT_HEAP_H

#include <cstddef>
#include <cstdint>

namespace test_support {

// Number of allocations that still succeed; negative: unlimited.
void set_allocations_left(long count);

// Peak of the bytes in use since construction, beyond those in use at construction. Allocations of
// C libraries are not counted.
class HeapPeak {
 public:
  HeapPeak();
  uint64_t bytes() const;

 private:
  uint64_t before_;
};

}  // namespace test_support

#endif  // TEST_SUPPORT_HEAP_H
