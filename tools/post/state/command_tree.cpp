// SPDX-License-Identifier: MIT
// Finds the processes that --command selects, and all their descendants.
#include "command_tree.h"

#include <fmt/format.h>

#include "text/labels.h"

namespace post {
namespace {

// A damaged file can make a chain of ancestors as long as it likes.
constexpr int most_ancestors = 4096;

}  // namespace

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

void CommandTree::judge(uint32_t member, uint32_t pid) {
  members_[member].own.add(fit_process(words_, processes_, names_, processes_.find(pid)));
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
      // Not one of those just added: damaged links could make a circle.
      if (known->second < first) members_[child].parent = known->second;
      return first;
    }
    const uint32_t parent = add(pid);
    members_[child].parent = parent;
    child = parent;
  }
}

NameWords::Fit CommandTree::fit(uint32_t pid) {
  NameWords::Fit fit;
  uint32_t member = member_of(pid);
  for (int i = 0; i < most_ancestors && member != nobody; ++i) {
    fit.add(members_[member].own);
    member = members_[member].parent;
  }
  return fit;
}

void CommandTree::apply(const pi::RecordView& record) {
  pi::LinkEntry link;
  pi::NameEntry name;
  if (record.minor() == PITRACE_MTE_NAME && pi::decode_name(record, name)) {
    const uint32_t member = member_of(name.pid);
    const NameWords::Fit before = members_[member].own;
    judge(member, name.pid);
    if (members_[member].own != before) ++version_;
  } else if (record.minor() == PITRACE_MTE_PARENT && record.int_count() >= 2 &&
             pi::decode_link(record, link) && link.flags != PITRACE_PARENT_EXISTING &&
             link.pid != link.other) {
    const uint32_t parent = member_of(link.other);
    members_[add(link.pid)].parent = parent;
  }
}

}  // namespace post
