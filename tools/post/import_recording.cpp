// SPDX-License-Identifier: MIT
// post --import: converts a recording of perf to the trace file of which reports are made.
#include "import_recording.h"

#include <import/perf_import.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "recorded_stacks.h"
#include "text/output_file.h"

namespace post {
namespace {

// Where perf keeps the kernel's symbols of its recordings, unless it is configured otherwise.
std::string symbol_cache() {
  const char* const home = ::secure_getenv("HOME");
  return home && *home == '/' ? std::string(home) + "/.debug" : "";
}

// Of a recording that is a directory.
void keep_files(const std::string& directory) {
  std::error_code problem;
  std::filesystem::directory_iterator at(directory, problem);
  for (; !problem && at != std::filesystem::directory_iterator(); at.increment(problem))
    OutputFile::keep(at->path());
}

}  // namespace

pi::Status import_recording(const Options& options) {
  OutputFile::keep(*options.import);
  keep_files(*options.import);
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
