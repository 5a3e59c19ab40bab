// SPDX-License-Identifier: MIT
// The text of a trace file's info section: where the trace comes from and what it lacks.
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

// Of one stream: what was counted, and of the records written those that are not in the file.
struct StreamCounts {
  uint32_t cpu = 0;
  uint32_t kind = 0;
  Counts counts;
  uint64_t overwritten = 0;  // by newer ones
  uint64_t unwritten = 0;    // the disk was full
};

// notes: what users of the trace should know. How it ended and what became of the kernel's symbols
// is added by the writer.
InfoText describe_trace(Collector& collector, const CollectorStatus& status,
                        const std::vector<std::string>& notes,
                        const std::vector<StreamCounts>& streams);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_INFO_SECTION_H
