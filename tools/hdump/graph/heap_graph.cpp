// SPDX-License-Identifier: MIT
#include "heap_graph.h"

#include <fmt/format.h>

#include <algorithm>

namespace hdump {

// Objects, classes, names and roots.
class HeapGraph::FirstPass final : public Visitor {
 public:
  FirstPass(HeapGraph& graph, DiskAppender<Object>& objects)
      : graph_(graph), classes_(graph.classes_), objects_(objects) {}

  void string(Id id, std::string_view text) override { classes_.add_string(id, text); }
  void loaded_class(Id id, Id name) override { classes_.add_loaded(id, name); }
  void root(RootKind kind, Id id) override {
    ++graph_.root_counts_[static_cast<size_t>(kind)];
    roots.emplace_back(id, kind);
  }
  void class_dump(const ClassDump& dump) override {
    if (classes_.add(dump)) add(dump.id, Classes::of_classes, classes_.static_bytes(dump.id));
  }
  void instance(Id id, Id class_id, std::span<const std::byte>) override {
    add(id, number(class_id), 0);
  }
  void object_array(Id id, Id class_id, uint32_t length) override {
    const uint32_t cls = number(class_id);
    if (arrays.size() <= cls) arrays.resize(cls + 1);
    arrays[cls] = true;
    add(id, cls, length);
  }
  void primitive_array(Id id, Type type, uint32_t length) override {
    add(id, Classes::of_primitive_array(type), length);
  }

  std::vector<std::pair<Id, RootKind>> roots;
  std::vector<bool> arrays;  // by class: its objects are arrays of objects
  Id lowest = UINT64_MAX;
  Id highest = 0;
  bool sorted = true;  // each id is higher than the one before

 private:
  uint32_t number(Id class_id) {
    if (class_id != last_id_) {
      last_id_ = class_id;
      last_number_ = classes_.number(class_id);
    }
    return last_number_;
  }

  void add(Id id, uint32_t cls, uint32_t length) {
    sorted = sorted && (objects_.size() == 0 || id > highest);
    lowest = std::min(lowest, id);
    highest = std::max(highest, id);
    objects_.push_back({id, cls, length});
  }

  HeapGraph& graph_;
  Classes& classes_;
  DiskAppender<Object>& objects_;
  std::optional<Id> last_id_;
  uint32_t last_number_ = no_class;
};

// References.
class HeapGraph::SecondPass final : public Visitor {
 public:
  SecondPass(HeapGraph& graph, DiskAppender<uint32_t>& targets)
      : graph_(graph), targets_(targets), id_size_(graph.facts_.id_size) {}

  void class_dump(const ClassDump& dump) override {
    begin(dump.id);
    for (const Id id : {dump.super, dump.loader, dump.signers, dump.domain}) add(id);
    for (const StaticField& field : dump.statics)
      if (field.type == Type::object) add(field.value);
    end();
  }

  void instance(Id id, Id class_id, std::span<const std::byte> fields) override {
    begin(id);
    const auto cls = graph_.classes_.find(class_id);
    const auto* references = cls ? graph_.classes_.references(*cls, fields.size()) : nullptr;
    if (references == nullptr) {
      ++graph_.misfits_;
    } else {
      for (const Classes::Reference& reference : *references)
        add(load_id(fields.data() + reference.offset, id_size_));
    }
    end();
  }

  void object_array(Id id, Id, uint32_t length) override {
    begin(id);
    left_ = length;
    if (left_ == 0) end();
  }
  void elements(std::span<const std::byte> ids) override {
    for (size_t at = 0; at < ids.size(); at += id_size_) add(load_id(ids.data() + at, id_size_));
    left_ -= ids.size() / id_size_;
    if (left_ == 0) end();
  }
  void primitive_array(Id, Type, uint32_t) override { ++next_; }

  // The references of the last object are complete; to be called after the last record too.
  void end() {
    if (pending_ != no_target) targets_.push_back(pending_ | last_target);
    pending_ = no_target;
    node_ = no_node;
  }

 private:
  // An array whose rest is missing has no end(): the next object ends it.
  void begin(Id id) {
    end();
    if (next_ >= graph_.size() || graph_.objects_[next_].id != id) {
      const auto node = graph_.find(id);
      next_ = node ? *node : graph_.size();
      if (!node) return;
    }
    // The first object with an id counts.
    if (graph_.first_[next_] == no_target) node_ = next_;
    ++next_;
  }

  void add(Id id) {
    if (id == 0 || node_ == no_node) return;
    const auto target = graph_.find(id);
    if (!target) {
      ++graph_.dangling_;
      return;
    }
    if (pending_ == no_target)
      graph_.first_[node_] = static_cast<uint32_t>(targets_.size());
    else
      targets_.push_back(pending_);
    pending_ = *target;
  }

  HeapGraph& graph_;
  DiskAppender<uint32_t>& targets_;
  unsigned id_size_;
  Node next_ = 0;  // the node of the next object, if the dump has them in the order of their ids
  Node node_ = no_node;
  uint32_t pending_ = no_target;
  uint64_t left_ = 0;
};

pi::Result<HeapGraph> HeapGraph::read(const Open& open, const DiskSpace& space, Damage& damage,
                                      const Progress& progress) {
  HeapGraph graph;
  auto stream = open();
  if (!stream) return stream.error();
  DiskAppender<Object> objects(space);
  FirstPass first(graph, objects);
  const auto facts = read_dump(**stream, first, damage,
                               [&](uint64_t position) { progress("reading objects", position); });
  if (!facts) return facts.error();
  graph.facts_ = *facts;
  if (objects.size() == 0) return pi::Error{-1, "it has no objects."};
  if (objects.size() > most_objects)
    return pi::Error{-1, fmt::format("it has {} objects; at most {} are possible.", objects.size(),
                                     most_objects)};
  auto array = objects.finish();
  if (!array) return array.error();
  graph.objects_ = std::move(*array);
  graph.lowest_ = first.lowest;
  if (!first.sorted) graph.sort_objects(damage);
  graph.index_ids(first.highest);
  graph.layout_ = assumed_layout(facts->id_size, first.lowest, first.highest);
  graph.complete_classes(first.arrays);
  graph.add_roots(first.roots);

  auto starts = DiskArray<uint32_t>::make(space, graph.size());
  if (!starts) return starts.error();
  graph.first_ = std::move(*starts);
  std::ranges::fill(graph.first_, no_target);
  DiskAppender<uint32_t> targets(space);
  stream = open();
  if (!stream) return stream.error();
  SecondPass second(graph, targets);
  // It finds the same damage again.
  Damage again;
  const auto same = read_dump(**stream, second, again,
                              [&](uint64_t position) { progress("reading references", position); });
  second.end();
  if (!same) return same.error();
  if (targets.size() > most_references)
    return pi::Error{-1, fmt::format("its objects have {} references; at most {} are possible.",
                                     targets.size(), most_references)};
  auto edges = targets.finish();
  if (!edges) return edges.error();
  graph.targets_ = std::move(*edges);
  if (graph.roots_.empty()) graph.assume_roots();
  graph.leave_out_root_classes();
  return graph;
}

void HeapGraph::sort_objects(Damage& damage) {
  std::ranges::sort(objects_, {}, &Object::id);
  Object* end = std::unique(objects_.begin(), objects_.end(),
                            [](const Object& a, const Object& b) { return a.id == b.id; });
  if (end == objects_.end()) return;
  damage.add(0, fmt::format("{} objects have the id of another object and are left out",
                            objects_.end() - end));
  objects_.shrink(static_cast<uint64_t>(end - objects_.begin()));
}

void HeapGraph::index_ids(Id highest) {
  const uint64_t range = highest - lowest_;
  const uint64_t most_groups = objects_.size() / 8 + 2;  // so that shifting by 63 bits suffices
  group_shift_ = 0;
  while (range >> group_shift_ >= most_groups) ++group_shift_;
  groups_.assign((range >> group_shift_) + 2, 0);
  // First the number of objects in each group, then where it begins.
  for (const Object& object : objects_) ++groups_[((object.id - lowest_) >> group_shift_) + 1];
  for (size_t i = 1; i < groups_.size(); ++i) groups_[i] += groups_[i - 1];
}

std::optional<Node> HeapGraph::find(Id id) const {
  const uint64_t group = (id - lowest_) >> group_shift_;
  if (id < lowest_ || group + 1 >= groups_.size()) return std::nullopt;
  const auto begin = objects_.begin() + groups_[group];
  const auto end = objects_.begin() + groups_[group + 1];
  const auto found = std::ranges::lower_bound(begin, end, id, {}, &Object::id);
  if (found == end || found->id != id) return std::nullopt;
  return static_cast<Node>(found - objects_.begin());
}

void HeapGraph::complete_classes(const std::vector<bool>& arrays) {
  classes_.complete();
  for (uint32_t i = type_numbers; i < classes_.size(); ++i)
    if (classes_[i].name == "java.lang.Class") class_of_classes_ = i;
  sizes_.resize(classes_.size());
  class_node_.assign(classes_.size(), no_node);
  for (uint32_t i = 0; i < classes_.size(); ++i) {
    if (i < type_numbers) {
      sizes_[i] = {layout_.array_header, size_in_dump(static_cast<Type>(i), layout_.reference)};
    } else if (i < arrays.size() && arrays[i]) {
      sizes_[i] = {layout_.array_header, layout_.reference};
    } else {
      sizes_[i] = {classes_.object_bytes(i, layout_), 0};
    }
    if (i < type_numbers || !classes_[i].dumped) continue;
    const auto node = find(classes_[i].id);
    if (!node || objects_[*node].cls != Classes::of_classes) continue;
    class_node_[i] = *node;
    objects_[*node].cls = class_of_classes_;
  }
  sizes_[class_of_classes_].element = 1;
}

void HeapGraph::add_roots(std::vector<std::pair<Id, RootKind>>& found) {
  for (const auto& [id, kind] : found)
    if (const auto node = find(id)) roots_.push_back({*node, kind});
  found = {};
  std::ranges::stable_sort(roots_, {}, &Root::node);
  roots_.erase(std::unique(roots_.begin(), roots_.end(),
                           [](const Root& a, const Root& b) { return a.node == b.node; }),
               roots_.end());
}

void HeapGraph::assume_roots() {
  roots_assumed_ = true;
  std::vector<bool> referenced(size());
  for (Node node = 0; node < size(); ++node)
    for_each_target(
        node, [&](Node target) { referenced[target] = referenced[target] || target != node; });
  for (Node node = 0; node < size(); ++node)
    if (!referenced[node]) roots_.push_back({node, RootKind::unknown});
}

void HeapGraph::leave_out_root_classes() {
  for (Node& node : class_node_)
    if (node != no_node && std::ranges::binary_search(roots_, node, {}, &Root::node))
      node = no_node;
}

}  // namespace hdump
