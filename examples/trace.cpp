// SPDX-License-Identifier: MIT
// A program that traces itself, the C++ version of hooks.c: it samples its work, writes one record
// for each step, and writes the trace file. Usage: trace FILE; then: post -r FILE -show
#include <cmath>
#include <cstdint>
#include <cstdio>

#include <perfutil.hpp>

namespace {

// The results of a step; the struct's bytes become a string of the record.
struct Measured {
  uint32_t rounds;
  uint32_t milliseconds;
};

// Two ints and a string: step, its number counted from the end (negative), results.
constexpr pitrace::Hook<0x72, 1, uint32_t, int, Measured> step_ends;

int failed(const char* what, const pitrace::Error& error) {
  std::fprintf(stderr, "trace: %s: %s\n  %s\n", what, error.name(), error.text().c_str());
  return 1;
}

double work() {
  double sum = 0;
  for (uint32_t step = 1; step <= 10; ++step) {
    const uint64_t begin = ReadCycles();
    for (int i = 1; i <= 100'000; ++i) sum += std::sqrt(i);
    step_ends(step, static_cast<int>(step) - 11,
              {100'000, static_cast<uint32_t>((ReadCycles() - begin) / 1'000'000)});
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("Usage: trace FILE\n", stderr);
    return 255;
  }
  pitrace::TraceConfig config;
  config.majors = {PI_MAJORS_TPROF, 0x72};
  config.rate = 1000;
  auto session = pitrace::TraceSession::create(config);
  if (!session) return failed("init", session.error());
  if (const auto started = session->start(); !started) return failed("on", started.error());
  const double sum = work();
  const auto stopped = session->stop();
  if (!stopped) return failed("off", stopped.error());
  if (*stopped == pitrace::StopResult::buffer_full)
    std::fputs("trace: a buffer became full; the file lacks the end\n", stderr);
  if (const auto written = session->write(argv[1]); !written)
    return failed("write", written.error());
  const auto status = session->status();
  if (!status) return failed("status", status.error());
  std::printf("work() gave %.0f; %s has %llu records\n", sum, argv[1],
              static_cast<unsigned long long>(status->trace.written));
  return 0;  // the session ends the trace
}
