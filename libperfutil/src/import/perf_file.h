// SPDX-License-Identifier: MIT
// Reads the head of a recording of perf (perf.data): its events, and what it says about the
// machine.
#ifndef PI_PERFUTIL_PERF_FILE_H
#define PI_PERFUTIL_PERF_FILE_H

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <pi/result.h>

#include "perf_event_table.h"
#include "tracepoint_formats.h"

namespace pi::perfutil {

// The number of a feature section, as tools/perf/Documentation/perf.data-file-format.txt lists
// them.
enum class PerfFeature : uint32_t {
  tracing_data = 1,
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
  TracepointFormats tracepoints;
  std::string host;
  std::string kernel;   // its release
  std::string machine;  // as uname -m
  uint32_t cpus = 0;    // 0: not known
  // Of mapped files, by path; lower-case hex, or "?" if several files had that path.
  std::map<std::string, std::string> build_ids;
  // Path and inode of files of which a mapping's record has no build-id.
  std::set<std::pair<std::string, uint64_t>> mapped_files;

  // Where the records are in the file.
  uint64_t begin = 0;
  uint64_t end = 0;
  bool piped = false;              // what describes the recording is among the records
  bool cut_off = false;            // the recording was not ended, or the file is truncated
  bool bad_features = false;       // some facts are damaged
  bool has_counts = false;         // of perf stat
  bool has_tracer_data = false;    // as that of Intel PT
  uint64_t directory_version = 0;  // of a recording that is a directory; 0: not known
  // The threads that perf was to record, with those that they create, or all of some CPUs.
  enum class Threads : uint8_t { unknown, of_cpus, named };
  Threads threads = Threads::unknown;

  // A recording that is cut off does not name its host. Then the inodes of files must show that
  // they are the recorded ones, as for their symbols.
  bool is_of_this_host(bool and_kernel) const;
  // A feature section, or the content of a record that has one.
  void take_feature(uint32_t number, Bytes content);
  // A record with the threads that perf was to record.
  void take_thread_map(Bytes record);
  // A record with the build-id of a file.
  void take_build_id(Bytes record);
  void add_build_id(std::string path, std::string id);
  void add_mapped_file(std::string path, uint64_t inode);
};

// The error's message is a sentence without the path. fd: a file that can be read at any offset.
Result<PerfFile> read_perf_file(int fd, uint64_t size);

// The zero-terminated text at offset; ends with the bytes.
std::string text_at(Bytes bytes, size_t offset);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PERF_FILE_H
