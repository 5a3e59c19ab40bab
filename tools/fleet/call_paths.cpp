// SPDX-License-Identifier: MIT
// Merges the stacks of many traces into one tree of call paths.
#include "call_paths.h"

#include <fmt/format.h>
#include <pi/printable.h>

#include <algorithm>

#include "engine.h"

namespace fleet {
namespace {

pi::Error damaged(const std::string& trace, const char* what) {
  return {Engine::failed, fmt::format("the tables of the trace '{}' are damaged or incomplete: {}.",
                                      pi::printable(trace), what)};
}

}  // namespace

pi::Status CallPaths::add_stack(const std::string& trace, int64_t stack,
                                std::optional<int64_t> caller, const std::string& function) {
  auto& places = places_[trace];
  uint32_t below = post::PathTree::root;
  if (caller) {
    const auto found = places.find(*caller);
    if (found == places.end()) return damaged(trace, "a stack lacks its caller");
    below = found->second;
  }
  if (!places.try_emplace(stack, tree_.child(below, names_.intern(function))).second)
    return damaged(trace, "two stacks have one number");
  return {};
}

pi::Status CallPaths::add_ticks(const std::string& trace, int64_t stack, const std::string& process,
                                int64_t ticks) {
  if (ticks < 0) return damaged(trace, "a number of ticks is negative");
  const auto places = places_.find(trace);
  if (places == places_.end()) return damaged(trace, "its stacks are missing");
  const auto place = places->second.find(stack);
  if (place == places->second.end()) return damaged(trace, "a stack is missing");
  ticks_[{names_.intern(process), place->second}] += ticks;
  return {};
}

std::vector<CallPaths::Row> CallPaths::rows() const {
  std::vector<Row> rows;
  for (const auto& [key, ticks] : ticks_) {
    std::vector<const std::string*> functions;
    for (uint32_t place = key.second; place != post::PathTree::root;
         place = tree_.node(place).parent)
      functions.push_back(&names_.text(tree_.node(place).value));
    std::string path;
    for (size_t i = functions.size(); i-- > 0;) path += (path.empty() ? "" : ";") + *functions[i];
    rows.push_back({names_.text(key.first), std::move(path), ticks});
  }
  std::ranges::sort(rows);
  return rows;
}

}  // namespace fleet
