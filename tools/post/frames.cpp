// SPDX-License-Identifier: MIT
// The frames of call stacks: from return addresses to functions.
#include "frames.h"

#include <algorithm>

#include "text.h"

namespace post {
namespace {

// As glibc and musl name them; of glibc's __libc_start_call_main() and its like there are several.
bool begins_something(std::string_view symbol) {
  constexpr std::string_view starts[] = {"main",  "_start",  "_start_c", "start_thread",
                                         "clone", "__clone", "clone3",   "__clone3"};
  return symbol.starts_with("__libc_start_") ||
         std::find(std::begin(starts), std::end(starts), symbol) != std::end(starts);
}

}  // namespace

void StackCounts::add(const pi::RecordView& record, uint32_t first, const pi::StackView& stack,
                      uint32_t flags) {
  if (!stack.exists()) {
    ++without;
    if (record.int_count() > first) ++unreadable;
    return;
  }
  ++with;
  if ((flags & PITRACE_STACK_KERNEL_BROKEN) != 0) ++kernel_broken;
  if ((flags & PITRACE_STACK_USER_BROKEN) != 0) ++user_broken;
  if ((flags & PITRACE_STACK_KERNEL_CUT) != 0) ++kernel_cut;
  if ((flags & PITRACE_STACK_USER_CUT) != 0) ++user_cut;
}

Frames::Frames(Symbolizer& symbolizer, StringTable& names, Resolver::Options options, size_t places)
    : names_(names), resolver_(symbolizer, names, options, places) {}

FrameId Frames::intern(const Frame& frame) {
  const uint32_t kind = static_cast<uint32_t>(frame.found) << 1 | (frame.kernel ? 1 : 0);
  const uint32_t place =
      known_.child(known_.child(known_.child(PathTree::root, frame.module), frame.symbol), kind);
  if (known_ids_.size() <= place) known_ids_.resize(place + 1);
  if (known_ids_[place] == 0) {
    frames_.push_back(frame);
    frames_.back().begins = frame.found == Found::symbol && !frame.kernel &&
                            begins_something(names_.text(frame.symbol));
    known_ids_[place] = static_cast<FrameId>(frames_.size());  // one more, so that 0 is none
  }
  return known_ids_[place] - 1;
}

Frames::Put Frames::put(PathTree& tree, uint32_t below, const Process& process, uint64_t address,
                        bool kernel, uint64_t time) {
  const Place& place = resolver_.find(process, *process.maps_version, address, !kernel, time);
  const FrameId function = intern({place.module, place.symbol, place.found, kernel});
  below = tree.child(below, function);
  for (const NameId inlined : resolver_.inlined(place))
    below = tree.child(below, intern({place.module, inlined, place.found, kernel}));
  return {below, function};
}

FrameId Frames::at(const Process& process, uint64_t address, bool kernel, uint64_t time) {
  const Place& place = resolver_.find(process, *process.maps_version, address, !kernel, time);
  return intern({place.module, place.symbol, place.found, kernel});
}

// The call stands before the address to which it returns, which can be another function's.
uint64_t Frames::address_of(const pi::StackView& stack, uint32_t i, bool in_kernel) {
  const bool exact = in_kernel && i == stack.kernel_frames();
  return stack.frame(i) - (exact ? 0 : 1);
}

uint32_t Frames::put(PathTree& tree, uint32_t below, const pi::StackView& stack, bool in_kernel,
                     const Process& process, uint64_t time) {
  const uint32_t kernel_frames = stack.kernel_frames();
  for (uint32_t i = kernel_frames + stack.user_frames(); i-- > 0;)
    below =
        put(tree, below, process, address_of(stack, i, in_kernel), i < kernel_frames, time).place;
  return below;
}

// What main() returns to is where the program begins, also where it has no name.
uint32_t Frames::flags(const pi::StackView& stack, bool in_kernel, const Process& process,
                       uint64_t time, std::optional<FrameId> leaf) {
  const uint32_t all = stack.flags();
  if ((all & PITRACE_STACK_USER_BROKEN) == 0) return all;
  const uint32_t first = stack.kernel_frames();
  // The two outermost frames.
  std::optional<FrameId> inner = leaf, outer = leaf;
  for (uint32_t i = first; i < first + stack.user_frames(); ++i) {
    inner = outer;
    outer = at(process, address_of(stack, i, in_kernel), i < first, time);
  }
  const bool whole =
      (outer && frames_[*outer].begins) ||
      (inner && frames_[*inner].begins && names_.text(frames_[*inner].symbol) == "main");
  return whole ? all & ~PITRACE_STACK_USER_BROKEN : all;
}

std::string Frames::name(FrameId id) const {
  const Frame& frame = frames_[id];
  return names_.text(frame.symbol) + ":" + names_.text(frame.module);
}

std::string Frames::folded_name(FrameId id) const {
  const Frame& frame = frames_[id];
  const std::string& module = names_.text(frame.module);
  std::string name = "[unknown]";
  if (frame.found == Found::symbol)
    name = folded_text(names_.text(frame.symbol));
  else if (frame.found == Found::no_symbol)
    name = "[" + folded_text(module.substr(module.rfind('/') + 1)) + "]";
  return name + (frame.kernel ? "_[k]" : "");
}

std::string folded_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == ';')
      out += "\\x3b";
    else
      out += c;
  }
  return out;
}

}  // namespace post
