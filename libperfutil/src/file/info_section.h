// SPDX-License-Identifier: MIT
// The text of a trace file's info section: the origin of the trace, and what it lacks.
#ifndef PI_PERFUTIL_INFO_SECTION_H
#define PI_PERFUTIL_INFO_SECTION_H

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "source/collector.h"

namespace pi::perfutil {

// "key=value" lines. A line feed in a value becomes a blank.
class InfoText {
 public:
  void add(std::string_view key, std::string_view value);
  void add_number(std::string_view key, uint64_t value);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The counts of one stream, and how many of the written records are not in the file.
struct StreamCounts {
  uint32_t cpu = 0;
  uint32_t kind = 0;
  Counts counts;
  uint64_t overwritten = 0;  // replaced by newer records
  uint64_t unwritten = 0;    // not in the file because the disk was full
  uint64_t bytes = 0;        // of its records so far
};

void add_counts(InfoText& info, const StreamCounts& view);

// notes: sentences for users of the trace. The writer adds how the trace ended and the state of the
// kernel's symbols.
InfoText describe_trace(Collector& collector, const CollectorStatus& status,
                        const std::vector<std::string>& notes,
                        const std::vector<StreamCounts>& streams);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_INFO_SECTION_H
