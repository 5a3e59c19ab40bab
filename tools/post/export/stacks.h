// SPDX-License-Identifier: MIT
// Walks through the stacks of a call tree.
#ifndef POST_STACKS_H
#define POST_STACKS_H

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analysis/call_tree.h"

namespace post {

// The stacks of one process, or of one thread where the tree divides processes.
struct StackOwner {
  std::string process;
  std::string thread;  // empty: the whole process
  uint32_t node = 0;   // its number in the tree's nodes
  uint64_t ticks = 0;
};

class Stacks {
 public:
  explicit Stacks(const CallTree& calls);

  // By ticks, then name; owners without ticks are left out.
  const std::vector<StackOwner>& owners() const { return owners_; }

  // Calls use for each distinct stack of an owner, the outermost function first, stacks with common
  // callers one after the other; stacks with a guess are others. Ends, with false, when use returns
  // false.
  using Use = std::function<bool(std::span<const FrameId> stack, uint64_t ticks)>;
  bool for_each(const StackOwner& owner, const Use& use) const;

 private:
  bool walk(uint32_t node, std::vector<FrameId>& stack, const Use& use) const;

  std::vector<CallTree::Node> nodes_;
  std::vector<std::vector<uint32_t>> functions_;  // called by each node, as numbers of nodes
  std::vector<StackOwner> owners_;
};

}  // namespace post

#endif  // POST_STACKS_H
