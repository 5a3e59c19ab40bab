// SPDX-License-Identifier: MIT
// Processes over time: which address space and which name a pid had at a given time.
#ifndef A2N_PROCESS_TABLE_H
#define A2N_PROCESS_TABLE_H

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
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
  std::shared_ptr<Space> forked;  // the space that it was copied from by a fork

  Space(AddressSpace content, uint32_t pid, uint64_t time, std::shared_ptr<Space> from)
      : map(std::move(content)), owner(pid), begun(time), forked(std::move(from)) {}
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;
  ~Space();  // not recursive: forks of forks can be a long chain
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
  // Removes a process and its former images. Mappings that other processes have stay.
  void release(uint32_t pid);
  // Takes one of the tags that were added and are in no mapping any more; nothing if there is none.
  std::optional<uint32_t> take_unused_tag();

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
    std::shared_ptr<Space> space;
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
  static std::shared_ptr<Space> new_space(uint32_t owner, uint64_t begun,
                                          const std::shared_ptr<Space>& forked = nullptr);
  void begin_image(Process& process, uint64_t time, const std::shared_ptr<Space>& space);
  void drop(std::shared_ptr<Space> space);
  static void begin_name(Process& process, uint64_t time, const char* name);

  PidMap<Process> processes_;
  std::vector<uint32_t> unused_tags_;
};

}  // namespace a2n

#endif  // A2N_PROCESS_TABLE_H
