// SPDX-License-Identifier: MIT
// Counts ticks by call stack.
#include "call_tree.h"

namespace post {

CallTree::CallTree(Processes& processes, Symbolizer& symbolizer, StringTable& names,
                   Options options)
    : processes_(processes),
      names_(names),
      options_(options),
      frames_(symbolizer, names, options.frames, options.source, options.cache_entries),
      roots_(options.cache_entries / 4) {}

uint32_t CallTree::process_root(NameId label, const Process& process) {
  const auto [known, added] =
      known_owners_.try_emplace({label, process.lifetime}, static_cast<uint32_t>(owners_.size()));
  if (added) owners_.push_back({label, {process.lifetime, process.pid}});
  return tree_.child(PathTree::root, known->second);
}

uint32_t CallTree::root_of(const Process& process, uint32_t tid, uint32_t cpu) {
  const RootKey key{process.names_version, options_.by_thread ? tid : 0,
                    options_.labels.per_cpu ? cpu : 0};
  return roots_.at(key, [&] {
    const std::string& name = names_.text(processes_.process_name(process));
    const uint32_t root = process_root(
        names_.intern(post::process_label(process.pid, name, cpu, options_.labels)), process);
    if (!options_.by_thread) return root;
    const std::string& thread = names_.text(processes_.thread_name(process, tid));
    return tree_.child(root, names_.intern(thread_label(tid, thread, options_.labels)));
  });
}

CallTree::Place CallTree::add(const pi::TprofTick& tick, const pi::RecordView& record, uint32_t cpu,
                              uint64_t time, const pi::UserFrames* user_frames) {
  const Process& process = processes_.at(tick.pid, time);
  const uint32_t root = root_of(process, tick.tid, cpu);
  const uint32_t place =
      frames_.put_tick(tree_, root, tick, record, process, time, stacks_, user_frames);
  if (exclusive_.size() <= place) exclusive_.resize(tree_.size());
  ++exclusive_[place];
  ++ticks_;
  return {root, place};
}

CallTree::ByPlace CallTree::left_out_by(const Wanted& wanted) const {
  return [this, &wanted](uint32_t place) {
    const auto& [parent, value] = tree_.node(place);
    return wanted && parent == PathTree::root && !wanted(owners_[value].process);
  };
}

std::vector<CallTree::Node> CallTree::nodes(const Wanted& wanted) const {
  return unite(left_out_by(wanted), [](uint32_t) { return true; });
}

std::vector<CallTree::Node> CallTree::nodes_with_guesses(const Wanted& wanted) const {
  return unite(
      left_out_by(wanted), [](uint32_t) { return true; }, true);
}

std::vector<CallTree::Node> CallTree::nodes_of_ticks(const WantedTicks& wanted) const {
  std::vector<uint32_t> thread_of(tree_.size());  // places by place; root: a process
  for (uint32_t place = 1; place < tree_.size(); ++place) {
    const uint32_t parent = tree_.node(place).parent;
    if (parent == PathTree::root) continue;
    thread_of[place] = tree_.node(parent).parent == PathTree::root ? place : thread_of[parent];
  }
  const auto has_wanted_ticks = [&](uint32_t place) {
    const auto& [process, thread] = tree_.node(thread_of[place]);
    return wanted(owners_[tree_.node(process).value].label, thread,
                  frames_.frame(tree_.node(place).value));
  };
  return unite([](uint32_t) { return false; }, has_wanted_ticks);
}

// The same tree without some processes, with the wanted ticks, and with one node for all processes
// of a name.
std::vector<CallTree::Node> CallTree::unite(const ByPlace& is_left_out,
                                            const ByPlace& has_wanted_ticks,
                                            bool guesses_apart) const {
  PathTree united;
  std::vector<uint32_t> place_in(tree_.size());  // by place in tree_; root: left out
  std::vector<uint64_t> ticks(tree_.size());     // the same
  std::vector<Node> nodes(1);
  for (uint32_t place = 1; place < tree_.size(); ++place) {
    const auto& [parent, value] = tree_.node(place);
    const bool process = parent == PathTree::root;
    if (is_left_out(place) || (!process && place_in[parent] == PathTree::root)) continue;
    Node::Kind kind = Node::Kind::function;
    if (process)
      kind = Node::Kind::process;
    else if (options_.by_thread && nodes[place_in[parent]].kind == Node::Kind::process)
      kind = Node::Kind::thread;
    uint32_t id = process ? owners_[value].label : value;
    if (kind == Node::Kind::function && !guesses_apart) id = frames_.certain(id);
    const uint32_t at = united.child(place_in[parent], id);
    place_in[place] = at;
    if (at == nodes.size()) nodes.push_back({kind, place_in[parent], id});
    if (place < exclusive_.size() && exclusive_[place] != 0 && has_wanted_ticks(place)) {
      ticks[place] = exclusive_[place];
      nodes[at].exclusive += exclusive_[place];
    }
  }
  for (Node& node : nodes) node.inclusive = node.exclusive;
  // A child has a higher number than its parent.
  for (size_t place = nodes.size(); place-- > 1;)
    nodes[nodes[place].parent].inclusive += nodes[place].inclusive;
  if (frames_.has_guesses()) count_guesses(nodes, place_in, std::move(ticks));
  return nodes;
}

// ticks: by place in tree_; they become inclusive.
void CallTree::count_guesses(std::vector<Node>& nodes, const std::vector<uint32_t>& place_in,
                             std::vector<uint64_t> ticks) const {
  for (auto place = static_cast<uint32_t>(tree_.size()); place-- > 1;) {
    const auto& [parent, value] = tree_.node(place);
    ticks[parent] += ticks[place];
    Node& node = nodes[place_in[place]];
    if (node.kind == Node::Kind::function && frames_.frame(value).guessed)
      node.guessed += ticks[place];
  }
}

std::string CallTree::name(const Node& node) const {
  return node.kind == Node::Kind::function ? frames_.name(node.id) : names_.text(node.id);
}

}  // namespace post
