// SPDX-License-Identifier: MIT
#include "dominators.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "disk_stack.h"

namespace hdump {
namespace {

constexpr uint32_t report_every = 1 << 20;  // objects between two reports of progress
constexpr size_t most_targets = 1024;       // of an object that are handled together

template <class Array, class... Size>
pi::Status make(Array& array, const DiskSpace& space, Size... size) {
  auto made = Array::make(space, size...);
  if (!made) return made.error();
  array = std::move(*made);
  return {};
}

// References in the order in which they are needed: from the highest target to the lowest.
uint64_t packed(Place source, Place target) {
  return uint64_t{UINT32_MAX - target} << 32 | source;
}
Place source_of(uint64_t reference) {
  return static_cast<Place>(reference);
}
Place target_of(uint64_t reference) {
  return UINT32_MAX - static_cast<Place>(reference >> 32);
}

}  // namespace

// Numbers the objects in the order of a depth-first search. The references between them, other than
// those by which the search reached an object, go to a sorter, by place.
class Dominators::Search {
 public:
  Search(Dominators& result, const HeapGraph& graph, const DiskSpace& space,
         NumberSorter& references, const Progress& progress)
      : result_(result),
        graph_(graph),
        references_(references),
        progress_(progress),
        pending_(space),
        rests_(space) {}

  pi::Status run(const DiskSpace& space) {
    const uint64_t most = uint64_t{graph_.size()} + 1;
    result_.size_shift_ = static_cast<unsigned>(std::countr_zero(graph_.layout().alignment));
    if (const auto status = make(place_, space, graph_.size()); !status) return status;
    if (const auto status = make(result_.node_, space, most); !status) return status;
    if (const auto status = make(result_.dominator_, space, most); !status) return status;
    if (const auto status = make(result_.cls_, space, most, graph_.classes().size()); !status)
      return status;
    if (const auto status =
            make(result_.retained_, space, most, graph_.all_bytes() >> result_.size_shift_);
        !status)
      return status;
    for (const Root& root : graph_.roots()) {
      if (place_[root.node] != 0) continue;
      enter(root.node, 0);
      while (!pending_.empty()) {
        follow(pending_.pop());
        for (const auto* error : {&pending_.error(), &rests_.error()})
          if (*error) return **error;
      }
    }
    result_.node_.shrink(uint64_t{last_} + 1);
    result_.dominator_.shrink(uint64_t{last_} + 1);
    // Roots that another root reached first are children of the roots as well.
    for (const Root& root : graph_.roots()) result_.dominator_[place_[root.node]] = 0;
    return references_.finish();
  }

 private:
  // A reference that is still to be followed; without a target all that are left of the source.
  struct Pending {
    Node target = 0;
    Place source = 0;
  };

  void follow(const Pending& reference) {
    if (reference.target == no_node)
      look_at(rests_.pop(), reference.source);
    else if (const Place target = place_[reference.target]; target != 0)
      keep(reference.source, target);
    else
      enter(reference.target, reference.source);
  }

  void enter(Node node, Place parent) {
    place_[node] = ++last_;
    result_.node_[last_] = node;
    result_.dominator_[last_] = parent;
    const ObjectRecords::Record record = graph_.record(node);
    result_.cls_.set(last_, record.shape.cls);
    result_.retained_.set(last_, graph_.bytes(record.shape) >> result_.size_shift_);
    if (last_ % report_every == 0) progress_("following references", last_, graph_.size());
    look_at(graph_.targets_of(record), last_);
  }

  // Targets that have been reached already need not be followed; the others are, the first one
  // first.
  void look_at(HeapGraph::Targets targets, Place source) {
    size_t count = 0;
    for (; targets.left() && count < most_targets; ++count) {
      targets_[count] = targets.next();
      __builtin_prefetch(&place_[targets_[count]]);
    }
    if (targets.left()) {
      rests_.push(targets);
      pending_.push({no_node, source});
    }
    while (count > 0) {
      const Node target = targets_[--count];
      if (const Place place = place_[target]; place != 0) {
        keep(source, place);
      } else {
        graph_.prefetch(target);
        pending_.push({target, source});
      }
    }
  }

  void keep(Place source, Place target) {
    if (source != target) references_.add(packed(source, target));
  }

  Dominators& result_;
  const HeapGraph& graph_;
  NumberSorter& references_;
  const Progress& progress_;
  DiskArray<Place> place_;  // by node
  DiskStack<Pending> pending_;
  DiskStack<HeapGraph::Targets> rests_;
  std::array<Node, most_targets> targets_;
  Place last_ = 0;
};

pi::Result<Dominators> Dominators::of(const HeapGraph& graph, const DiskSpace& space,
                                      const Progress& progress) {
  Dominators result;
  NumberSorter references(space);
  if (const auto status = Search(result, graph, space, references, progress).run(space); !status)
    return status.error();
  if (const auto status = result.find_dominators(references, space, progress); !status)
    return status.error();
  result.add_sizes();
  return result;
}

pi::Status Dominators::find_dominators(NumberSorter& references, const DiskSpace& space,
                                       const Progress& progress) {
  struct Link {
    Place ancestor = 0;  // in the forest of those that have been processed
    Place label = 0;     // the lowest semidominator on the way to the ancestor
  };
  const Place size = this->size();
  DiskArray<Link> links;
  DiskArray<Place> semi;  // semidominators
  if (const auto status = make(links, space, size); !status) return status;
  if (const auto status = make(semi, space, size); !status) return status;
  std::vector<Place> way;
  // The lowest semidominator on the way from place to the root of its tree in the forest of all
  // places above `current`; the way becomes shorter.
  const auto lowest = [&](Place place, Place current) {
    if (place <= current) return place;
    while (links[place].ancestor > current) {
      way.push_back(place);
      place = links[place].ancestor;
    }
    Place best = links[place].label;
    const Place top = links[place].ancestor;
    while (!way.empty()) {
      const Place below = way.back();
      way.pop_back();
      best = std::min(links[below].label, best);
      links[below] = {top, best};
    }
    return best;
  };
  // All references to a place follow each other.
  std::span<const uint64_t> next;
  for (Place place = size - 1; place > 0; --place) {
    const Place parent = dominator_[place];
    Place best = parent;
    for (;;) {
      if (next.empty()) {
        const auto more = references.next();
        if (!more) return more.error();
        next = *more;
        if (next.empty()) break;
      }
      if (target_of(next.front()) != place) break;
      // Nothing but the roots dominates a root.
      if (parent != 0) best = std::min(best, lowest(source_of(next.front()), place));
      next = next.subspan(1);
    }
    semi[place] = best;
    links[place] = {parent, best};
    if (place % report_every == 0) progress("finding dominators", size - place, size);
  }
  links = {};
  // Each place's dominator is above its parent in the tree of dominators, or that.
  for (Place place = 1; place < size; ++place) {
    Place above = dominator_[place];
    while (above > semi[place]) above = dominator_[above];
    dominator_[place] = above;
  }
  return {};
}

void Dominators::add_sizes() {
  for (Place place = size() - 1; place > 0; --place)
    retained_.set(dominator_[place], retained_[dominator_[place]] + retained_[place]);
}

}  // namespace hdump
