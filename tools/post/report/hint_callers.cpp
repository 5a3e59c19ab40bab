// SPDX-License-Identifier: MIT
// Counts the ticks of programs whose callers in generated code have no name.
#include "hint_callers.h"

#include <vector>

namespace post {
namespace {

constexpr std::string_view python_prefix = "py::";  // of names that python3 -X perf writes

}  // namespace

bool is_file(std::string_view module) {
  return module.starts_with('/') && !module.starts_with("//") && !module.starts_with("/memfd:") &&
         !module.starts_with("/dev/zero") && !module.starts_with("/SYSV");
}

bool is_generated(Found found, std::string_view module) {
  if (found == Found::no_module) return true;
  return (module.starts_with('/') && !is_file(module)) || module.starts_with('[') ||
         module.starts_with("anon_inode:");
}

std::map<std::string, CallerNames> count_caller_names(const CallTree& calls,
                                                      const LabelOptions& labels) {
  std::map<std::string, CallerNames> programs;
  const std::vector<CallTree::Node> nodes = calls.nodes_with_guesses();
  std::vector<CallerNames*> program_of(nodes.size());
  std::vector<bool> lacks_name(nodes.size());
  for (uint32_t i = 1; i < nodes.size(); ++i) {
    const CallTree::Node& node = nodes[i];
    if (node.kind == CallTree::Node::Kind::process)
      program_of[i] = &programs[process_base_name(calls.names().text(node.id), labels)];
    else
      program_of[i] = program_of[node.parent];
    if (node.kind != CallTree::Node::Kind::function) continue;
    const Frame& frame = calls.frames().frame(node.id);
    CallerNames& program = *program_of[i];
    // The tick's own function is no caller.
    program.known |= nodes[node.parent].kind == CallTree::Node::Kind::function;
    if (lacks_name[node.parent]) program.unnamed += node.exclusive;
    lacks_name[i] = lacks_name[node.parent];
    if (frame.marker || frame.guessed || frame.kernel) continue;
    if (frame.found == Found::symbol)
      program.has_python |= calls.names().text(frame.symbol).starts_with(python_prefix);
    else if (is_generated(frame.found, calls.names().text(frame.module)))
      lacks_name[i] = true;
  }
  return programs;
}

}  // namespace post
