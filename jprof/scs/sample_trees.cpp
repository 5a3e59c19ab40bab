// SPDX-License-Identifier: MIT
// A tree of calls for each thread, made of samples.
#include "scs/sample_trees.h"

#include <algorithm>
#include <utility>

#include "log_text.h"

namespace pi::jprof {

void SampleTrees::add(uint32_t tid, std::span<const uint32_t> methods, const SampleValues& values) {
  uint32_t node = root_of(tid);
  if (node == none) {
    ++cut_;
    return;
  }
  for (size_t i = methods.size(); i-- > 0;) {
    const uint32_t callee = callee_of(node, methods[i]);
    if (callee == none) {
      ++cut_;
      break;
    }
    node = callee;
  }
  for (size_t i = 0; i < values.size(); ++i) nodes_[node].values[i] += values[i];
}

void SampleTrees::clear() {
  cut_ = 0;
  nodes_.clear();
  trees_.clear();
  current_.clear();
  callees_.clear();
  ended_.clear();
}

void SampleTrees::thread_starts(uint32_t tid) {
  current_.erase(tid);
  ended_.erase(tid);
}

void SampleTrees::thread_ends(uint32_t tid, const std::string& name) {
  const auto found = current_.find(tid);
  if (found == current_.end()) return void(ended_[tid] = {name, false});
  Tree& tree = trees_[found->second];
  tree.ended = true;
  tree.name = name;
}

void SampleTrees::forget_ended() {
  std::erase_if(ended_, [](const auto& thread) { return thread.second.is_old; });
  for (auto& [tid, thread] : ended_) thread.is_old = true;
}

uint32_t SampleTrees::root_of(uint32_t tid) {
  if (const auto found = current_.find(tid); found != current_.end())
    return trees_[found->second].root;
  const uint32_t root = make_node(none, 0);
  if (root == none) return none;
  Tree tree{tid, root, false, {}};
  if (const auto thread = ended_.find(tid); thread != ended_.end()) {
    tree.ended = true;
    tree.name = std::move(thread->second.name);
    ended_.erase(thread);
  }
  current_[tid] = trees_.size();
  trees_.push_back(std::move(tree));
  return root;
}

uint32_t SampleTrees::callee_of(uint32_t caller, uint32_t method) {
  const auto [place, is_new] = callees_.try_emplace(uint64_t{caller} << 32 | method, none);
  if (is_new) place->second = make_node(caller, method);
  const uint32_t callee = place->second;
  if (callee == none) callees_.erase(place);
  return callee;
}

uint32_t SampleTrees::make_node(uint32_t parent, uint32_t method) {
  if (nodes_.size() >= nodes_max_) return none;
  const auto number = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back({method, parent, none, none, none, {}});
  if (parent == none) return number;
  Node& caller = nodes_[parent];
  if (caller.first_callee == none)
    caller.first_callee = number;
  else
    nodes_[caller.last_callee].next = number;
  caller.last_callee = number;
  return number;
}

void SampleTrees::copy_nodes(uint32_t root, std::vector<callflow::CallNode>& nodes) const {
  const auto append = [&](uint32_t number, size_t parent) {
    callflow::CallNode copy;
    const uint32_t method = nodes_[number].method;
    copy.method = method & ~native_bit;
    copy.type = method & native_bit ? callflow::Type::c_function : callflow::Type::other;
    copy.parent = parent;
    copy.level = parent == callflow::no_parent ? 0 : nodes[parent].level + 1;
    std::copy(nodes_[number].values.begin(), nodes_[number].values.end(), copy.base.begin());
    nodes.push_back(copy);
  };
  append(root, callflow::no_parent);
  uint32_t number = root;
  size_t parent = 0;  // where the copy of the number's caller, or of itself while going down, is
  while (true) {
    if (nodes_[number].first_callee != none) {
      number = nodes_[number].first_callee;
    } else {
      while (number != root && nodes_[number].next == none) {
        number = nodes_[number].parent;
        parent = nodes[parent].parent;
      }
      if (number == root) return;
      number = nodes_[number].next;
      parent = nodes[parent].parent;
    }
    append(number, parent);
    parent = nodes.size() - 1;
  }
}

std::vector<callflow::TreeCopy> SampleTrees::copy(
    const std::map<uint32_t, std::string>& names) const {
  std::vector<callflow::TreeCopy> copies;
  for (const Tree& tree : trees_) {
    callflow::TreeCopy copy;
    copy.tid = tree.tid;
    copy.ended = tree.ended;
    const auto living = names.find(tree.tid);
    copy.name = thread_log_name(tree.ended || living == names.end() ? tree.name : living->second);
    copy_nodes(tree.root, copy.nodes);
    copies.push_back(std::move(copy));
  }
  return copies;
}

}  // namespace pi::jprof
