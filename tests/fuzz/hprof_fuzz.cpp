// SPDX-License-Identifier: MIT
// Reads any bytes as a heap dump, and makes all reports on it.
#include <report/report.h>

#include <cstdlib>

#include "amplification.h"

namespace {

// An object of 25 bytes can have a class of its own, which has several tables' entries. The tables
// of most inputs are in memory, each of a page at least.
constexpr fuzz::Allowed allowed{8 << 20, 1024, 2'000'000, 1000};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::Amplification amplification(size, allowed);
  // Files in memory: on a disk that others use, most of the time is spent waiting for it.
  static const auto space = hdump::DiskSpace::in("/dev/shm");
  if (!space) std::abort();
  const auto bytes = std::as_bytes(std::span(data, size));
  hdump::ReportOptions options;
  options.paths_of = "*";
  options.clip_percent = 0;
  const auto report = hdump::analyse(
      "a dump",
      [&]() -> pi::Result<std::unique_ptr<hdump::ByteStream>> {
        return hdump::memory_stream(bytes);
      },
      *space, options, [](const char*, uint64_t) {});
  if (!report) return 0;
  if (report->reachable_objects > report->objects || report->reachable_bytes > report->bytes)
    std::abort();
  for (const hdump::ClassRow& row : report->classes)
    if (row.retained > report->reachable_bytes) std::abort();
  static_cast<void>(text_of(*report, options));
  static_cast<void>(growth_text({*report, *report}, options));
  static_cast<void>(json_of(*report));
  return 0;
}
