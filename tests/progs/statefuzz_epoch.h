// SPDX-License-Identifier: MIT
// Runs of statefuzz: epochs of calls, and cycles of loading and unloading.
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
  uint64_t bold = 1;     // allow long calls in threads that are traced in the kernel
  uint64_t failing = 0;  // let allocations fail in storms
};

// Number of calls in an epoch. Each epoch starts with new processes and a module as after loading.
inline constexpr uint64_t epoch_calls = 4000;

// Lets the kernel expedite RCU's grace periods, for which many calls wait: most of a run's time
// otherwise. Every eighth epoch, and every eighth round of cycles, waits as other systems do.
void expedite_rcu(bool on);

// Returns 0; 1: mismatches after which the run cannot continue; 4: a call did not return.
int run_epoch(const Options& options, uint64_t position);
int run_cycles(const char* module, const Options& options);

}  // namespace statefuzz

#endif
