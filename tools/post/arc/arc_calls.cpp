// SPDX-License-Identifier: MIT
// Builds a call tree of each thread from the lines of an arc.
#include "arc_calls.h"

#include <algorithm>
#include <string_view>

#include "text/name_limit.h"

namespace post {
namespace {

// Maximum depth of the tree; deeper functions count for the last one.
constexpr size_t deepest_node = 4096;
// Maximum number of frames on a stack; deeper ones are not needed.
constexpr size_t deepest_stack = 1 << 20;
// Maximum number of frames that a search for a function examines.
constexpr size_t longest_search = 1 << 16;

// A compiler moves rarely executed code elsewhere: "work.cold", "work.cold.3".
std::string function_name(std::string_view name) {
  const size_t colon = name.rfind(':');
  const size_t cold = name.substr(0, colon).rfind(".cold");
  if (cold == std::string_view::npos || cold == 0) return std::string(name);
  const std::string_view after =
      name.substr(cold + 5, (colon == std::string_view::npos ? name.size() : colon) - cold - 5);
  if (after.find_first_not_of(".0123456789") != std::string_view::npos) return std::string(name);
  std::string function(name.substr(0, cold));
  if (colon != std::string_view::npos) function += name.substr(colon);
  return function;
}

}  // namespace

ArcCalls::ArcCalls() : nodes_(1) {}

ArcCalls::NodeId ArcCalls::child(NodeId below, NameId function) {
  const NodeId id = tree_.child(below, function);
  if (id == nodes_.size()) {
    nodes_.emplace_back();
    nodes_.back().parent = below;
    nodes_.back().function = function;
  }
  return id;
}

NameId ArcCalls::intern(std::string_view name) {
  return name.size() <= longest_name ? names_.intern(name) : names_.intern(limited_name(name));
}

size_t ArcCalls::thread_of(std::string_view name) {
  const NameId id = intern(name);
  const auto [known, added] = by_name_.try_emplace(id, threads_.size());
  if (added) {
    threads_.emplace_back();
    threads_.back().name = name;
    threads_.back().node = child(PathTree::root, id);
    states_.emplace_back();
  }
  return known->second;
}

void ArcCalls::push(State& state, size_t thread, NameId function, How how, bool user,
                    bool counted) {
  if (state.stack.size() >= deepest_stack) pop(state);
  const NodeId below = state.stack.empty() ? threads_[thread].node : state.stack.back().node;
  const bool deep = state.stack.size() >= deepest_node;
  if (deep) ++threads_[thread].deep;
  const NodeId node = deep ? below : child(below, function);
  if (counted && !deep) ++nodes_[node].calls;
  if (how == How::entered) nodes_[node].entered = true;
  state.stack.push_back({node, function, how, user});
  ++state.on_stack[function];
}

void ArcCalls::pop(State& state) {
  const auto known = state.on_stack.find(state.stack.back().function);
  if (--known->second == 0) state.on_stack.erase(known);
  state.stack.pop_back();
}

// The function replaces the one on top of the stack.
void ArcCalls::replace(State& state, size_t thread, NameId function, bool counted) {
  const Frame top = state.stack.back();
  pop(state);
  push(state, thread, function, top.how, top.user, counted);
}

bool ArcCalls::unwind(State& state, size_t thread, NameId function) {
  if (!state.on_stack.contains(function)) return false;
  const bool user = state.stack.back().user;
  size_t size = state.stack.size();
  const size_t end = size > longest_search ? size - longest_search : 0;
  while (size > end) {
    const Frame& frame = state.stack[size - 1];
    if (frame.user != user || frame.how == How::vector) return false;
    if (frame.function == function) break;
    --size;
    if (frame.how == How::kernel) return false;
  }
  if (size <= end) return false;
  if (state.stack.size() - size > 1) ++threads_[thread].unwound;
  while (state.stack.size() > size) pop(state);
  return true;
}

// Returns to user mode, from any depth in the kernel.
void ArcCalls::leave_kernel(State& state, size_t thread, const ArcLine& line, NameId function) {
  while (!state.stack.empty() && !state.stack.back().user) pop(state);
  const bool starts = line.offset == 0 && line.name.starts_with("_start:");
  if (starts)  // another program
    while (!state.stack.empty()) pop(state);
  if (state.stack.empty()) return push(state, thread, function, How::entered, true, false);
  if (state.stack.back().function == function) return;
  if (line.offset == 0) return push(state, thread, function, How::signal, true, true);
  if (!unwind(state, thread, function)) replace(state, thread, function, false);
}

// Returns from the handler of an exception or interrupt in the kernel to the interrupted code.
void ArcCalls::leave_vector(State& state, size_t thread, NameId function) {
  const auto inside = std::find_if(state.stack.rbegin(), state.stack.rend(),
                                   [](const Frame& f) { return f.how == How::vector || f.user; });
  if (inside != state.stack.rend() && !inside->user)
    while (state.stack.size() >= static_cast<size_t>(state.stack.rend() - inside)) pop(state);
  if (state.stack.empty() || state.stack.back().user)
    return push(state, thread, function, How::kernel, false, false);
  if (state.stack.back().function == function || unwind(state, thread, function)) return;
  if (state.stack.back().how == How::vector)
    push(state, thread, function, How::call, false, false);
  else
    replace(state, thread, function, false);
}

void ArcCalls::take_return(State& state, size_t thread, NameId function, bool user) {
  const Frame left = state.stack.back();
  pop(state);
  const bool same = !state.stack.empty() && state.stack.back().user == user &&
                    state.stack.back().how != How::vector && left.how != How::kernel;
  if (same && (state.stack.back().function == function || unwind(state, thread, function))) return;
  if (left.how == How::signal || left.how == How::kernel || (same && left.how == How::gap))
    return push(state, thread, function, left.how, user, false);
  if (same && left.how == How::call) return replace(state, thread, function, false);
  if (!same && !state.stack.empty())  // within a handler
    return push(state, thread, function, How::call, user, false);
  // The call is not in the arc: this function called the one on the stack, or is unrelated to it.
  ++threads_[thread].climbed;
  while (!state.stack.empty() && state.stack.back().user == user) pop(state);
  push(state, thread, function, How::entered, user, false);
}

// A move to another function, or on in the same one, without call and return.
void ArcCalls::move(State& state, size_t thread, const ArcLine& line, NameId function) {
  const Frame& top = state.stack.back();
  if (top.function == function) return;
  if (line.offset == 0 && state.last == LineType::jump && !state.after_gap)
    return replace(state, thread, function, true);
  if (line.offset == 0 && state.last == LineType::undefined)
    return push(state, thread, function, How::call, line.user, true);
  if (unwind(state, thread, function)) return;
  if (state.after_gap) return push(state, thread, function, How::gap, line.user, false);
  replace(state, thread, function, false);
}

// Puts the line's function on top of the stack.
void ArcCalls::settle(State& state, size_t thread, const ArcLine& line, NameId function) {
  if (state.stack.empty()) return push(state, thread, function, How::entered, line.user, false);
  const Frame top = state.stack.back();
  if (!top.user && line.user) return leave_kernel(state, thread, line, function);
  if (top.user && !line.user) return push(state, thread, function, How::kernel, false, true);
  if (state.last == LineType::iret && !line.user) return leave_vector(state, thread, function);
  if (top.how == How::vector) return push(state, thread, function, How::call, line.user, true);
  if (state.last == LineType::call && !(state.after_gap && top.function == function))
    return push(state, thread, function, How::call, line.user, true);
  if (state.last == LineType::ret && !state.after_gap)
    return take_return(state, thread, function, line.user);
  move(state, thread, line, function);
}

void ArcCalls::take_vector(State& state, size_t thread, const ArcLine& line) {
  const NameId function = intern(line.name);
  if (line.type == LineType::vector) {
    push(state, thread, function, How::vector, false, true);
  } else if (state.on_stack.contains(function)) {
    while (state.stack.back().function != function) pop(state);
    pop(state);
  }
  state.last = LineType::other;
  state.after_gap = false;
}

void ArcCalls::take_gap(State& state, size_t thread, const ArcLine& line) {
  const NodeId below = state.stack.empty() ? threads_[thread].node : state.stack.back().node;
  Node& node = nodes_[child(below, intern(line.name))];
  ++node.calls;
  node.self += line.instructions;
  ++threads_[thread].gaps;
  threads_[thread].missing += line.instructions;
  state.after_gap = true;
}

void ArcCalls::add(const ArcLine& line) {
  if (line.mark == '?') return;
  const size_t thread = thread_of(line.thread);
  State& state = states_[thread];
  if (line.type == LineType::gap) return take_gap(state, thread, line);
  if (line.type == LineType::vector || line.type == LineType::vector_end)
    return take_vector(state, thread, line);
  settle(state, thread, line, intern(function_name(line.name)));
  nodes_[state.stack.back().node].self += line.instructions;
  (line.user ? threads_[thread].user : threads_[thread].kernel) += line.instructions;
  state.last = line.type;
  state.after_gap = false;
}

}  // namespace post
