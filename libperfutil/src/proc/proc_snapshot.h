// SPDX-License-Identifier: MIT
// Reads what runs now from /proc: processes, their threads and executable mappings.
#ifndef PI_PERFUTIL_PROC_SNAPSHOT_H
#define PI_PERFUTIL_PROC_SNAPSHOT_H

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cgroup.h"
#include "namespace_ids.h"
#include "source/user_buffer.h"

namespace pi::perfutil {

struct ProcessMap {
  uint64_t start, size, offset, inode;
  std::string name;
};

struct ProcessFacts {
  uint32_t pid = 0;
  uint32_t parent = 0;
  bool is_32_bit = false;
  bool maps_denied = false;  // the process is another user's
  std::string name;
  std::vector<std::pair<uint32_t, std::string>> threads;  // tid and name, the main thread included
  uint64_t pid_namespace = 0;                             // inode number, unless it is our own
  std::map<uint32_t, NamespaceIds> namespace_ids;         // by tid; empty in our own namespace
  std::optional<Cgroup> cgroup;
  std::vector<ProcessMap> maps;  // executable ones
  uint32_t too_long_maps =
      0;  // executable ones that are not in maps: no record can have their names
  bool maps_cut_off = false;  // reading them took too much time or memory; the rest is missing
};

// How long the mappings of processes are read: a process may have so many that this takes minutes.
class SnapshotTime {
 public:
  using Clock = std::chrono::steady_clock;
  struct Limits {
    Clock::duration one = std::chrono::milliseconds(250);  // for one process
    Clock::duration all =
        std::chrono::seconds(2);  // for all processes, beyond free for each of them
    // Many usual processes on a busy machine must not use up the time for all.
    Clock::duration free = std::chrono::milliseconds(10);
  };
  SnapshotTime() : SnapshotTime(Limits{}) {}
  explicit SnapshotTime(const Limits& limits) : limits_(limits), rest_(limits.all) {}

  Clock::duration for_next() const;
  void spend(Clock::duration time);

 private:
  Limits limits_;
  Clock::duration rest_;
};

// What the mappings of all processes lack, for the notes of a trace.
class IncompleteMaps {
 public:
  void add(const ProcessFacts& facts);
  std::vector<std::string> notes() const;

 private:
  uint64_t too_long_ = 0;
  uint32_t cut_off_ = 0;
  uint32_t too_long_pid_ = 0, cut_off_pid_ = 0;  // the first of these processes
};

// All processes, or root and its descendants when root is not 0; in ascending order.
std::vector<uint32_t> list_processes(const std::string& proc, uint32_t root);

// The present threads of the process.
std::vector<uint32_t> list_threads(const std::string& proc, uint32_t pid);

// False when the process has ended.
bool read_process(const std::string& proc, uint32_t pid, SnapshotTime& time, ProcessFacts& out);

// Records of one process, all with the same time. What could not be read is counted as lost: one
// record if the mappings are cut off, since their number is not known.
void put_process(const ProcessFacts& facts, uint64_t time, bool anonymous, UserBuffer& mte);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PROC_SNAPSHOT_H
