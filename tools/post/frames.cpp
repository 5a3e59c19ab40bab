// SPDX-License-Identifier: MIT
// The frames of call stacks: from return addresses to functions.
#include "frames.h"

#include "text.h"

namespace post {

void StackCounts::add(const pi::RecordView& record, uint32_t first, const pi::StackView& stack) {
  if (!stack.exists()) {
    ++without;
    if (record.int_count() > first) ++unreadable;
    return;
  }
  ++with;
  const uint32_t flags = stack.flags();
  if ((flags & PITRACE_STACK_KERNEL_BROKEN) != 0) ++kernel_broken;
  if ((flags & PITRACE_STACK_USER_BROKEN) != 0) ++user_broken;
  if ((flags & PITRACE_STACK_KERNEL_CUT) != 0) ++kernel_cut;
  if ((flags & PITRACE_STACK_USER_CUT) != 0) ++user_cut;
}

Frames::Frames(Symbolizer& symbolizer, StringTable& names, bool module_width, size_t places)
    : names_(names), resolver_(symbolizer, names, module_width, places) {}

FrameId Frames::intern(const Frame& frame) {
  const uint32_t kind = static_cast<uint32_t>(frame.found) << 1 | (frame.kernel ? 1 : 0);
  const uint32_t place =
      known_.child(known_.child(known_.child(PathTree::root, frame.module), frame.symbol), kind);
  if (known_ids_.size() <= place) known_ids_.resize(place + 1);
  if (known_ids_[place] == 0) {
    frames_.push_back(frame);
    known_ids_[place] = static_cast<FrameId>(frames_.size());  // one more, so that 0 is none
  }
  return known_ids_[place] - 1;
}

FrameId Frames::at(const Process& process, uint64_t address, bool kernel, uint64_t time) {
  const Place& place = resolver_.find(process, *process.maps_version, address, !kernel, time);
  return intern({place.module, place.symbol, place.found, kernel});
}

uint32_t Frames::put(PathTree& tree, uint32_t below, const pi::StackView& stack, bool in_kernel,
                     const Process& process, uint64_t time) {
  const uint32_t kernel_frames = stack.kernel_frames();
  for (uint32_t i = kernel_frames + stack.user_frames(); i-- > 0;) {
    const bool exact = in_kernel && i == kernel_frames;
    // The call stands before the address to which it returns, which can be another function's.
    const uint64_t address = stack.frame(i) - (exact ? 0 : 1);
    below = tree.child(below, at(process, address, i < kernel_frames, time));
  }
  return below;
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
