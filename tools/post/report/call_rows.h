// SPDX-License-Identifier: MIT
// Makes the rows of the reports on calls, sorted and clipped.
#ifndef POST_CALL_ROWS_H
#define POST_CALL_ROWS_H

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/call_tree.h"

namespace post {

// A row before the rows it contains; siblings by inclusive ticks, then name. Rows with fewer
// inclusive ticks than clip are left out.
struct CallRow {
  uint32_t depth = 0;
  CallTree::Node::Kind kind = CallTree::Node::Kind::process;
  std::string name;
  uint64_t inclusive = 0;
  uint64_t exclusive = 0;
  uint64_t guessed = 0;  // of the inclusive ones, those for which the frame is a guess
};

std::vector<CallRow> make_call_rows(const CallTree& tree, uint64_t clip);

struct CallEdge {
  std::string name;  // of the caller or the callee
  uint64_t ticks = 0;
  FrameId id = 0;
};

// One function in all processes. A tick whose stack contains the function several times counts once
// in inclusive, and once for each different caller and callee.
struct FunctionRow {
  std::string name;
  uint64_t inclusive = 0;
  uint64_t exclusive = 0;
  uint64_t outermost = 0;         // ticks of stacks that begin with it
  std::vector<CallEdge> callers;  // by ticks, then name
  std::vector<CallEdge> callees;
  FrameId id = 0;
  uint64_t guessed = 0;  // of the inclusive ones, those for which the frame is a guess
};

// By inclusive ticks, then name.
std::vector<FunctionRow> make_function_rows(const CallTree& tree, uint64_t clip);

// The same of the ticks that `wanted` takes; not clipped.
std::vector<FunctionRow> make_function_rows(const CallTree& tree,
                                            const CallTree::WantedTicks& wanted);

const char* kind_word(CallTree::Node::Kind kind);   // "function"
const char* kind_label(CallTree::Node::Kind kind);  // "FUN"

// Calls use for the line of each distinct stack, "app_0020;main;work 12\n": first by process, then
// by the names below it. Ends, with false, when use returns false.
bool for_each_folded_line(const CallTree& tree, const std::function<bool(std::string_view)>& use);

}  // namespace post

#endif  // POST_CALL_ROWS_H
