// SPDX-License-Identifier: MIT
// From a dump to the values of its report.
#include <fnmatch.h>

#include <algorithm>

#include "graph/dominator_tree.h"
#include "graph/paths.h"
#include "graph/suspects.h"
#include "report.h"
#include "text.h"

namespace hdump {
namespace {

class Analysis {
 public:
  Analysis(HeapGraph& graph, const Dominators& dominators, const Children& children,
           const ReportOptions& options, Report& report)
      : graph_(graph),
        dominators_(dominators),
        children_(children),
        options_(options),
        report_(report) {}

  void totals() {
    report_.facts = graph_.facts();
    report_.layout = graph_.layout();
    report_.jvm = graph_.jvm();
    report_.objects = graph_.size();
    report_.references = graph_.references();
    report_.dangling = graph_.dangling();
    report_.misfits = graph_.misfits();
    report_.roots_assumed = graph_.roots_assumed();
    report_.reachable_objects = dominators_.size() - 1;
    report_.reachable_bytes = dominators_.retained(0);
    for (size_t i = 0; i < graph_.root_counts().size(); ++i)
      if (const uint64_t count = graph_.root_counts()[i])
        report_.roots.emplace_back(root_name(static_cast<RootKind>(i)), count);
  }

  void classes(const std::vector<ClassTotals>& totals) {
    for (uint32_t i = 0; i < totals.size(); ++i) {
      if (i >= type_numbers && graph_.classes()[i].dumped) ++report_.loaded_classes;
      if (totals[i].objects == 0) continue;
      report_.bytes += totals[i].bytes;
      report_.classes.push_back({graph_.classes()[i].name, totals[i].objects, totals[i].bytes,
                                 totals[i].retained, totals[i].objects == 1});
    }
    std::ranges::stable_sort(report_.classes, [](const ClassRow& a, const ClassRow& b) {
      return a.retained != b.retained ? a.retained > b.retained : a.name < b.name;
    });
  }

  void largest() {
    const auto below = children_.of(0);
    std::vector<Place> places(below.begin(), below.end());
    sort_by_size(places, options_.lines);
    for (const Place place : places) {
      const Node node = dominators_.node(place);
      report_.largest.push_back(
          {name(node), graph_.object(node).id, graph_.bytes(node), dominators_.retained(place)});
    }
  }

  void ways(const std::vector<Way>& all) {
    const double least = static_cast<double>(dominators_.retained(0)) * options_.clip_percent / 100;
    std::vector<std::vector<uint32_t>> below(all.size());
    for (uint32_t i = 1; i < all.size(); ++i)
      if (static_cast<double>(all[i].retained) >= least) below[all[i].parent].push_back(i);
    std::vector<std::pair<uint32_t, std::string>> left{{0, ""}};
    while (!left.empty()) {
      const auto [number, path] = std::move(left.back());
      left.pop_back();
      if (number != 0) {
        const Way& way = all[number];
        report_.ways.push_back({kind_name(graph_, way.kind), path, way.depth, way.objects,
                                way.bytes, way.retained, way.cut});
      }
      auto& list = below[number];
      std::ranges::stable_sort(list, {}, [&](uint32_t i) { return all[i].retained; });
      for (const uint32_t i : list)
        left.emplace_back(i, (path.empty() ? "" : path + " > ") + kind_name(graph_, all[i].kind));
    }
  }

  pi::Status suspects(const DiskSpace& space, const HeapGraph::Open& open,
                      const HeapGraph::Progress& progress) {
    const auto found = find_suspects(graph_, dominators_, children_, options_.suspect_percent);
    std::vector<Node> targets;
    for (const Suspect& suspect : found) targets.push_back(dominators_.node(suspect.place));
    const size_t asked = targets.size();
    for (const Place place : wanted_objects()) targets.push_back(dominators_.node(place));
    const auto paths = shortest_paths(graph_, space, open, targets, progress);
    if (!paths) return paths.error();
    for (size_t i = 0; i < paths->size(); ++i) {
      PathRow path = path_row((*paths)[i]);
      if (i >= asked) {
        report_.paths.push_back(std::move(path));
        continue;
      }
      SuspectRow row;
      row.name = name(targets[i]);
      row.id = graph_.object(targets[i]).id;
      row.objects = found[i].objects;
      row.retained = found[i].retained;
      row.percent = percent_of(found[i].retained, dominators_.retained(0));
      for (const Held& held : found[i].held)
        row.held.push_back({graph_.classes()[held.cls].name, held.objects, held.bytes, 0, false});
      row.path = std::move(path);
      report_.suspects.push_back(std::move(row));
    }
    return {};
  }

 private:
  std::string name(Node node) const { return kind_name(graph_, kind_of(graph_, node)); }

  void sort_by_size(std::vector<Place>& places, size_t count) const {
    const auto larger = [&](Place a, Place b) {
      const uint64_t first = dominators_.retained(a);
      const uint64_t second = dominators_.retained(b);
      return first != second ? first > second : a < b;
    };
    const size_t kept = std::min(count, places.size());
    std::ranges::partial_sort(places, places.begin() + static_cast<ptrdiff_t>(kept), larger);
    places.resize(kept);
  }

  // The largest objects of the classes whose names fit the pattern.
  std::vector<Place> wanted_objects() const {
    std::vector<Place> places;
    if (options_.paths_of.empty()) return places;
    std::vector<bool> wanted(graph_.classes().size());
    for (uint32_t i = 0; i < wanted.size(); ++i)
      wanted[i] = ::fnmatch(options_.paths_of.c_str(), graph_.classes()[i].name.c_str(), 0) == 0;
    for (Place place = 1; place < dominators_.size(); ++place)
      if (wanted[dominators_.cls(place)]) places.push_back(place);
    sort_by_size(places, options_.lines);
    return places;
  }

  PathRow path_row(const Path& path) const {
    PathRow row;
    if (path.steps.empty()) return row;
    row.root = root_name(path.root);
    for (const Step& step : path.steps)
      row.steps.push_back({name(step.node), graph_.object(step.node).id, step.reference});
    return row;
  }

  HeapGraph& graph_;
  const Dominators& dominators_;
  const Children& children_;
  const ReportOptions& options_;
  Report& report_;
};

}  // namespace

pi::Result<Report> analyse(const std::string& name, const HeapGraph::Open& open,
                           const DiskSpace& space, const ReportOptions& options,
                           const HeapGraph::Progress& progress) {
  Report report;
  report.file = name;
  auto graph = HeapGraph::read(open, space, report.damage, progress);
  if (!graph) return graph.error();
  const auto dominators = Dominators::of(
      *graph, space, [&](const char* step, uint64_t done, uint64_t) { progress(step, done); });
  if (!dominators) return dominators.error();
  const auto children = Children::of(*dominators, space);
  if (!children) return children.error();
  Analysis analysis(*graph, *dominators, *children, options, report);
  analysis.totals();
  const auto totals = class_totals(*graph, *dominators, *children, space);
  if (!totals) return totals.error();
  analysis.classes(*totals);
  analysis.largest();
  const auto all = ways(*graph, *dominators, space);
  if (!all) return all.error();
  analysis.ways(*all);
  if (const auto status = analysis.suspects(space, open, progress); !status) return status.error();
  return report;
}

}  // namespace hdump
