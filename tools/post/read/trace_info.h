// SPDX-License-Identifier: MIT
// Parses the text of the sections that describe the recording: facts, build-ids, names of frames.
#ifndef POST_TRACE_INFO_H
#define POST_TRACE_INFO_H

#include <pitrace/abi.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace post {

// Counts of one buffer of one CPU, in records.
struct StreamCounts {
  uint64_t produced = 0;
  uint64_t written = 0;
  std::array<uint64_t, PITRACE_LOST_REASONS> lost{};
  // Of the written records, those that are not in the file:
  uint64_t overwritten = 0;  // by newer ones: wrap-around mode
  uint64_t unwritten = 0;    // the disk was full

  uint64_t kept() const { return written - overwritten - unwritten; }
  uint64_t lost_sum() const;
  void add(const StreamCounts& other);
};

struct StreamKey {
  uint32_t cpu = 0;
  bool mte = false;
  bool stacks = false;  // the frames of user stacks
  bool is_trace() const { return !mte && !stacks; }
  const char* kind() const { return mte ? "mte" : stacks ? "stacks" : "trace"; }
  auto operator<=>(const StreamKey&) const = default;
};

// Empty texts and zeros: not in the file. Texts are printable.
struct TraceInfo {
  std::string source;
  std::string scope;
  uint64_t pid = 0;
  std::string kernel;
  std::string host;
  std::string machine;
  std::string platform;
  std::string clock;  // of the records' times
  std::string ended;
  std::string kallsyms;
  std::string tick;    // "time" or "event"
  std::string event;   // what ticks count, where they come by events
  std::string stacks;  // "kernel", "user" or "both"
  std::vector<std::string> cannot_see;
  std::vector<std::string> notes;
  uint64_t cpu_hz = 0;
  uint64_t rate = 0;
  uint64_t tick_ns = 0;
  uint64_t throttled = 0;
  uint64_t period = 0;       // events a tick
  uint64_t stack_depth = 0;  // frames
  std::map<StreamKey, StreamCounts> counts;
  std::vector<std::pair<std::string, uint64_t>> missed;  // a hook and its hits that were skipped

  // The trace has the ticks of all processes, so that the rest of a CPU's time is idle. Traces
  // without a scope are of programs that always record the system.
  // Of post --import.
  bool is_of_perf_record() const { return source == "perf record"; }
  bool has_all_processes() const { return scope.empty() || scope == "system"; }
};

// Values of this text replace those of an earlier one; malformed lines and unknown keys are
// ignored.
void parse_info(std::string_view text, TraceInfo& info);

struct BuildId {
  std::string path;
  uint64_t inode = 0;  // of the file that was mapped; 0: not known
  std::string id;      // lower-case hex, "" for a file without one, "?" or "!" for not known
};

void parse_build_ids(std::string_view text, std::vector<BuildId>& build_ids);

// The names of frames that are no addresses, by their numbers; not printable.
using FrameNames = std::unordered_map<uint32_t, std::string>;

void parse_frame_names(std::string_view text, FrameNames& names);

}  // namespace post

#endif  // POST_TRACE_INFO_H
