// SPDX-License-Identifier: MIT
// Finds the subject of a trace: a process with its descendants, or the whole system.
#ifndef POST_SUBJECT_H
#define POST_SUBJECT_H

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "summary.h"

namespace post {

class Subject {
 public:
  // The process that --of names, or for which the trace was made; else the system. --of selects all
  // processes that had this id; without --of the subject is the first of them.
  explicit Subject(const Summary& summary);
  static Subject system(const Summary& summary);

  // The system: everything but idle processors.
  bool is_system() const { return !pid_; }
  uint32_t pid() const { return pid_.value_or(0); }
  // "prime:18943"; without a name "Process 18943".
  const std::string& name() const { return name_; }
  // Processes that had the id, and their descendants.
  size_t roots() const { return roots_; }
  size_t descendants() const { return members_.size() - roots_; }
  bool contains(const Origin& origin) const;
  // Nanoseconds from the start to the end, or where these are not in the trace, from its first tick
  // to its last, whatever is selected. Not known if not all of the trace was read.
  std::optional<uint64_t> elapsed() const { return elapsed_; }

 private:
  Subject() = default;
  void add_members(const Summary& summary, bool all_of_the_id);
  void find_name(const Summary& summary);
  void find_elapsed(const Summary& summary);

  std::optional<uint32_t> pid_;
  std::string name_;
  size_t roots_ = 0;
  std::unordered_set<const ProcessLifetime*> members_;
  std::unordered_map<uint32_t, const ProcessLifetime*> first_of_;  // by pid
  std::optional<uint64_t> elapsed_;
};

// The name of a tick's process, without its id.
std::string process_name(const Leaf& leaf, const Summary& summary);

}  // namespace post

#endif  // POST_SUBJECT_H
