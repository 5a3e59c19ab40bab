// SPDX-License-Identifier: MIT
// Processes over time: which address space and which name a pid had at a given time.
#ifndef A2N_PROCESS_TABLE_H
#define A2N_PROCESS_TABLE_H

#include <cstdint>
#include <deque>
#include <vector>

#include "address_space.h"
#include "base/pid_map.h"

namespace a2n {

// One image's mappings, used by the process that began it and by its clones.
struct Space {
  AddressSpace map;
  uint32_t owner = 0;             // the pid that began it
  uint32_t users = 0;             // pids whose newest image it is
  uint64_t begun = 0;             // time of its fork or exec; 0: it existed before the trace
  const Space* forked = nullptr;  // the space that it was copied from by a fork
};

// Changes of one pid come in time order; one with an earlier time counts as being at the newest.
// Names are the caller's interned strings.
class ProcessTable {
 public:
  void create(uint32_t pid, uint64_t time);
  void fork(uint32_t parent_pid, uint32_t child_pid, uint64_t time);
  void clone(uint32_t parent_pid, uint32_t child_pid, uint64_t time);
  void exec(uint32_t pid, uint64_t time);
  void set_name(uint32_t pid, const char* name, uint64_t time);
  void add(uint32_t pid, uint64_t begin, uint64_t end, uint32_t tag, uint64_t time);

  // The newest owner of address; an unknown pid has none.
  std::optional<Piece> newest(uint32_t pid, uint64_t address) const;

  // The time of the fork (0: not known) and of the first event, for the newest process with this
  // id.
  struct Birth {
    uint64_t born = 0;
    uint64_t seen = 0;
  };
  Birth birth(uint32_t pid) const;

  // The space of pid at time; null when the pid was not known then.
  const Space* find(uint32_t pid, uint64_t time) const;
  // Null when the pid was not known then or has no name.
  const char* name(uint32_t pid, uint64_t time) const;

 private:
  struct Image {
    uint64_t start;
    Space* space;
  };
  struct Name {
    uint64_t start;
    const char* name;
  };
  struct Process {
    std::vector<Image> images;  // by start; each ends where the next begins
    std::vector<Name> names;    // by start
    uint64_t newest = 0;        // time of its last change
    Birth birth;
  };

  Process& known(uint32_t pid, uint64_t time);
  uint64_t advance(Process& process, uint64_t time);
  Space* new_space(uint32_t owner, uint64_t begun, Space* forked = nullptr);
  void begin_image(Process& process, uint64_t time, Space* space);
  static void begin_name(Process& process, uint64_t time, const char* name);

  PidMap<Process> processes_;
  std::deque<Space> spaces_;  // elements never move
};

}  // namespace a2n

#endif  // A2N_PROCESS_TABLE_H
