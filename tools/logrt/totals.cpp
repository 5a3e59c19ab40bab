// SPDX-License-Identifier: MIT
// Sums of a call flow: of each method, class or package in all threads.
#include "totals.h"

#include <fmt/format.h>
#include <pi/printable.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

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

bool is_of_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// A name without its list of arguments, and whether it had one. Text such as " const" or a return
// type of Java may follow that list.
std::pair<std::string_view, bool> without_arguments(std::string_view name) {
  const size_t last = name.rfind(')');
  const std::string_view rest = last == name.npos ? "" : name.substr(last);
  if (rest.empty() || rest.find("::") != rest.npos || rest.find('}') != rest.npos)
    return {name, false};
  int depth = 0;
  for (size_t at = last + 1; at-- > 0;) {
    if (name[at] == ')') ++depth;
    if (name[at] == '(' && --depth == 0 && at > 0) return {name.substr(0, at), true};
  }
  return {name, false};
}

// Where in a C++ name a scope ends and where it begins, outside of all brackets.
struct Scope {
  size_t begin = 0;                     // after the return type, which the names of templates have
  size_t end = std::string_view::npos;  // at the last "::", or the one before "operator"
};

Scope scope_of(std::string_view name) {
  Scope scope;
  int depth = 0;
  for (size_t at = 0; at < name.size(); ++at) {
    const char c = name[at];
    if (c == '<' || c == '(' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == '}') --depth;
    if (depth > 0) continue;
    if (c == ' ') scope = {at + 1, std::string_view::npos};
    if (name.substr(at).starts_with("::")) {
      scope.end = at++;
      // Its name may have blanks, brackets and further scopes: "operator std::string".
      constexpr std::string_view word = "operator";
      const std::string_view rest = name.substr(at + 1);
      if (rest.starts_with(word) && (rest.size() == word.size() || !is_of_word(rest[word.size()])))
        break;
    }
  }
  return scope;
}

// The part of a C++ or Java name before its last component; "" if there is none.
std::string_view parent_of(std::string_view name, std::string_view separators) {
  const Scope scope = scope_of(name);
  if (scope.end != name.npos) return name.substr(scope.begin, scope.end - scope.begin);
  size_t at = name.find_last_of(separators);
  // The names of hidden classes end with "/0x" and an address.
  if (at != name.npos && name.substr(at + 1).starts_with("0x"))
    at = at == 0 ? name.npos : name.find_last_of(separators, at - 1);
  return at == name.npos ? std::string_view() : name.substr(0, at);
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
  const auto [name, has_arguments] = without_arguments(method);
  // The dots in "f.part.0", a function of C, separate nothing.
  const std::string_view of_class = parent_of(name, has_arguments ? "." : "");
  return level == Level::class_of ? of_class : parent_of(of_class, "./");
}

std::string label(const std::string& name, Level level) {
  if (!name.empty()) return name;
  return level == Level::method ? "[outside of methods]" : "[none]";
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
