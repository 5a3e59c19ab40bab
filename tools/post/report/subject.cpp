// SPDX-License-Identifier: MIT
// Finds the subject of a trace: a process with its descendants, or the whole system.
#include "subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "text/labels.h"
#include "text/text.h"

namespace post {

std::string process_name(const Leaf& leaf, const Summary& summary) {
  const auto label = static_cast<NameId>(leaf.path[static_cast<size_t>(Level::process)]);
  return process_base_name(summary.names.text(label), summary.options.labels);
}

Subject::Subject(const Summary& summary) {
  pid_ = summary.options.subject;
  const bool all_of_the_id = pid_.has_value();
  const uint64_t traced = summary.file.info.pid;
  if (!pid_ && traced != 0 && traced <= UINT32_MAX) pid_ = static_cast<uint32_t>(traced);
  if (pid_) {
    add_members(summary, all_of_the_id);
    find_name(summary);
  }
  find_elapsed(summary);
}

Subject Subject::system(const Summary& summary) {
  Subject subject;
  subject.find_elapsed(summary);
  return subject;
}

// Processes are sorted by their start: the parent is the last process with its id before the child.
// For processes that ran before the trace, it can also follow the child.
void Subject::add_members(const Summary& summary, bool all_of_the_id) {
  for (const ProcessLifetime& lifetime : summary.lifetimes)
    first_of_.try_emplace(lifetime.pid, &lifetime);
  std::unordered_map<uint32_t, const ProcessLifetime*> current;
  std::unordered_map<const ProcessLifetime*, std::vector<const ProcessLifetime*>> children;
  for (const ProcessLifetime& lifetime : summary.lifetimes) {
    const auto before = current.find(lifetime.parent);
    const auto any = first_of_.find(lifetime.parent);
    if (before != current.end())
      children[before->second].push_back(&lifetime);
    else if (any != first_of_.end() && lifetime.parent != 0)
      children[any->second].push_back(&lifetime);
    current[lifetime.pid] = &lifetime;
    if (lifetime.pid == *pid_ && (all_of_the_id || roots_ == 0)) {
      members_.insert(&lifetime);
      ++roots_;
    }
  }
  // Each process is visited once: links in a damaged trace can form a cycle.
  std::vector<const ProcessLifetime*> to_visit(members_.begin(), members_.end());
  while (!to_visit.empty()) {
    const ProcessLifetime* const parent = to_visit.back();
    to_visit.pop_back();
    for (const ProcessLifetime* const child : children[parent])
      if (members_.insert(child).second) to_visit.push_back(child);
  }
}

void Subject::find_name(const Summary& summary) {
  std::string name;
  for (const ProcessLifetime& lifetime : summary.lifetimes)
    if (lifetime.pid == *pid_ && members_.contains(&lifetime))
      name = printable(summary.names.text(lifetime.name));
  for (const Leaf& leaf : summary.tree.leaves())
    if (name.empty() && leaf.origin.pid == *pid_ && contains(leaf.origin) &&
        process_name(leaf, summary) != unnamed_process)
      name = process_name(leaf, summary);
  name_ = name.empty() ? fmt::format("Process {}", *pid_) : fmt::format("{}:{}", name, *pid_);
}

void Subject::find_elapsed(const Summary& summary) {
  const RecordTotals& records = summary.records;
  if (records.stopped) return;
  uint64_t begin = records.ticks() != 0 ? records.first_tick : UINT64_MAX;
  uint64_t end = records.last_tick;
  const ProcessLifetime* first = nullptr;
  const ProcessLifetime* last = nullptr;
  for (const ProcessLifetime& lifetime : summary.lifetimes)
    if (pid_ && lifetime.pid == *pid_ && members_.contains(&lifetime)) {
      if (!first) first = &lifetime;
      last = &lifetime;
    }
  if (first && first->start != 0)
    begin = first->start;
  else if (first && first->exec != 0)
    begin = std::min(begin, first->exec);
  if (last && last->end != 0) end = last->end;
  if (begin < end) elapsed_ = end - begin;
}

bool Subject::contains(const Origin& origin) const {
  if (is_system()) return origin.pid != idle_pid;
  if (origin.process) return members_.contains(origin.process);
  // A tick before the first record about its process.
  const auto first = first_of_.find(origin.pid);
  return first == first_of_.end() ? origin.pid == *pid_ : members_.contains(first->second);
}

}  // namespace post
