// SPDX-License-Identifier: MIT
// The call tree as folded stacks, the input of flame graphs.
#include <algorithm>
#include <utility>

#include "method_names.h"
#include "report.h"

namespace pi::callflow {
namespace {

// ';' separates frames.
void append_frame(std::string& text, const std::string& name) {
  for (const char c : name) text += c == ';' ? ',' : c;
}

}  // namespace

std::string folded(const Snapshot& snapshot, size_t metric, const NameOf& name_of) {
  MethodNames names(name_of);
  const bool has_metric = metric < snapshot.metrics.size();
  std::string text;
  std::string stack;
  int64_t deeper = 0;  // the values of frames below the deepest one of the stack
  const auto add_line = [&text](const std::string& frames, int64_t value) {
    if (value <= 0) return;
    text += frames + ' ';
    append_number(text, value, 0);
    text += '\n';
  };
  const auto add_deeper = [&] { add_line(stack + ";[deeper]", std::exchange(deeper, 0)); };
  for (const auto& thread : snapshot.threads) {
    std::vector<size_t> ends;  // of the stack's text, by level
    for (const auto& node : thread.nodes) {
      const int64_t value = has_metric ? node.base[metric] : static_cast<int64_t>(node.calls);
      if (node.level > folded_depth) {
        deeper += std::max<int64_t>(value, 0);
        continue;
      }
      add_deeper();
      ends.resize(node.level);
      stack.resize(ends.empty() ? 0 : ends.back());
      if (node.level > 0) stack += ';';
      append_frame(stack, node.level == 0 ? thread_label(thread) : names.of(node.method));
      ends.push_back(stack.size());
      add_line(stack, value);
    }
    add_deeper();
  }
  return text;
}

}  // namespace pi::callflow
