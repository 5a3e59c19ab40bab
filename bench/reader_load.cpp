// SPDX-License-Identifier: MIT
// A steady load for bench/reader.sh: a hundred events of one kind every millisecond.
// Usage: reader_load hook|lttng|fault SECONDS
#include <sys/mman.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "perfutil.h"
#ifdef PITRACE_BENCH_LTTNG
#include "hook_lttng.h"
#endif

namespace {

constexpr uint32_t major = 0x30;
constexpr uint32_t each_ms = 100;
constexpr size_t page = 4096;

uint64_t clock_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Sleeps until each millisecond begins; after a delay the missed batches follow without sleeping.
template <class Batch>
void run(uint64_t seconds, Batch batch) {
  const uint64_t begin = clock_ns();
  for (uint64_t ms = 0; ms < seconds * 1000; ++ms) {
    const uint64_t then = begin + ms * 1'000'000;
    const timespec when{static_cast<time_t>(then / 1'000'000'000),
                        static_cast<long>(then % 1'000'000'000)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr);
    batch(static_cast<uint32_t>(ms));
  }
  const double took = static_cast<double>(clock_ns() - begin) * 1e-9;
  std::printf("%.0f events a second\n", static_cast<double>(seconds) * 1000 * each_ms / took);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view kind = argc == 3 ? argv[1] : "";
  const uint64_t seconds = argc == 3 ? std::strtoull(argv[2], nullptr, 10) : 0;
  if (kind == "hook") {
    run(seconds, [](uint32_t ms) {
      for (uint32_t i = 0; i < each_ms; ++i) TraceHook(major, 1, 4, 0, ms, i, 2u, 3u);
    });
  } else if (kind == "fault") {
    void* const memory =
        mmap(nullptr, each_ms * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    run(seconds, [memory](uint32_t ms) {
      for (uint32_t i = 0; i < each_ms; ++i)
        static_cast<volatile char*>(memory)[i * page] = static_cast<char>(ms);
      madvise(memory, each_ms * page, MADV_DONTNEED);
    });
#ifdef PITRACE_BENCH_LTTNG
  } else if (kind == "lttng") {
    run(seconds, [](uint32_t) {
      for (uint32_t i = 0; i < each_ms; ++i) bench_lttng_ints(i);
    });
#endif
  } else {
    std::fputs("Usage: reader_load hook|lttng|fault SECONDS\n", stderr);
    return 2;
  }
  return 0;
}
