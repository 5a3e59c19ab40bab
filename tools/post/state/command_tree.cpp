// SPDX-License-Identifier: MIT
// Finds the processes that --command selects, and all their descendants.
#include "command_tree.h"

#include <fmt/format.h>

#include <utility>

#include "text/labels.h"

namespace post {
NameWords::Fit fit_process(NameWords& words, const Processes& processes, const StringTable& names,
                           const Process& process) {
  const std::string& name = names.text(processes.process_name(process));
  const std::string label = process_label(process.pid, name, 0, {});
  const std::string plain = process_base_name(label, {});
  const std::string with_id = fmt::format("{}:{}", plain, process.pid);
  // The program's file name.
  const std::string_view also = process.pid == idle_pid ? "idle" : std::string_view(plain);
  return words.fit({plain, label, with_id, also}, process.pid);
}

// Adds a match to a process and its descendants; true if it is new for the process. A process can
// change at most twice, so all calls together visit each process a few times at any depth of the
// tree.
bool CommandTree::spread(uint32_t member, const NameWords::Fit& fit) {
  bool changed = false;
  waiting_.assign(1, member);
  while (!waiting_.empty()) {
    Member& next = members_[waiting_.back()];
    waiting_.pop_back();
    const NameWords::Fit before = next.fit;
    next.fit.add(fit);
    if (next.fit == before) continue;
    changed = true;
    for (uint32_t child = next.first_child; child != no_member;
         child = members_[child].next_sibling)
      waiting_.push_back(child);
  }
  return changed;
}

bool CommandTree::judge(uint32_t member, uint32_t pid) {
  return spread(member, fit_process(words_, processes_, names_, processes_.find(pid)));
}

void CommandTree::set_parent(uint32_t member, uint32_t parent) {
  members_[member].next_sibling = std::exchange(members_[parent].first_child, member);
  spread(member, members_[parent].fit);
}

uint32_t CommandTree::add(uint32_t pid) {
  const uint32_t member = static_cast<uint32_t>(members_.size());
  members_.emplace_back();
  current_[pid] = member;
  judge(member, pid);
  return member;
}

// A process that has no member yet ran before the trace, and so did its ancestors.
uint32_t CommandTree::member_of(uint32_t pid) {
  if (const auto known = current_.find(pid); known != current_.end()) return known->second;
  const uint32_t first = add(pid);
  for (uint32_t child = first;;) {
    pid = processes_.first_parent(pid);
    if (pid == 0) return first;
    const auto known = current_.find(pid);
    if (known != current_.end()) {
      // Not a process that was just added: links in a damaged trace can form a cycle.
      if (known->second < first) set_parent(child, known->second);
      return first;
    }
    const uint32_t parent = add(pid);
    set_parent(child, parent);
    child = parent;
  }
}

void CommandTree::apply(const pi::RecordView& record) {
  pi::LinkEntry link;
  pi::NameEntry name;
  if (record.minor() == PITRACE_MTE_NAME && pi::decode_name(record, name)) {
    if (judge(member_of(name.pid), name.pid)) ++version_;
  } else if (record.minor() == PITRACE_MTE_PARENT && record.int_count() >= 2 &&
             pi::decode_link(record, link) && link.flags != PITRACE_PARENT_EXISTING &&
             link.pid != link.other) {
    const uint32_t parent = member_of(link.other);
    set_parent(add(link.pid), parent);
  }
}

}  // namespace post
