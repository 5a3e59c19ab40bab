// SPDX-License-Identifier: MIT
// The program's own operator new: counts what is in use, and fails when a test wants it to.
#ifndef TEST_SUPPORT_HEAP_H
#define TEST_SUPPORT_HEAP_H

#include <cstddef>
#include <cstdint>

namespace test_support {

// Allocations that still succeed; negative: all.
void set_allocations_left(long count);

// The most bytes in use at one moment since the object began to exist, beyond those in use then.
// What C libraries allocate is not counted.
class HeapPeak {
 public:
  HeapPeak();
  uint64_t bytes() const;

 private:
  uint64_t before_;
};

}  // namespace test_support

#endif  // TEST_SUPPORT_HEAP_H
