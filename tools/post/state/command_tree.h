// SPDX-License-Identifier: MIT
// Finds the processes that --command selects, and all their descendants.
#ifndef POST_COMMAND_TREE_H
#define POST_COMMAND_TREE_H

#include <pi/decode.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "name_words.h"
#include "processes.h"

namespace post {

class CommandTree {
 public:
  // The arguments must outlive this.
  CommandTree(NameWords& words, Processes& processes, const StringTable& names)
      : words_(words), processes_(processes), names_(names) {}

  // Applies an MTE record, after Processes has applied it.
  void apply(const pi::RecordView& record);

  // Which words match the process or one of its ancestors so far. A match remains when the process
  // is renamed later.
  NameWords::Fit fit(uint32_t pid) { return members_[member_of(pid)].fit; }

  // Changes when the result of fit() may have changed without a change of the process's names.
  uint32_t version() const { return version_; }

 private:
  static constexpr uint32_t no_member = 0xffffffff;
  // A process; a later process can have the same id.
  struct Member {
    uint32_t first_child = no_member;
    uint32_t next_sibling = no_member;
    NameWords::Fit fit;  // of it and its ancestors
  };

  uint32_t member_of(uint32_t pid);
  uint32_t add(uint32_t pid);
  bool judge(uint32_t member, uint32_t pid);
  void set_parent(uint32_t member, uint32_t parent);
  bool spread(uint32_t member, const NameWords::Fit& fit);

  NameWords& words_;
  Processes& processes_;
  const StringTable& names_;
  std::vector<Member> members_;
  std::vector<uint32_t> waiting_;                   // of spread()
  std::unordered_map<uint32_t, uint32_t> current_;  // by pid
  uint32_t version_ = 1;
};

// Matches the words with all names of a process: as reports show it, with and without its id.
NameWords::Fit fit_process(NameWords& words, const Processes& processes, const StringTable& names,
                           const Process& process);

}  // namespace post

#endif  // POST_COMMAND_TREE_H
