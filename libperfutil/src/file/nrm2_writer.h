// SPDX-License-Identifier: MIT
// Writes a trace file; include/pi/nrm2.h describes its layout.
#ifndef PI_PERFUTIL_NRM2_WRITER_H
#define PI_PERFUTIL_NRM2_WRITER_H

#include <string>
#include <vector>

#include <pi/result.h>

#include "info_section.h"
#include "kernel_texts.h"
#include "source/collector.h"

namespace pi::perfutil {

struct TraceContent {
  std::vector<BufferView> buffers;
  uint64_t start_time = 0;
  uint64_t stop_time = 0;
  uint32_t interval_id = 0;
  bool full = false;
  InfoText info;  // without how the trace ended
  std::string build_ids;
  std::string frame_names;
  std::string kernel_code;  // empty: none was traced, or none could be read
  KernelTexts kernel;
};

// PU_ERROR_FILE. When the disk is full, the file holds as much as fits: whole records, whole
// sections, and if possible the info section, which says so; the error states how much is missing.
Status write_trace_file(const std::string& name, const TraceContent& content);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_NRM2_WRITER_H
