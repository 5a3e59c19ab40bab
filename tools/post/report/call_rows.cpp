// SPDX-License-Identifier: MIT
// Makes the rows of the reports on calls, sorted and clipped.
#include "call_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace post {
namespace {

using Node = CallTree::Node;

// Numbers of a node's children, by node.
std::vector<std::vector<uint32_t>> children_of(const std::vector<Node>& nodes) {
  std::vector<std::vector<uint32_t>> children(nodes.size());
  for (uint32_t i = 1; i < nodes.size(); ++i) children[nodes[i].parent].push_back(i);
  return children;
}

class CallRowMaker {
 public:
  CallRowMaker(const CallTree& tree, uint64_t clip)
      : tree_(tree), clip_(clip), nodes_(tree.nodes()), children_(children_of(nodes_)) {}

  std::vector<CallRow> make() {
    add(0, 0);
    return std::move(rows_);
  }

 private:
  // At most as deep as a record has capacity for frames.
  void add(uint32_t parent, uint32_t depth) {
    std::vector<CallRow> rows;
    std::vector<std::pair<size_t, uint32_t>> order;  // row and node
    for (const uint32_t child : children_[parent]) {
      const Node& node = nodes_[child];
      if (node.inclusive < clip_ || node.inclusive == 0) continue;
      order.emplace_back(rows.size(), child);
      rows.push_back(
          {depth, node.kind, tree_.name(node), node.inclusive, node.exclusive, node.guessed});
    }
    std::ranges::sort(order, [&](const auto& a, const auto& b) {
      const CallRow& first = rows[a.first];
      const CallRow& second = rows[b.first];
      if (first.inclusive != second.inclusive) return first.inclusive > second.inclusive;
      return first.name != second.name ? first.name < second.name : a.second < b.second;
    });
    for (const auto& [row, child] : order) {
      rows_.push_back(std::move(rows[row]));
      add(child, depth + 1);
    }
  }

  const CallTree& tree_;
  const uint64_t clip_;
  const std::vector<Node> nodes_;
  const std::vector<std::vector<uint32_t>> children_;
  std::vector<CallRow> rows_;
};

// A function or a call, and how often it is on the current path.
struct Tally {
  uint64_t ticks = 0;
  uint32_t under_way = 0;

  void enter(uint64_t inclusive) {
    if (under_way++ == 0) ticks += inclusive;
  }
};

class FunctionRowMaker {
 public:
  FunctionRowMaker(const CallTree& tree, std::vector<Node> nodes, uint64_t clip)
      : tree_(tree),
        clip_(clip),
        nodes_(std::move(nodes)),
        children_(children_of(nodes_)),
        inclusive_(tree.frames().size()),
        exclusive_(tree.frames().size()),
        outermost_(tree.frames().size()),
        guessed_(tree.frames().size()) {}

  std::vector<FunctionRow> make() {
    walk(0);
    std::vector<FunctionRow> rows(inclusive_.size());
    for (FrameId id = 0; id < rows.size(); ++id)
      rows[id] = {tree_.frames().name(id),
                  inclusive_[id].ticks,
                  exclusive_[id],
                  outermost_[id],
                  {},
                  {},
                  id,
                  guessed_[id]};
    for (const auto& [call, tally] : calls_) {
      if (tally.ticks < clip_) continue;
      const auto& [caller, callee] = call;
      rows[callee].callers.push_back({rows[caller].name, tally.ticks, caller});
      rows[caller].callees.push_back({rows[callee].name, tally.ticks, callee});
    }
    std::erase_if(
        rows, [&](const FunctionRow& row) { return row.inclusive < clip_ || row.inclusive == 0; });
    std::ranges::stable_sort(rows, [](const FunctionRow& a, const FunctionRow& b) {
      return a.inclusive != b.inclusive ? a.inclusive > b.inclusive : a.name < b.name;
    });
    for (FunctionRow& row : rows) {
      sort_edges(row.callers);
      sort_edges(row.callees);
    }
    return rows;
  }

 private:
  void walk(uint32_t place) {
    const Node& node = nodes_[place];
    if (place != 0 && node.inclusive == 0) return;
    const bool function = place != 0 && node.kind == Node::Kind::function;
    Tally* call = nullptr;
    if (function) {
      // The outermost of its frames on a path is a guess if any is.
      if (inclusive_[node.id].under_way == 0) guessed_[node.id] += node.guessed;
      inclusive_[node.id].enter(node.inclusive);
      exclusive_[node.id] += node.exclusive;
      const Node& caller = nodes_[node.parent];
      if (caller.kind == Node::Kind::function) {
        call = &calls_[{caller.id, node.id}];
        call->enter(node.inclusive);
      } else {
        outermost_[node.id] += node.inclusive;
      }
    }
    for (const uint32_t child : children_[place]) walk(child);
    if (function) --inclusive_[node.id].under_way;
    if (call) --call->under_way;
  }

  static void sort_edges(std::vector<CallEdge>& edges) {
    std::ranges::stable_sort(edges, [](const CallEdge& a, const CallEdge& b) {
      return a.ticks != b.ticks ? a.ticks > b.ticks : a.name < b.name;
    });
  }

  const CallTree& tree_;
  const uint64_t clip_;
  const std::vector<Node> nodes_;
  const std::vector<std::vector<uint32_t>> children_;
  std::vector<Tally> inclusive_;  // by function
  std::vector<uint64_t> exclusive_;
  std::vector<uint64_t> outermost_;
  std::vector<uint64_t> guessed_;
  std::map<std::pair<FrameId, FrameId>, Tally> calls_;  // caller and callee; references stay valid
};

}  // namespace

std::vector<CallRow> make_call_rows(const CallTree& tree, uint64_t clip) {
  return CallRowMaker(tree, clip).make();
}

std::vector<FunctionRow> make_function_rows(const CallTree& tree, uint64_t clip) {
  return FunctionRowMaker(tree, tree.nodes(), clip).make();
}

std::vector<FunctionRow> make_function_rows(const CallTree& tree,
                                            const CallTree::WantedTicks& wanted) {
  return FunctionRowMaker(tree, tree.nodes_of_ticks(wanted), 0).make();
}

const char* kind_word(Node::Kind kind) {
  constexpr const char* words[] = {"process", "thread", "function"};
  return words[static_cast<size_t>(kind)];
}

const char* kind_label(Node::Kind kind) {
  constexpr const char* labels[] = {"PID", "TID", "FUN"};
  return labels[static_cast<size_t>(kind)];
}

// Different functions can have the same name, so that nodes are united by their texts. Lines can be
// long, and are not kept.
bool for_each_folded_line(const CallTree& tree, const std::function<bool(std::string_view)>& use) {
  struct Stack {
    std::string_view text;
    uint64_t ticks = 0;
    std::vector<uint32_t> children = {};
  };
  const std::vector<Node> nodes = tree.nodes_with_guesses();
  std::vector<Stack> stacks(1);
  std::vector<uint32_t> stack_of(nodes.size(), 0);
  std::unordered_map<std::string, uint32_t> texts;  // references to its keys stay valid
  std::unordered_map<uint64_t, uint32_t> known;     // caller's stack and text
  for (uint32_t place = 1; place < nodes.size(); ++place) {
    const Node& node = nodes[place];
    const auto [text, added] =
        texts.try_emplace(node.kind == Node::Kind::function ? tree.frames().folded_name(node.id)
                                                            : folded_text(tree.name(node)),
                          static_cast<uint32_t>(texts.size()));
    const uint32_t caller = stack_of[node.parent];
    const auto [at, is_new] = known.try_emplace(uint64_t{caller} << 32 | text->second,
                                                static_cast<uint32_t>(stacks.size()));
    if (is_new) {
      stacks[caller].children.push_back(at->second);
      stacks.push_back({text->first});
    }
    stack_of[place] = at->second;
    stacks[at->second].ticks += node.exclusive;
  }
  std::string path;
  const auto write_below = [&](const auto& self, uint32_t caller) -> bool {
    std::ranges::sort(stacks[caller].children, {},
                      [&](uint32_t each) { return stacks[each].text; });
    for (const uint32_t each : stacks[caller].children) {
      const size_t end = path.size();
      if (end != 0) path += ';';
      path += stacks[each].text;
      if (stacks[each].ticks != 0 && !use(fmt::format("{} {}\n", path, stacks[each].ticks)))
        return false;
      if (!self(self, each)) return false;
      path.resize(end);
    }
    return true;
  };
  return write_below(write_below, 0);
}

}  // namespace post
