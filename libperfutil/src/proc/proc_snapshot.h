// SPDX-License-Identifier: MIT
// Reads what runs now from /proc: processes, their threads and executable mappings.
#ifndef PI_PERFUTIL_PROC_SNAPSHOT_H
#define PI_PERFUTIL_PROC_SNAPSHOT_H

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

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
  std::vector<ProcessMap> maps;                           // executable ones
};

// All processes, or root and its descendants when root is not 0; in ascending order.
std::vector<uint32_t> list_processes(const std::string& proc, uint32_t root);

// The present threads of the process.
std::vector<uint32_t> list_threads(const std::string& proc, uint32_t pid);

// False when the process has ended.
bool read_process(const std::string& proc, uint32_t pid, ProcessFacts& out);

// Records of one process, all with the same time.
void put_process(const ProcessFacts& facts, uint64_t time, bool anonymous, UserBuffer& mte);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PROC_SNAPSHOT_H
