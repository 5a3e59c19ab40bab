// SPDX-License-Identifier: MIT
// How many of a test's inputs are tried: all, or one in 31 under a sanitizer, which makes each
// about 30 times slower.
#ifndef PI_TESTS_INPUT_STRIDE_H
#define PI_TESTS_INPUT_STRIDE_H

#include <cstddef>
#include <cstdlib>

#include "sanitized.h"

namespace test_support {

// The distance between two tried inputs. PITRACE_TEST_ALL, which 'scripts/check long' sets, selects
// all inputs always.
inline size_t input_stride() {
  return TEST_IS_SANITIZED && std::getenv("PITRACE_TEST_ALL") == nullptr ? 31 : 1;
}

// How many of a test's random rounds are tried: all, or a quarter where the stride is not 1.
inline size_t rounds(size_t all) {
  return input_stride() == 1 ? all : all / 4;
}

}  // namespace test_support

#endif  // PI_TESTS_INPUT_STRIDE_H
