// SPDX-License-Identifier: MIT
// Reads the head of a recording of perf (perf.data): its events, and what it says about the
// machine.
#ifndef PI_PERFUTIL_PERF_FILE_H
#define PI_PERFUTIL_PERF_FILE_H

#include <cstdint>
#include <map>
#include <string>

#include <pi/result.h>

#include "perf_event_table.h"

namespace pi::perfutil {

// The number of a feature section, as tools/perf/Documentation/perf.data-file-format.txt lists
// them.
enum class PerfFeature : uint32_t {
  build_id = 2,
  hostname = 3,
  os_release = 4,
  architecture = 6,
  cpu_count = 7,
  event_names = 12,
  branch_stack = 15,
  tracer_data = 18,
  counts = 19,
  clock_id = 23,
  directory = 24,
  compressed = 27,
};

struct PerfFile {
  EventTable events;
  std::string host;
  std::string kernel;   // its release
  std::string machine;  // as uname -m
  uint32_t cpus = 0;    // 0: not known
  // Of mapped files, by path; lower-case hex, or "?" if several files had that path.
  std::map<std::string, std::string> build_ids;

  // Where the records are in the file.
  uint64_t begin = 0;
  uint64_t end = 0;
  bool piped = false;            // what describes the recording is among the records
  bool cut_off = false;          // the recording was not ended, or the file is truncated
  bool bad_features = false;     // some facts are damaged
  bool has_counts = false;       // of perf stat
  bool has_tracer_data = false;  // as that of Intel PT

  // A feature section, or the content of a record that has one.
  void take_feature(uint32_t number, Bytes content);
  // A record with the build-id of a file.
  void take_build_id(Bytes record);
  void add_build_id(std::string path, std::string id);
};

// The error's message is a sentence without the path. fd: a file that can be read at any offset.
Result<PerfFile> read_perf_file(int fd, uint64_t size);

// The zero-terminated text at offset; ends with the bytes.
std::string text_at(Bytes bytes, size_t offset);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PERF_FILE_H
