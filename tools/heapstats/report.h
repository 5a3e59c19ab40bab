// SPDX-License-Identifier: MIT
// The reports on logs of libheapit.
#ifndef HEAPSTATS_REPORT_H
#define HEAPSTATS_REPORT_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "call_paths.h"
#include "heap_file.h"

namespace heapstats {

// What rows are sorted by, and what folded stacks count.
enum class By : uint8_t {
  live,
  live_count,
  leaked,
  allocated,
  allocations,
  peak,
  wait_time,
  waits
};

std::optional<By> by_named(std::string_view word);
bool is_of_waits(By by);
uint64_t value_of(const Row& row, By by);

struct ReportOptions {
  By sort = By::live;
  size_t lines = 10;  // rows of a table; 0: all
  size_t depth = 30;  // functions of a row; 0: all
};

// "1.500000", in seconds.
std::string duration(uint64_t nanoseconds);
// What was waited for.
std::string_view name_of(pi::heap_log::Kind kind);

// What the log lacks, one sentence each; needs_search: without a search it lacks what is leaked.
std::vector<std::string> losses_of(const HeapFile& file, const CallPaths& paths, bool needs_search);

std::string text_report(const HeapFile& file, const CallPaths& paths, const ReportOptions& options);
std::string json_report(const HeapFile& file, const CallPaths& paths);
// One line for each path: "OUTERMOST;...;INNERMOST COUNT".
std::string folded(const CallPaths& paths, By by);
// One line for each log.
std::string overview(const std::vector<HeapFile>& files);
// What b has more or less than a, largest difference first.
std::string text_changes(const HeapFile& a, const CallPaths& of_a, const HeapFile& b,
                         const CallPaths& of_b, const ReportOptions& options);

}  // namespace heapstats

#endif  // HEAPSTATS_REPORT_H
