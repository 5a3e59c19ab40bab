// SPDX-License-Identifier: MIT
// Constants that tests of several parts use.
#ifndef TEST_LIBA2N_CONSTANTS_H
#define TEST_LIBA2N_CONSTANTS_H

#include <cstdint>

namespace test {

constexpr uint64_t bias = 0x7f1234500000;  // of a file that is loaded for a test
constexpr uint64_t MiB = 1 << 20;

}  // namespace test

#endif  // TEST_LIBA2N_CONSTANTS_H
