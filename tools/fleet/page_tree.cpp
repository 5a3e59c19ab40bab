// SPDX-License-Identifier: MIT
// The call paths of a fleet's ticks for the HTML page: by process, host and time.
#include "page_tree.h"

#include <fmt/format.h>
#include <pi/printable.h>

namespace fleet {

pi::Status PageStacks::add(const std::string& trace, int64_t stack, std::optional<int64_t> caller,
                           PageFrame frame) {
  const auto [number, is_new] = numbers_.try_emplace(frame, static_cast<uint32_t>(frames_.size()));
  if (is_new) frames_.push_back(std::move(frame));
  uint32_t below = post::PathTree::root;
  if (caller) {
    const auto found = find(trace, *caller);
    if (!found) return found.error();
    below = *found;
  }
  places_[trace][stack] = tree_.child(below, number->second);
  return {};
}

pi::Result<uint32_t> PageStacks::find(const std::string& trace, int64_t stack) const {
  if (const auto places = places_.find(trace); places != places_.end())
    if (const auto place = places->second.find(stack); place != places->second.end())
      return place->second;
  return pi::Error{
      -1, fmt::format("the stacks of the trace '{}' are missing in part.", pi::printable(trace))};
}

void PageTree::add(const std::string& process, const std::string& thread, uint32_t stack,
                   int64_t micros, int64_t ticks) {
  const uint32_t owner =
      tree_.child(tree_.child(post::PathTree::root, names_.intern(process)), names_.intern(thread));
  const uint32_t place = place_of(owner, stack);
  sums_.add(static_cast<uint64_t>(micros) * 1000, place, static_cast<uint64_t>(ticks));
  all_ += static_cast<uint64_t>(ticks);
}

// At most as deep as a record has capacity for frames.
uint32_t PageTree::place_of(uint32_t thread, uint32_t stack) {
  if (stack == post::PathTree::root) return thread;
  if (const auto known = known_.find({thread, stack}); known != known_.end()) return known->second;
  const auto& [caller, frame] = stacks_.tree().node(stack);
  const uint32_t place = tree_.child(place_of(thread, caller), frame);
  return known_[{thread, stack}] = place;
}

}  // namespace fleet
