// SPDX-License-Identifier: MIT
// Chooses the call paths that the HTML page contains, and adds up the ticks (or time) of the
// others.
#include "html_paths.h"

#include <algorithm>
#include <functional>

namespace post {
namespace {

// For each place in the tree, the place of its thread; root for processes.
std::vector<uint32_t> threads_of(const PathTree& tree) {
  std::vector<uint32_t> threads(tree.size(), PathTree::root);
  for (uint32_t place = 1; place < tree.size(); ++place) {
    const uint32_t parent = tree.node(place).parent;
    if (parent == PathTree::root) continue;
    threads[place] = tree.node(parent).parent == PathTree::root ? place : threads[parent];
  }
  return threads;
}

// The amount of each place and of the places below it.
std::vector<uint64_t> inclusive_amounts(const PathTree& tree, std::vector<uint64_t> amounts) {
  for (size_t place = tree.size(); place-- > 1;)
    amounts[tree.node(static_cast<uint32_t>(place)).parent] += amounts[place];
  return amounts;
}

// The least amount of a path that is kept. Fewer paths are kept than allowed if many have the same.
uint64_t least_amount(const std::vector<uint32_t>& functions, const std::vector<uint64_t>& amounts,
                      size_t most) {
  if (functions.size() <= most) return 0;
  std::vector<uint64_t> sorted;
  sorted.reserve(functions.size());
  for (const uint32_t place : functions) sorted.push_back(amounts[place]);
  const auto limit = sorted.begin() + static_cast<std::ptrdiff_t>(most / 2);
  std::ranges::nth_element(sorted, limit, std::greater());
  return *limit + 1;
}

}  // namespace

HtmlPaths choose_paths(const PathTree& tree, const std::vector<TimeSums::Sum>& amounts,
                       size_t most) {
  std::vector<uint64_t> own(tree.size());
  for (const TimeSums::Sum& sum : amounts) own[sum.key] += sum.amount * (sum.last - sum.first + 1);
  const std::vector<uint64_t> inclusive = inclusive_amounts(tree, own);
  const std::vector<uint32_t> threads = threads_of(tree);
  std::vector<uint32_t> functions;
  for (uint32_t place = 1; place < tree.size(); ++place)
    if (threads[place] != PathTree::root && threads[place] != place) functions.push_back(place);
  const uint64_t least = least_amount(functions, inclusive, most);

  HtmlPaths chosen;
  chosen.node_of.assign(tree.size(), HtmlPaths::none);
  for (const uint32_t place : functions)
    if (inclusive[place] >= least) {
      chosen.node_of[place] = static_cast<uint32_t>(chosen.nodes.size());
      chosen.nodes.push_back(
          {chosen.node_of[tree.node(place).parent], threads[place], tree.node(place).value});
    }
  std::vector<uint32_t> joined(tree.size(), HtmlPaths::none);  // by the place above
  for (const uint32_t place : functions) {
    if (inclusive[place] >= least) continue;
    ++chosen.left_out;
    chosen.left_out_amount += own[place];
    const uint32_t parent = tree.node(place).parent;
    if (parent != threads[place] && inclusive[parent] < least) {
      chosen.node_of[place] = chosen.node_of[parent];
      continue;
    }
    if (joined[parent] == HtmlPaths::none) {
      joined[parent] = static_cast<uint32_t>(chosen.nodes.size());
      chosen.nodes.push_back({chosen.node_of[parent], threads[place], HtmlPaths::left_out_frame});
    }
    chosen.node_of[place] = joined[parent];
  }
  return chosen;
}

}  // namespace post
