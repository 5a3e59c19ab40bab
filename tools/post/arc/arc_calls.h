// SPDX-License-Identifier: MIT
// From the lines of an arc to a call tree of each thread.
//
// The last instruction of each line moves the thread's stack. arcf(1) has the rules for moves
// without a call or return.
#ifndef POST_ARC_CALLS_H
#define POST_ARC_CALLS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "arc_lines.h"
#include "text/path_tree.h"
#include "text/string_table.h"

namespace post {

class ArcCalls {
 public:
  using NodeId = uint32_t;  // of the tree; below its root the threads, below them functions

  struct Node {
    NodeId parent = 0;
    NameId function = no_name;
    uint64_t calls = 0;    // that were seen
    uint64_t self = 0;     // instructions
    bool entered = false;  // before the trace, or by an unknown call
  };

  struct Thread {
    std::string name;
    NodeId node = 0;
    uint64_t user = 0;  // instructions
    uint64_t kernel = 0;
    uint64_t missing = 0;  // ... of gaps
    uint64_t gaps = 0;
    uint64_t climbed = 0;  // returns to a caller from before the trace
    uint64_t unwound = 0;  // moves that left more than one function at once
    uint64_t deep = 0;     // calls too deep for the tree
  };

  ArcCalls();

  void add(const ArcLine& line);

  const std::vector<Thread>& threads() const { return threads_; }
  // By id; a parent's is less than its children's.
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::string& name(NameId id) const { return names_.text(id); }

 private:
  // How a function was put on the stack.
  enum class How : uint8_t {
    entered,  // its call is not in the arc
    call,
    kernel,  // a system call, or an unknown entry to the kernel
    vector,  // an exception or interrupt itself
    signal,  // the kernel sent the thread there
    gap,
  };
  struct Frame {
    NodeId node;
    NameId function;
    How how;
    bool user;
  };
  struct State {
    std::vector<Frame> stack;
    std::unordered_map<NameId, uint32_t> on_stack;
    LineType last = LineType::other;  // of the line before
    bool after_gap = false;
  };

  NodeId child(NodeId below, NameId function);
  void push(State& state, size_t thread, NameId function, How how, bool user, bool counted);
  void pop(State& state);
  void replace(State& state, size_t thread, NameId function, bool counted);
  // Unwinds to the function, within the frames since the last entry to the kernel or user mode.
  bool unwind(State& state, size_t thread, NameId function);
  void leave_kernel(State& state, size_t thread, const ArcLine& line, NameId function);
  void leave_vector(State& state, size_t thread, NameId function);
  void take_return(State& state, size_t thread, NameId function, bool user);
  void move(State& state, size_t thread, const ArcLine& line, NameId function);
  void settle(State& state, size_t thread, const ArcLine& line, NameId function);
  void take_vector(State& state, size_t thread, const ArcLine& line);
  void take_gap(State& state, size_t thread, const ArcLine& line);
  NameId intern(std::string_view name);
  size_t thread_of(std::string_view name);

  StringTable names_;
  PathTree tree_;
  std::vector<Node> nodes_;
  std::vector<Thread> threads_;
  std::vector<State> states_;
  std::unordered_map<NameId, size_t> by_name_;
};

}  // namespace post

#endif  // POST_ARC_CALLS_H
