// SPDX-License-Identifier: MIT
// What statefuzz runs: epochs of calls, and cycles of loading and unloading.
#ifndef STATEFUZZ_EPOCH_H
#define STATEFUZZ_EPOCH_H

#include "statefuzz.h"

namespace statefuzz {

struct Options {
  uint64_t seed = 1;
  uint64_t from = 0;
  uint64_t calls = 20000;
  double seconds = 1e9;
  double timeout = 120;
  double progress = 60;
  uint64_t trace = 0;    // print each call
  uint64_t bold = 1;     // threads whose kernel code is followed make calls that take long
  uint64_t failing = 0;  // let allocations fail in storms
};

// So many calls are one epoch: all processes are new, and the module is as after loading.
inline constexpr uint64_t epoch_calls = 2000;

// 0; 1: mismatches that leave nothing to go on with; 4: a call did not come back.
int run_epoch(const Options& options, uint64_t position);
int run_cycles(const char* module, const Options& options);

}  // namespace statefuzz

#endif
