// SPDX-License-Identifier: MIT
#include "paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace hdump {
namespace {

// Longer paths, such as those along a list, lose their middle.
constexpr size_t longest_path = 64;

// Finds the fields through which objects refer to others.
class ReferenceNames final : public Visitor {
 public:
  explicit ReferenceNames(HeapGraph& graph) : graph_(graph), id_size_(graph.facts().id_size) {}

  void add(Step& step, Node target) {
    wanted_[graph_.object(step.node).id].push_back({graph_.object(target).id, &step.reference});
  }

  void class_dump(const ClassDump& dump) override {
    if (!begin(dump.id)) return;
    const auto number = graph_.classes().find(dump.id);
    const auto& statics = graph_.classes()[*number].statics;
    for (size_t i = 0; i < statics.size(); ++i)
      name(statics[i].value, [&] { return "static " + graph_.classes().static_name(*number, i); });
    name(dump.super, [] { return std::string("<super class>"); });
    name(dump.loader, [] { return std::string("<class loader>"); });
    name(dump.signers, [] { return std::string("<signers>"); });
    name(dump.domain, [] { return std::string("<protection domain>"); });
  }
  void instance(Id id, Id class_id, std::span<const std::byte> fields) override {
    if (!begin(id)) return;
    const auto number = graph_.classes().find(class_id);
    const auto* references = number ? graph_.classes().references(*number, fields.size()) : nullptr;
    if (references == nullptr) return;
    for (const Classes::Reference& reference : *references)
      name(load_id(fields.data() + reference.offset, id_size_),
           [&] { return graph_.classes().field_name(reference); });
    name(class_id, [] { return std::string("<class>"); });
  }
  void object_array(Id id, Id class_id, uint32_t) override {
    index_ = 0;
    if (begin(id)) name(class_id, [] { return std::string("<class>"); });
  }
  void elements(std::span<const std::byte> ids) override {
    if (links_ == nullptr) return;
    for (size_t at = 0; at < ids.size(); at += id_size_, ++index_)
      name(load_id(ids.data() + at, id_size_), [&] { return fmt::format("[{}]", index_); });
  }

 private:
  struct Link {
    Id target = 0;
    std::string* name = nullptr;
  };

  bool begin(Id id) {
    const auto entry = wanted_.find(id);
    links_ = entry == wanted_.end() ? nullptr : &entry->second;
    return links_ != nullptr;
  }
  template <class Make>
  void name(Id target, Make make) {
    for (const Link& link : *links_)
      if (link.target == target && link.name->empty()) *link.name = make();
  }

  HeapGraph& graph_;
  unsigned id_size_;
  std::unordered_map<Id, std::vector<Link>> wanted_;
  const std::vector<Link>* links_ = nullptr;
  uint64_t index_ = 0;
};

}  // namespace

pi::Result<std::vector<Path>> shortest_paths(HeapGraph& graph, const DiskSpace& space,
                                             const HeapGraph::Open& open,
                                             const std::vector<Node>& targets,
                                             const HeapGraph::Progress& progress) {
  std::vector<Path> paths(targets.size());
  if (targets.empty()) return paths;
  auto from = DiskArray<Node>::make(space, graph.size());
  if (!from) return from.error();
  auto queue = DiskArray<Node>::make(space, graph.size());
  if (!queue) return queue.error();
  std::ranges::fill(*from, no_node);
  std::unordered_set<Node> missing(targets.begin(), targets.end());
  Node end = 0;
  const auto reach = [&](Node node, Node source) {
    if ((*from)[node] != no_node) return;
    (*from)[node] = source;
    (*queue)[end++] = node;
    missing.erase(node);
  };
  for (const Root& root : graph.roots()) reach(root.node, root.node);
  for (Node i = 0; i < end && !missing.empty(); ++i) {
    const Node source = (*queue)[i];
    graph.for_each_target(source, [&](Node target) { reach(target, source); });
  }
  ReferenceNames names(graph);
  for (size_t i = 0; i < targets.size(); ++i) {
    if ((*from)[targets[i]] == no_node) continue;
    std::vector<Step>& steps = paths[i].steps;
    Node node = targets[i];
    for (;; node = (*from)[node]) {
      steps.push_back({node, {}});
      if ((*from)[node] == node) break;
    }
    std::ranges::reverse(steps);
    const auto root = std::ranges::lower_bound(graph.roots(), node, {}, &Root::node);
    paths[i].root = root->kind;
    if (steps.size() > longest_path) {
      const auto middle = steps.begin() + longest_path / 2;
      const auto dropped = steps.end() - longest_path / 2;
      middle->reference = fmt::format("... {} objects ...", dropped - middle - 1);
      steps.erase(middle + 1, dropped);
    }
    for (size_t j = 0; j + 1 < steps.size(); ++j)
      if (steps[j].reference.empty()) names.add(steps[j], steps[j + 1].node);
  }
  const auto stream = open();
  if (!stream) return stream.error();
  Damage again;
  const auto read = read_dump(**stream, names, again,
                              [&](uint64_t at) { progress("reading names of fields", at); });
  if (!read) return read.error();
  return paths;
}

}  // namespace hdump
