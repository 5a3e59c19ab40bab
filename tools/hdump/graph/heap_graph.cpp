// SPDX-License-Identifier: MIT
#include "heap_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "reference_pass.h"

namespace hdump {

// Objects, classes, names and roots.
class HeapGraph::FirstPass final : public Visitor {
 public:
  FirstPass(HeapGraph& graph, ObjectIds::Builder& ids, const DiskSpace& space)
      : roots(space), graph_(graph), classes_(graph.classes_), ids_(ids) {}

  void ids_have(unsigned bytes) override { classes_.set_id_size(bytes); }
  void string(Id id, std::string_view text) override { classes_.add_string(id, text); }
  void loaded_class(Id id, Id name) override { classes_.add_loaded(id, name); }
  void root(RootKind kind, Id id) override {
    ++graph_.root_counts_[static_cast<size_t>(kind)];
    roots.push_back({id, kind});
  }
  void class_dump(const ClassDump& dump) override {
    if (classes_.add(dump)) ids_.add(dump.id);
  }
  void instance(Id id, Id class_id, std::span<const std::byte>) override {
    Id& seen = seen_[(class_id >> 3 ^ class_id >> 11) % seen_.size()];
    if (seen != class_id) classes_.number(class_id);
    seen = class_id;
    ids_.add(id);
  }
  void object_array(Id id, Id class_id, uint32_t) override {
    const uint32_t cls = classes_.number(class_id);
    if (arrays.size() <= cls) arrays.resize(cls + 1);
    arrays[cls] = true;
    ids_.add(id);
  }
  void primitive_array(Id id, Type, uint32_t) override { ids_.add(id); }

  DiskAppender<FoundRoot> roots;
  std::vector<bool> arrays;  // by class: its objects are arrays of objects

 private:
  HeapGraph& graph_;
  Classes& classes_;
  ObjectIds::Builder& ids_;
  // Some classes that have their number; the first value belongs elsewhere.
  std::array<Id, 256> seen_{8};
};

pi::Result<HeapGraph> HeapGraph::read(const Open& open, const DiskSpace& space, Damage& damage,
                                      const Progress& progress) {
  HeapGraph graph;
  auto stream = open();
  if (!stream) return stream.error();
  ObjectIds::Builder ids(space);
  FirstPass first(graph, ids, space);
  const auto facts = read_dump(**stream, first, damage,
                               [&](uint64_t position) { progress("reading objects", position); });
  if (!facts) return facts.error();
  graph.facts_ = *facts;
  if (ids.size() == 0) return pi::Error{-1, "it has no objects."};
  if (ids.size() > most_objects)
    return pi::Error{
        -1, fmt::format("it has {} objects; at most {} are possible.", ids.size(), most_objects)};
  auto sorted = ids.finish();
  if (!sorted) return sorted.error();
  graph.ids_ = std::move(*sorted);
  if (const uint64_t more = ids.size() - graph.size())
    damage.add(0, fmt::format("{} objects have the id of another object and are left out", more));
  if (const uint64_t texts = graph.classes_.texts_left_out())
    damage.add(0, fmt::format("{} names are left out: a dump may have 256 MiB of them", texts));
  if ((*stream)->jvm() != nullptr) graph.jvm_ = *(*stream)->jvm();
  graph.layout_ = graph.jvm_ && graph.jvm_->layout
                      ? *graph.jvm_->layout
                      : assumed_layout(facts->id_size, ids.lowest(), ids.highest());
  graph.complete_classes(first.arrays);
  if (const auto status = graph.add_roots(first.roots, space); !status) return status.error();
  if (const auto status = graph.read_references(open, space, progress); !status)
    return status.error();
  if (graph.roots_.empty())
    if (const auto status = graph.assume_roots(space); !status) return status.error();
  graph.leave_out_root_classes();
  return graph;
}

pi::Status HeapGraph::read_references(const Open& open, const DiskSpace& space,
                                      const Progress& progress) {
  auto records = ObjectRecords::Writer::make(space, size());
  if (!records) return records.error();
  const auto stream = open();
  if (!stream) return stream.error();
  ReferencePass pass(
      classes_, ids_, [&](const Shape& shape) { return bytes(shape); }, class_of_classes_,
      facts_.id_size, *records);
  // It finds the same damage again.
  Damage again;
  const auto same = read_dump(**stream, pass, again,
                              [&](uint64_t position) { progress("reading references", position); });
  pass.finish();
  if (!same) return same.error();
  if (same->id_size != facts_.id_size || same->bytes != facts_.bytes)
    return pi::Error{-1, "it has changed while it was read."};
  references_ = records->targets();
  auto finished = records->finish();
  if (!finished) return finished.error();
  records_ = std::move(*finished);
  dangling_ = pass.dangling();
  misfits_ = pass.misfits();
  totals_ = pass.totals();
  for (const ClassSum& total : totals_) all_bytes_ += total.bytes;
  return {};
}

void HeapGraph::complete_classes(const std::vector<bool>& arrays) {
  classes_.complete(jvm_ ? &*jvm_ : nullptr);
  if (jvm_) jvm_->classes.clear();
  for (uint32_t i = type_numbers; i < classes_.size(); ++i)
    if (classes_[i].name == "java.lang.Class") class_of_classes_ = i;
  sizes_.resize(classes_.size());
  class_node_.assign(classes_.size(), no_node);
  for (uint32_t i = 0; i < classes_.size(); ++i) {
    if (i < type_numbers) {
      sizes_[i] = array_size(size_in_dump(static_cast<Type>(i), layout_.reference));
    } else if (i < arrays.size() && arrays[i]) {
      sizes_[i] = array_size(layout_.reference);
    } else {
      sizes_[i] = {classes_.object_bytes(i, layout_), 0};
    }
    if (i < type_numbers || !classes_[i].dumped) continue;
    class_node_[i] = find(classes_[i].id).value_or(no_node);
  }
  sizes_[class_of_classes_].element = 1;
}

// A hostile dump has any number of roots, also of one object: so they are in files.
pi::Status HeapGraph::add_roots(DiskAppender<FoundRoot>& found, const DiskSpace& space) {
  const auto all = found.finish();
  if (!all) return all.error();
  // 1 + the kind of the first root of each object.
  auto kinds = DiskArray<uint8_t>::make(space, size());
  if (!kinds) return kinds.error();
  for (const FoundRoot& root : *all)
    if (const auto node = find(root.id); node && (*kinds)[*node] == 0)
      (*kinds)[*node] = static_cast<uint8_t>(1 + static_cast<uint8_t>(root.kind));
  DiskAppender<Root> roots(space);
  for (Node node = 0; node < size(); ++node)
    if (const uint8_t kind = (*kinds)[node])
      roots.push_back({node, static_cast<RootKind>(kind - 1)});
  auto sorted = roots.finish();
  if (!sorted) return sorted.error();
  roots_ = std::move(*sorted);
  return {};
}

pi::Status HeapGraph::assume_roots(const DiskSpace& space) {
  roots_assumed_ = true;
  std::vector<bool> referenced(size());
  for (Node node = 0; node < size(); ++node)
    for_each_target(
        node, [&](Node target) { referenced[target] = referenced[target] || target != node; });
  DiskAppender<Root> roots(space);
  for (Node node = 0; node < size(); ++node)
    if (!referenced[node]) roots.push_back({node, RootKind::unknown});
  auto all = roots.finish();
  if (!all) return all.error();
  roots_ = std::move(*all);
  return {};
}

void HeapGraph::leave_out_root_classes() {
  for (Node& node : class_node_)
    if (node != no_node && std::ranges::binary_search(roots_, node, {}, &Root::node))
      node = no_node;
}

}  // namespace hdump
