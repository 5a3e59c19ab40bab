// SPDX-License-Identifier: MIT
// A tree of calls for each thread, made of samples.
#ifndef PI_JPROF_SAMPLE_TREES_H
#define PI_JPROF_SAMPLE_TREES_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <snapshot.h>

namespace pi::jprof {

// What a sample counts for, in the order of the report's metrics.
using SampleValues = std::array<int64_t, 2>;

// Of a method's number: it is a function of native code.
constexpr uint32_t native_bit = uint32_t{1} << 31;

// Not thread-safe. Methods have the numbers of a MethodList; nothing here calls the JVM.
class SampleTrees {
 public:
  // nodes: the most of all threads together.
  explicit SampleTrees(size_t nodes = size_t{1} << 21) : nodes_max_(nodes) {}

  // methods: innermost first; none: the values are the thread's own.
  void add(uint32_t tid, std::span<const uint32_t> methods, const SampleValues& values);
  void clear();

  // The kernel uses the ids of ended threads again.
  void thread_starts(uint32_t tid);
  void thread_ends(uint32_t tid, const std::string& name);
  // After all samples of ended threads were added: forgets the names of those without samples.
  void forget_ended();

  // Threads in the order of their first sample; methods depth first, callees in the order of
  // theirs. names: of threads that run.
  std::vector<callflow::TreeCopy> copy(const std::map<uint32_t, std::string>& names) const;

  // Samples that are counted in a caller, because there are too many nodes.
  uint64_t cut() const { return cut_; }

 private:
  static constexpr uint32_t none = UINT32_MAX;

  struct Node {
    uint32_t method = 0;
    uint32_t parent = none;
    uint32_t first_callee = none, last_callee = none, next = none;
    SampleValues values{};
  };
  struct Tree {
    uint32_t tid;
    uint32_t root;
    bool ended = false;
    std::string name;
  };
  struct Ended {
    std::string name;
    bool is_old;  // since the forget_ended() before
  };

  uint32_t root_of(uint32_t tid);
  uint32_t callee_of(uint32_t caller, uint32_t method);
  uint32_t make_node(uint32_t parent, uint32_t method);
  void copy_nodes(uint32_t root, std::vector<callflow::CallNode>& nodes) const;

  size_t nodes_max_;
  uint64_t cut_ = 0;
  std::vector<Node> nodes_;
  std::vector<Tree> trees_;
  std::unordered_map<uint32_t, size_t> current_;    // tree by thread
  std::unordered_map<uint64_t, uint32_t> callees_;  // by caller and method
  std::unordered_map<uint32_t, Ended> ended_;       // threads that have no tree yet
};

}  // namespace pi::jprof

#endif  // PI_JPROF_SAMPLE_TREES_H
