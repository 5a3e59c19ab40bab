// SPDX-License-Identifier: MIT
// Call trees as text, JSON and folded stacks.
#include "report.h"

#include <fmt/format.h>
#include <state/frames.h>
#include <text/text.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "json.h"

namespace arcf {
namespace {

using Json = pi::Json;
using NodeId = ArcCalls::NodeId;
using Node = ArcCalls::Node;
using Thread = ArcCalls::Thread;

// Sums of the nodes' own figures.
class Sums {
 public:
  explicit Sums(const ArcCalls& flow) {
    const auto& nodes = flow.nodes();
    cumulative_.resize(nodes.size());
    children_.resize(nodes.size());
    for (size_t id = nodes.size(); id-- > 1;) {
      cumulative_[id] += nodes[id].self;
      cumulative_[nodes[id].parent] += cumulative_[id];
      children_[nodes[id].parent].push_back(static_cast<NodeId>(id));
    }
    for (auto& list : children_)
      std::sort(list.begin(), list.end(), [&](NodeId a, NodeId b) {
        if (cumulative_[a] != cumulative_[b]) return cumulative_[a] > cumulative_[b];
        return flow.name(nodes[a].function) < flow.name(nodes[b].function);
      });
  }

  uint64_t cumulative(NodeId id) const { return cumulative_[id]; }
  const std::vector<NodeId>& children(NodeId id) const { return children_[id]; }

  // Visits the nodes below a node, each before its callees. Calls enter with a node and its depth,
  // from 0, and leave when all nodes below it were visited; enter returns whether to visit them.
  template <class Enter, class Leave>
  void visit(NodeId below, Enter enter, Leave leave) const {
    struct Place {
      NodeId id;
      size_t next;
    };
    std::vector<Place> path{{below, 0}};
    while (!path.empty()) {
      auto& [id, next] = path.back();
      if (next == children_[id].size()) {
        if (path.size() > 1) leave(id);
        path.pop_back();
        continue;
      }
      const NodeId child = children_[id][next++];
      if (enter(child, path.size() - 1))
        path.push_back({child, 0});
      else
        leave(child);
    }
  }

 private:
  std::vector<uint64_t> cumulative_;
  std::vector<std::vector<NodeId>> children_;
};

double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string thread_head(const Thread& thread) {
  std::string text = fmt::format(
      "\n Thread {}\n {} instructions: user {}, kernel {}", post::printable(thread.name),
      thread.user + thread.kernel + thread.missing, thread.user, thread.kernel);
  if (thread.gaps != 0) text += fmt::format("; {} missing in {} gaps", thread.missing, thread.gaps);
  text += '\n';
  if (thread.climbed != 0)
    text += fmt::format(" {} returns to functions that were entered before the trace\n",
                        thread.climbed);
  if (thread.unwound != 0)
    text += fmt::format(" {} times several functions were left at once\n", thread.unwound);
  if (thread.deep != 0)
    text += fmt::format(
        " {} calls were too deep for the tree: their instructions are those of the "
        "deepest function shown\n",
        thread.deep);
  return text;
}

std::string title(const char* what, const Source& source) {
  std::string text =
      fmt::format(" {} of {}: {} lines\n", what, post::printable(source.file), source.lines);
  if (source.malformed != 0)
    text += fmt::format(" {} lines are none of an arc and were left out\n", source.malformed);
  return text;
}

// Text that grows with the depth of the calls, in proportion to the arc.
class LimitedText {
 public:
  explicit LimitedText(const Source& source, std::string text = {})
      : most_(most_fixed + most_factor * source.bytes), text_(std::move(text)) {}

  void add(std::string_view more) {
    if (text_.size() + more.size() > most_) throw TooLarge{most_};
    text_ += more;
  }
  std::string take() { return std::move(text_); }

 private:
  static constexpr uint64_t most_fixed = uint64_t{64} << 20;
  static constexpr uint64_t most_factor = 64;

  const uint64_t most_;
  std::string text_;
};

struct Flat {
  uint64_t calls = 0;
  uint64_t self = 0;
  uint64_t cumulative = 0;
  uint32_t active = 0;  // on the path from the thread to the visited node
};

}  // namespace

std::string tree_text(const ArcCalls& flow, const Source& source, double percent) {
  const Sums sums(flow);
  LimitedText text(source, title("Call tree", source));
  for (const Thread& thread : flow.threads()) {
    text.add(thread_head(thread) + fmt::format("\n {:>10} {:>12} {:>12} {:>6}  {}\n", "CALLS",
                                               "SELF", "CUM", "%", "FUNCTION"));
    const uint64_t all = sums.cumulative(thread.node);
    const auto enter = [&](NodeId id, size_t depth) {
      const Node& node = flow.nodes()[id];
      const double part = share(sums.cumulative(id), all);
      if (part < percent) return false;
      text.add(fmt::format(" {:>10} {:>12} {:>12} {:>6.2f}  {}{}{}\n", node.calls, node.self,
                           sums.cumulative(id), part, std::string(depth, ' '),
                           post::printable(flow.name(node.function)),
                           node.entered ? "  (entered before the trace)" : ""));
      return true;
    };
    sums.visit(thread.node, enter, [](NodeId) {});
  }
  return text.take();
}

std::string function_text(const ArcCalls& flow, const Source& source, double percent) {
  const Sums sums(flow);
  std::string text = title("Functions", source);
  for (const Thread& thread : flow.threads()) {
    std::map<post::NameId, Flat> functions;
    const auto enter = [&](NodeId id, size_t) {
      const Node& node = flow.nodes()[id];
      Flat& flat = functions[node.function];
      flat.calls += node.calls;
      flat.self += node.self;
      // A recursive function counts once.
      if (flat.active++ == 0) flat.cumulative += sums.cumulative(id);
      return true;
    };
    sums.visit(thread.node, enter,
               [&](NodeId id) { --functions[flow.nodes()[id].function].active; });
    std::vector<std::pair<post::NameId, Flat>> rows(functions.begin(), functions.end());
    std::sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
      if (a.second.self != b.second.self) return a.second.self > b.second.self;
      return flow.name(a.first) < flow.name(b.first);
    });
    text += thread_head(thread) + fmt::format("\n {:>10} {:>12} {:>6} {:>12}  {}\n", "CALLS",
                                              "SELF", "%", "CUM", "FUNCTION");
    const uint64_t all = sums.cumulative(thread.node);
    for (const auto& [function, flat] : rows)
      if (share(flat.cumulative, all) >= percent)
        text += fmt::format(" {:>10} {:>12} {:>6.2f} {:>12}  {}\n", flat.calls, flat.self,
                            share(flat.self, all), flat.cumulative,
                            post::printable(flow.name(function)));
  }
  return text;
}

// A list, not a tree of objects: flows can be deeper than JSON readers support.
std::string json_text(const ArcCalls& flow, const Source& source) {
  const Sums sums(flow);
  Json threads = Json::array();
  for (const Thread& thread : flow.threads()) {
    Json nodes = Json::array();
    const auto enter = [&](NodeId id, size_t) {
      const Node& node = flow.nodes()[id];
      Json json = {{"id", id},
                   {"function", flow.name(node.function)},
                   {"calls", node.calls},
                   {"self", node.self},
                   {"cumulative", sums.cumulative(id)}};
      if (node.parent != thread.node) json["parent"] = node.parent;
      if (node.entered) json["entered_before"] = true;
      nodes.push_back(std::move(json));
      return true;
    };
    sums.visit(thread.node, enter, [](NodeId) {});
    threads.push_back({{"name", thread.name},
                       {"instructions", {{"user", thread.user}, {"kernel", thread.kernel}}},
                       {"gaps", {{"count", thread.gaps}, {"instructions", thread.missing}}},
                       {"returns_before_trace", thread.climbed},
                       {"unwound", thread.unwound},
                       {"too_deep", thread.deep},
                       {"nodes", std::move(nodes)}});
  }
  const Json json = {{"schema", "pitrace-arcf"},
                     {"schema_version", 1},
                     {"file", source.file},
                     {"lines", source.lines},
                     {"senseless_lines", source.malformed},
                     {"threads", std::move(threads)}};
  return json.dump(1) + "\n";
}

std::string folded_text(const ArcCalls& flow, const Source& source) {
  const Sums sums(flow);
  LimitedText text(source);
  for (const Thread& thread : flow.threads()) {
    std::string path = post::folded_text(thread.name);
    std::vector<size_t> ends;
    const auto enter = [&](NodeId id, size_t) {
      const Node& node = flow.nodes()[id];
      ends.push_back(path.size());
      path += ';' + post::folded_text(flow.name(node.function));
      if (node.self != 0) text.add(fmt::format("{} {}\n", path, node.self));
      return true;
    };
    sums.visit(thread.node, enter, [&](NodeId) {
      path.resize(ends.back());
      ends.pop_back();
    });
  }
  return text.take();
}

}  // namespace arcf
