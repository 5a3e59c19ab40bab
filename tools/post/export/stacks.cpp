// SPDX-License-Identifier: MIT
// Walks through the stacks of a call tree.
#include "stacks.h"

#include <algorithm>
#include <tuple>

#include "text/text.h"

namespace post {

using Node = CallTree::Node;

Stacks::Stacks(const CallTree& calls)
    : nodes_(calls.nodes_with_guesses()), functions_(nodes_.size()) {
  std::vector<uint64_t> called(nodes_.size());  // ticks of the functions that a node calls
  for (uint32_t i = 1; i < nodes_.size(); ++i) {
    if (nodes_[i].kind != Node::Kind::function) continue;
    functions_[nodes_[i].parent].push_back(i);
    called[nodes_[i].parent] += nodes_[i].inclusive;
  }
  for (uint32_t i = 1; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    if (node.kind == Node::Kind::function || called[i] == 0) continue;
    const bool thread = node.kind == Node::Kind::thread;
    owners_.push_back({printable(calls.name(thread ? nodes_[node.parent] : node)),
                       thread ? printable(calls.name(node)) : std::string(), i, called[i]});
  }
  std::ranges::stable_sort(owners_, [](const StackOwner& a, const StackOwner& b) {
    return std::tie(b.ticks, a.process, a.thread) < std::tie(a.ticks, b.process, b.thread);
  });
}

bool Stacks::for_each(const StackOwner& owner, const Use& use) const {
  std::vector<FrameId> stack;
  return std::ranges::all_of(functions_[owner.node],
                             [&](uint32_t function) { return walk(function, stack, use); });
}

// At most as deep as a record has capacity for frames.
bool Stacks::walk(uint32_t node, std::vector<FrameId>& stack, const Use& use) const {
  if (nodes_[node].inclusive == 0) return true;
  stack.push_back(nodes_[node].id);
  bool good = nodes_[node].exclusive == 0 || use(stack, nodes_[node].exclusive);
  for (const uint32_t callee : functions_[node]) good = good && walk(callee, stack, use);
  stack.pop_back();
  return good;
}

}  // namespace post
