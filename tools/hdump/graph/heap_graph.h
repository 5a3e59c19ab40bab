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

namespace hdump {

// Objects have numbers from 0, in the order of their ids; classes are objects too.
using Node = uint32_t;
constexpr Node no_node = UINT32_MAX;
constexpr uint32_t no_target = UINT32_MAX;
constexpr uint64_t most_objects = (uint64_t{1} << 31) - 2;
constexpr uint64_t most_references = (uint64_t{1} << 32) - 2;

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
  const Classes& classes() const { return classes_; }
  Classes& classes() { return classes_; }
  const std::vector<Root>& roots() const { return roots_; }  // by node; each object once
  // The dump has no roots, because its end is missing: all objects without references to them are
  // roots.
  bool roots_assumed() const { return roots_assumed_; }
  const std::array<uint64_t, static_cast<size_t>(RootKind::count)>& root_counts() const {
    return root_counts_;
  }

  Node size() const { return static_cast<Node>(objects_.size()); }
  const Object& object(Node node) const { return objects_[node]; }
  std::optional<Node> find(Id id) const;
  // In the JVM, as the layout has it.
  uint64_t bytes(Node node) const {
    const Object& object = objects_[node];
    const Size& size = sizes_[object.cls];
    return (size.bytes + object.length * size.element + layout_.alignment - 1) &
           ~uint64_t{layout_.alignment - 1};
  }
  // It is a class.
  bool is_class(Node node) const {
    return objects_[node].cls == class_of_classes_ && classes_.find(objects_[node].id);
  }
  // References whose target is not in the dump; objects whose class does not fit them.
  uint64_t dangling() const { return dangling_; }
  uint64_t misfits() const { return misfits_; }
  uint64_t references() const { return targets_.size(); }

  // The objects that one object refers to, its class included, one after the other.
  struct Targets {
    uint32_t at = 0;     // the next in targets_, or no_target
    Node cls = no_node;  // its class, which comes last
    bool left() const { return at != no_target || cls != no_node; }
  };
  Targets targets_of(Node node) const { return {first_[node], class_node_[objects_[node].cls]}; }
  // Only if some are left.
  Node next(Targets& targets) const {
    if (targets.at == no_target) return std::exchange(targets.cls, no_node);
    const uint32_t target = targets_[targets.at];
    targets.at = (target & last_target) != 0 ? no_target : targets.at + 1;
    return target & ~last_target;
  }
  // Calls use(target) for each of them; one may come several times.
  template <class Use>
  void for_each_target(Node node, Use use) const {
    for (Targets targets = targets_of(node); targets.left();) use(next(targets));
  }

 private:
  static constexpr uint32_t last_target = uint32_t{1} << 31;  // the last of an object's targets
  class FirstPass;
  class SecondPass;

  // Bytes of the objects of a class: a fixed number, and some for each element.
  struct Size {
    uint64_t bytes = 0;
    uint64_t element = 0;
  };

  void sort_objects(Damage& damage);
  void index_ids(Id highest);
  void complete_classes(const std::vector<bool>& arrays);
  void add_roots(std::vector<std::pair<Id, RootKind>>& found);
  void assume_roots();
  void leave_out_root_classes();

  DumpFacts facts_;
  Layout layout_;
  Classes classes_;
  DiskArray<Object> objects_;
  std::vector<Size> sizes_;       // by class
  std::vector<Node> class_node_;  // by class: its object; none if that is a root, or missing
  uint32_t class_of_classes_ = Classes::of_classes;
  std::vector<Root> roots_;
  bool roots_assumed_ = false;
  std::array<uint64_t, static_cast<size_t>(RootKind::count)> root_counts_{};
  // The first target of each object, or none; the last has the bit last_target.
  DiskArray<uint32_t> first_;
  DiskArray<uint32_t> targets_;
  // Objects whose id begins with the same bits follow each other; where each group begins.
  std::vector<Node> groups_;
  unsigned group_shift_ = 0;
  Id lowest_ = 0;
  uint64_t dangling_ = 0;
  uint64_t misfits_ = 0;
};

}  // namespace hdump

#endif  // HDUMP_GRAPH_HEAP_GRAPH_H
