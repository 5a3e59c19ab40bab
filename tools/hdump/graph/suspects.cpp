// SPDX-License-Identifier: MIT
#include "suspects.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace hdump {
namespace {

constexpr size_t most_suspects = 10;
constexpr size_t most_held = 5;
// An object that hands on nearly all of what it retains is only on the way to the suspect.
constexpr double handed_on = 0.8;

class Search {
 public:
  Search(const HeapGraph& graph, const Dominators& dominators, const Children& children,
         double percent)
      : graph_(graph), dominators_(dominators), children_(children) {
    const uint64_t all = dominators.retained(0);
    // At least a thousandth: so that there are few.
    least_ = std::max(
        {uint64_t{1}, all / 1000, static_cast<uint64_t>(static_cast<double>(all) * percent / 100)});
  }

  std::vector<Suspect> run() {
    std::unordered_map<uint32_t, Suspect> groups;  // objects below the roots, by class
    for (const Place place : children_.of(0)) {
      if (dominators_.retained(place) >= least_) {
        starts_.push_back(place);
        continue;
      }
      Suspect& group = groups[dominators_.cls(place)];
      group.objects = group.place == 0 ? 1 : group.objects + 1;
      if (group.place == 0 || dominators_.retained(place) > dominators_.retained(group.place))
        group.place = place;
      group.retained += dominators_.retained(place);
    }
    while (!starts_.empty()) {
      const Place start = starts_.back();
      starts_.pop_back();
      descend(start);
    }
    for (const auto& [cls, group] : groups)
      if (group.retained >= least_) found_.push_back(group);
    std::ranges::sort(found_, [](const Suspect& a, const Suspect& b) {
      return a.retained != b.retained ? a.retained > b.retained : a.place < b.place;
    });
    if (found_.size() > most_suspects) found_.resize(most_suspects);
    for (Suspect& suspect : found_) suspect.held = held_by(suspect);
    return std::move(found_);
  }

 private:
  // Goes down from an object to where the bytes divide.
  void descend(Place place) {
    for (;;) {
      Place largest = 0;
      std::vector<Place> large;
      uint64_t together = 0;
      for (const Place below : children_.of(place)) {
        const uint64_t bytes = dominators_.retained(below);
        if (largest == 0 || bytes > dominators_.retained(largest)) largest = below;
        if (bytes < least_) continue;
        large.push_back(below);
        together += bytes;
      }
      const double all = static_cast<double>(dominators_.retained(place)) * handed_on;
      // A list or tree of objects of one kind is one thing.
      const bool same = largest != 0 && kind(largest) == kind(place);
      if (large.empty() || same || static_cast<double>(together) < all) {
        found_.push_back({place, 1, dominators_.retained(place), {}});
        return;
      }
      if (large.size() > 1) {
        starts_.insert(starts_.end(), large.begin(), large.end());
        return;
      }
      place = largest;
    }
  }

  uint32_t kind(Place place) const {
    return kind_of(graph_, dominators_.node(place), dominators_.cls(place));
  }
  uint32_t cls(Place place) const { return dominators_.cls(place); }

  std::vector<Held> held_by(const Suspect& suspect) const {
    std::map<uint32_t, Held> held;
    std::vector<Place> left;
    if (suspect.objects == 1) {
      left.push_back(suspect.place);
    } else {
      for (const Place place : children_.of(0))
        if (cls(place) == cls(suspect.place) && dominators_.retained(place) < least_)
          left.push_back(place);
    }
    while (!left.empty()) {
      const Place place = left.back();
      left.pop_back();
      Held& sum = held[cls(place)];
      ++sum.objects;
      sum.bytes += dominators_.retained(place);
      const auto below = children_.of(place);
      for (const Place child : below) sum.bytes -= dominators_.retained(child);
      left.insert(left.end(), below.begin(), below.end());
    }
    std::vector<Held> list;
    for (auto& [number, sum] : held) {
      sum.cls = number;
      list.push_back(sum);
    }
    std::ranges::stable_sort(list, std::ranges::greater{}, &Held::bytes);
    if (list.size() > most_held) list.resize(most_held);
    return list;
  }

  const HeapGraph& graph_;
  const Dominators& dominators_;
  const Children& children_;
  uint64_t least_;
  std::vector<Place> starts_;
  std::vector<Suspect> found_;
};

}  // namespace

std::vector<Suspect> find_suspects(const HeapGraph& graph, const Dominators& dominators,
                                   const Children& children, double percent) {
  return Search(graph, dominators, children, percent).run();
}

}  // namespace hdump
