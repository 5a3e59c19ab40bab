// SPDX-License-Identifier: MIT
// Converts a recording of perf (perf.data) to a trace file. Linked into post, which is the only one
// that calls it; the library does not export it.
#ifndef PI_PERFUTIL_PERF_IMPORT_H
#define PI_PERFUTIL_PERF_IMPORT_H

#include <string>

#include <pi/result.h>

#include "recorded_code.h"

namespace pi::perfutil {

struct PerfImport {
  std::string recording;       // the path of perf.data
  std::string trace;           // the file to be written
  std::string event;           // whose samples become ticks, with wildcards; "": the first one
  std::string cache;           // perf's cache of symbols, such as ~/.debug; "": none
  std::string proc = "/proc";  // for the symbols of the running kernel
  // Finds callers in copies of user stacks; null: they are left out.
  RecordedCode* code = nullptr;
};

// The trace file appears when it is complete. The error's message is a sentence for the user.
Status import_perf_recording(const PerfImport& import);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PERF_IMPORT_H
