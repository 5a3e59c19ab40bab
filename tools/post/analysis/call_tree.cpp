// SPDX-License-Identifier: MIT
// Ticks by the calls that led to them.
#include "call_tree.h"

namespace post {
namespace {

// The cache of roots is cleared when it has this many entries: names that change all the time must
// not fill the memory.
constexpr size_t max_roots = 1 << 16;

}  // namespace

CallTree::CallTree(Processes& processes, Symbolizer& symbolizer, StringTable& names,
                   Options options)
    : processes_(processes),
      names_(names),
      options_(options),
      frames_(symbolizer, names, options.frames, options.source, options.cache_entries) {}

uint32_t CallTree::root_of(const Process& process, uint32_t tid, uint32_t cpu) {
  const RootKey key{process.names_version, options_.by_thread ? tid : 0,
                    options_.labels.per_cpu ? cpu : 0};
  if (const auto known = roots_.find(key); known != roots_.end()) return known->second;
  if (roots_.size() >= max_roots) roots_.clear();
  const std::string& name = names_.text(processes_.process_name(process));
  uint32_t root = tree_.child(
      PathTree::root, names_.intern(process_label(process.pid, name, cpu, options_.labels)));
  if (options_.by_thread)
    root = tree_.child(
        root, names_.intern(thread_label(tid, names_.text(processes_.thread_name(process, tid)),
                                         options_.labels)));
  roots_.emplace(key, root);
  return root;
}

void CallTree::add(const pi::TprofTick& tick, const pi::RecordView& record, uint32_t cpu,
                   uint64_t time) {
  const Process& process = processes_.at(tick.pid, time);
  const pi::StackView stack = pi::stack_of_tprof(record);
  uint32_t place = root_of(process, tick.tid, cpu);
  const FrameId function = frames_.at(process, tick.address, !tick.user, time);
  const JudgedStack judged = frames_.judge(stack, !tick.user, process, time, function);
  stacks_.add(record, 4, stack, judged);
  if (stack.exists()) place = frames_.put(tree_, place, stack, judged, !tick.user, process, time);
  place = frames_.put(tree_, place, process, tick.address, !tick.user, time).place;
  if (exclusive_.size() <= place) exclusive_.resize(tree_.size());
  ++exclusive_[place];
  ++ticks_;
}

std::vector<CallTree::Node> CallTree::nodes() const {
  std::vector<Node> nodes(tree_.size());
  for (uint32_t place = 1; place < nodes.size(); ++place) {
    const auto& [parent, value] = tree_.node(place);
    using enum Node::Kind;
    Node::Kind kind = function;
    if (parent == PathTree::root)
      kind = process;
    else if (options_.by_thread && nodes[parent].kind == process)
      kind = thread;
    const uint64_t ticks = place < exclusive_.size() ? exclusive_[place] : 0;
    nodes[place] = {kind, parent, value, ticks, ticks};
  }
  // A child has a higher number than its parent.
  for (size_t place = nodes.size(); place-- > 1;)
    nodes[nodes[place].parent].inclusive += nodes[place].inclusive;
  return nodes;
}

std::string CallTree::name(const Node& node) const {
  return node.kind == Node::Kind::function ? frames_.name(node.id) : names_.text(node.id);
}

}  // namespace post
