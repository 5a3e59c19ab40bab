// SPDX-License-Identifier: MIT
// post --import: converts a recording of perf to the trace file of which reports are made.
#include "import_recording.h"

#include <import/perf_import.h>

#include <cstdlib>
#include <string>

#include "recorded_stacks.h"

namespace post {
namespace {

// Where perf keeps the kernel's symbols of its recordings, unless it is configured otherwise.
std::string symbol_cache() {
  const char* const home = ::secure_getenv("HOME");
  return home && *home == '/' ? std::string(home) + "/.debug" : "";
}

}  // namespace

pi::Status import_recording(const Options& options) {
  pi::perfutil::PerfImport import;
  import.recording = *options.import;
  import.trace = options.trace_file;
  import.event = options.import_event;
  import.cache = symbol_cache();
  RecordedStacks stacks(options.symbols.search_path, import.cache);
  import.code = &stacks;
  return pi::perfutil::import_perf_recording(import);
}

}  // namespace post
