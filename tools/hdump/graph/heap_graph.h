// SPDX-License-Identifier: MIT
// The objects of a heap dump and the references between them, in work files.
#ifndef HDUMP_GRAPH_HEAP_GRAPH_H
#define HDUMP_GRAPH_HEAP_GRAPH_H

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "classes.h"
#include "disk_array.h"
#include "object_ids.h"
#include "object_records.h"
#include "reference_pass.h"

namespace hdump {

constexpr uint64_t most_objects = (uint64_t{1} << 31) - 2;

struct Root {
  Node node = 0;
  RootKind kind{};
};

class HeapGraph {
 public:
  struct Object {
    Id id = 0;
    uint32_t cls = 0;     // a number of Classes
    uint32_t length = 0;  // of an array; the bytes of a class's static fields; else 0
  };

  // Reads the dump twice. open: its stream from the beginning. The error's message is a sentence.
  using Open = std::function<pi::Result<std::unique_ptr<ByteStream>>()>;
  using Progress = std::function<void(const char* step, uint64_t position)>;
  static pi::Result<HeapGraph> read(const Open& open, const DiskSpace& space, Damage& damage,
                                    const Progress& progress);

  const DumpFacts& facts() const { return facts_; }
  const Layout& layout() const { return layout_; }
  // What the JVM has recorded on itself, without the sizes of classes; none for an .hprof.
  const std::optional<pi::log_hd::Facts>& jvm() const { return jvm_; }
  const Classes& classes() const { return classes_; }
  Classes& classes() { return classes_; }
  const DiskArray<Root>& roots() const { return roots_; }  // by node; each object once
  // The dump has no roots, because its end is missing: all objects without references to them are
  // roots.
  bool roots_assumed() const { return roots_assumed_; }
  const std::array<uint64_t, static_cast<size_t>(RootKind::count)>& root_counts() const {
    return root_counts_;
  }

  Node size() const { return ids_.size(); }
  Object object(Node node) const {
    const Shape shape = records_[node].shape;
    return {ids_.id(node), shape.cls, shape.length};
  }
  std::optional<Node> find(Id id) const { return ids_.find(id); }
  // In the JVM, as the layout has it.
  uint64_t bytes(Node node) const { return bytes(records_[node].shape); }
  uint64_t bytes(const Shape& shape) const {
    const Size& size = sizes_[shape.cls];
    return (size.bytes + shape.length * size.element + layout_.alignment - 1) &
           ~uint64_t{layout_.alignment - 1};
  }
  // If the object, of class `cls`, is a class: its number.
  std::optional<uint32_t> as_class(Node node, uint32_t cls) const {
    return cls == class_of_classes_ ? classes_.find(ids_.id(node)) : std::nullopt;
  }
  // By number of class.
  const std::vector<ClassSum>& totals() const { return totals_; }
  uint64_t all_bytes() const { return all_bytes_; }
  // References whose target is not in the dump; objects whose class does not fit them.
  uint64_t dangling() const { return dangling_; }
  uint64_t misfits() const { return misfits_; }
  uint64_t references() const { return references_; }

  // The objects that one object refers to, its class included, one after the other.
  struct Targets {
    ObjectRecords::Targets others;
    Node cls = no_node;  // its class, which comes last
    bool left() const { return others.left() || cls != no_node; }
    // Only if some are left.
    Node next() { return others.left() ? others.next() : std::exchange(cls, no_node); }
  };
  Targets targets_of(const ObjectRecords::Record& record) const {
    return {record.targets, class_node_[record.shape.cls]};
  }
  ObjectRecords::Record record(Node node) const { return records_[node]; }
  void prefetch(Node node) const { records_.prefetch(node); }
  // Calls use(target) for each of them; one may come several times.
  template <class Use>
  void for_each_target(Node node, Use use) const {
    for (Targets targets = targets_of(records_[node]); targets.left();) use(targets.next());
  }

 private:
  class FirstPass;

  // Bytes of the objects of a class: a fixed number, and some for each element.
  struct Size {
    uint64_t bytes = 0;
    uint64_t element = 0;
  };

  Size array_size(unsigned element) const {
    return {element == 8 ? layout_.wide_array_header : layout_.array_header, element};
  }
  pi::Status read_references(const Open& open, const DiskSpace& space, const Progress& progress);
  void complete_classes(const std::vector<bool>& arrays);
  struct FoundRoot {
    Id id = 0;
    RootKind kind{};
  };
  pi::Status add_roots(DiskAppender<FoundRoot>& found, const DiskSpace& space);
  pi::Status assume_roots(const DiskSpace& space);
  void leave_out_root_classes();

  DumpFacts facts_;
  std::optional<pi::log_hd::Facts> jvm_;
  Layout layout_;
  Classes classes_;
  ObjectIds ids_;
  ObjectRecords records_;
  std::vector<Size> sizes_;       // by class
  std::vector<Node> class_node_;  // by class: its object; none if that is a root, or missing
  uint32_t class_of_classes_ = Classes::of_classes;
  DiskArray<Root> roots_;
  bool roots_assumed_ = false;
  std::array<uint64_t, static_cast<size_t>(RootKind::count)> root_counts_{};
  std::vector<ClassSum> totals_;
  uint64_t all_bytes_ = 0;
  uint64_t references_ = 0;
  uint64_t dangling_ = 0;
  uint64_t misfits_ = 0;
};

}  // namespace hdump

#endif  // HDUMP_GRAPH_HEAP_GRAPH_H
