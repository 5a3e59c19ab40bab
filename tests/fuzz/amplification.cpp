// SPDX-License-Identifier: MIT
// Measures memory and time of an input: excessive cost is a finding like a crash.
#include "amplification.h"

#include <sanitizer/allocator_interface.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace fuzz {
namespace {

// Bytes of the targets' only thread since the last input began; freeing older blocks makes it
// negative.
int64_t in_use = 0;
int64_t peak = 0;

struct Maximum {
  uint64_t heap = 0, heap_input = 0;
  uint64_t time = 0, time_input = 0;
};
Maximum maximum;

void allocated(const volatile void* memory, size_t size) {
  static_cast<void>(memory);
  in_use += static_cast<int64_t>(size);
  peak = std::max(peak, in_use);
}

void freed(const volatile void* memory) {
  if (!memory) return;
  in_use -= static_cast<int64_t>(__sanitizer_get_allocated_size(const_cast<const void*>(memory)));
}

void print_maximum() {
  std::fprintf(stderr,
               "Amplification: at most %llu bytes of heap (input of %llu bytes), %llu us (input of "
               "%llu bytes)\n",
               static_cast<unsigned long long>(maximum.heap),
               static_cast<unsigned long long>(maximum.heap_input),
               static_cast<unsigned long long>(maximum.time),
               static_cast<unsigned long long>(maximum.time_input));
}

void install() {
  static const bool installed = [] {
    if (__sanitizer_install_malloc_and_free_hooks(allocated, freed) == 0) {
      std::fprintf(stderr,
                   "the allocator does not support hooks: amplification cannot be measured\n");
      std::abort();
    }
    return std::atexit(print_maximum) == 0;
  }();
  static_cast<void>(installed);
}

uint64_t processor_time() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
}

void check(const char* what, uint64_t used, uint64_t floor, uint64_t factor, size_t input) {
  if (used <= floor + factor * input) return;
  std::fprintf(
      stderr,
      "Amplification: %zu bytes of input take %llu %s, the limit is %llu + %llu for each byte\n",
      input, static_cast<unsigned long long>(used), what, static_cast<unsigned long long>(floor),
      static_cast<unsigned long long>(factor));
  std::abort();
}

}  // namespace

Amplification::Amplification(size_t input, const Allowed& allowed)
    : input_(input), allowed_(allowed), begun_((install(), processor_time())) {
  in_use = peak = 0;
}

Amplification::~Amplification() {
  const uint64_t time = processor_time() - begun_;
  const auto heap = static_cast<uint64_t>(peak);
  if (heap > maximum.heap) {
    maximum.heap = heap;
    maximum.heap_input = input_;
  }
  if (time > maximum.time) {
    maximum.time = time;
    maximum.time_input = input_;
  }
  check("bytes of heap", heap, allowed_.heap_floor, allowed_.heap_factor, input_);
  check("us of processor time", time, allowed_.time_floor, allowed_.time_factor, input_);
}

}  // namespace fuzz
