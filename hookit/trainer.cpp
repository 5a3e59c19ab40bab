// SPDX-License-Identifier: MIT
// Instrumented functions that do nothing. Compiled with -finstrument-functions and optimised.
//
// Between two events an uninstrumented build of them executes one instruction, as the environmental
// minimum of 1 says: the call of the next function, or the return.
#include "trainer.h"

namespace pi::hookit {
namespace {

// The compiler must neither inline the functions nor find out that this one does nothing.
[[gnu::noinline]] void leaf() {
  asm volatile("");
}

[[gnu::noinline]] void calls_one() {
  leaf();
}

[[gnu::noinline]] void calls_two() {
  leaf();
  leaf();
}

[[gnu::noinline]] void calls_all() {
  calls_one();
  calls_two();
}

}  // namespace

[[gnu::no_instrument_function]] void train() {
  constexpr int rounds = 256;
  for (int i = 0; i < rounds; ++i) {
    calls_one();
    calls_two();
    calls_all();
    leaf();
  }
}

}  // namespace pi::hookit
