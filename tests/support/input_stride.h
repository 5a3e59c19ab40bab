// SPDX-License-Identifier: MIT
// How many of a test's inputs are tried: all, or under a sanitizer, where each takes thirty times
// as long, one in thirty-one.
#ifndef PI_TESTS_INPUT_STRIDE_H
#define PI_TESTS_INPUT_STRIDE_H

#include <cstddef>
#include <cstdlib>

namespace test_support {

// The distance from one input to the next. PITRACE_TEST_ALL, which 'scripts/check long' sets, asks
// for all of them everywhere.
inline size_t input_stride() {
#if defined(__SANITIZE_ADDRESS__)
  constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  constexpr bool sanitized = true;
#else
  constexpr bool sanitized = false;
#endif
#else
  constexpr bool sanitized = false;
#endif
  return sanitized && std::getenv("PITRACE_TEST_ALL") == nullptr ? 31 : 1;
}

}  // namespace test_support

#endif  // PI_TESTS_INPUT_STRIDE_H
