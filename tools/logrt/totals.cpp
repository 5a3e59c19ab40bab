// SPDX-License-Identifier: MIT
// Sums of a call flow: of each method, class or package in all threads.
#include "totals.h"

#include <fmt/format.h>
#include <pi/printable.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>

namespace logrt {
namespace {

struct LevelWord {
  Level level;
  std::string_view word;
};
constexpr LevelWord levels[] = {
    {Level::method, "method"}, {Level::class_of, "class"}, {Level::package, "package"}};

template <class T>
void add(T& sum, T value) {
  if (__builtin_add_overflow(sum, value, &sum)) throw std::overflow_error("sum");
}

// A group of methods, while the nodes are walked in their order.
struct Group {
  Total total;
  size_t running = 0;  // nodes of the group on the path from the thread to the present node
};

// The sum of each node and all of its callees.
std::vector<int64_t> subtree_sums(const std::vector<Node>& nodes) {
  std::vector<int64_t> sums(nodes.size());
  std::vector<size_t> path;  // by level
  std::vector<size_t> callers(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    path.resize(nodes[i].level + size_t{1});
    path.back() = i;
    if (nodes[i].level > 0) callers[i] = path[nodes[i].level - 1];
    sums[i] = nodes[i].base;
  }
  for (size_t i = nodes.size(); i-- > 0;)
    if (nodes[i].level > 0) add(sums[callers[i]], sums[i]);
  return sums;
}

// What precedes the last "::" or separator in `name`. brackets: those inside of brackets do not
// count.
std::string_view scope_of(std::string_view name, std::string_view separators, bool brackets) {
  int depth = 0;
  for (size_t at = name.size(); at-- > 0;) {
    const char c = name[at];
    if (c == '>' || c == ')') ++depth;
    if (c == '<' || c == '(') --depth;
    if (brackets && depth > 0) continue;
    if (c == ':' && at > 0 && name[at - 1] == ':') return name.substr(0, at - 1);
    if (separators.find(c) != separators.npos) return name.substr(0, at);
  }
  // "operator>" has a bracket that nothing opens.
  return brackets && depth > 0 ? scope_of(name, separators, false) : std::string_view();
}

}  // namespace

std::optional<Level> level_named(std::string_view word) {
  for (const auto& known : levels)
    if (known.word == word) return known.level;
  return {};
}

std::string_view level_word(Level level) {
  return levels[static_cast<size_t>(level)].word;
}

std::string_view component_of(std::string_view method, Level level) {
  if (level == Level::method) return method;
  // Without the arguments: "(anonymous namespace)" is not one.
  size_t end = method.find('(', 1);
  if (end != method.npos && method[end - 1] == ':') end = method.find('(', end + 1);
  const std::string_view of_class = scope_of(method.substr(0, end), ".", true);
  return level == Level::class_of ? of_class : scope_of(of_class, "./", true);
}

double Total::base_of_call() const {
  return calls == 0 ? 0 : static_cast<double>(base) / static_cast<double>(calls);
}

pi::Result<Totals> total(const CallFlow& flow, Level level) {
  try {
    std::map<std::string_view, size_t> by_name;
    std::vector<Group> groups;
    std::vector<size_t> group_of_name(flow.names.size());
    for (size_t i = 0; i < flow.names.size(); ++i) {
      const std::string_view name = component_of(flow.names[i], level);
      const auto [found, added] = by_name.try_emplace(name, groups.size());
      if (added) groups.push_back({{std::string(name), 0, 0, 0}, 0});
      group_of_name[i] = found->second;
    }
    const auto sums = subtree_sums(flow.nodes);
    Totals totals;
    std::vector<size_t> path;  // groups
    for (size_t i = 0; i < flow.nodes.size(); ++i) {
      const Node& node = flow.nodes[i];
      for (; path.size() > node.level; path.pop_back()) --groups[path.back()].running;
      Group& group = groups[group_of_name[node.name]];
      if (group.running++ == 0) add(group.total.cumulated, sums[i]);
      path.push_back(group_of_name[node.name]);
      // A thread is no call.
      if (node.level > 0) add(group.total.calls, node.calls);
      add(group.total.base, node.base);
      if (node.level > 0) add(totals.calls, node.calls);
      add(totals.base, node.base);
    }
    for (auto& group : groups) totals.rows.push_back(std::move(group.total));
    std::ranges::sort(totals.rows, {}, &Total::name);
    return totals;
  } catch (const std::overflow_error&) {
    return pi::Error{-1, fmt::format("{} has sums of 2^63 and more.", pi::printable(flow.path))};
  }
}

}  // namespace logrt
