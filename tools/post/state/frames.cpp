// SPDX-License-Identifier: MIT
// Converts call stacks from return addresses to functions.
#include "frames.h"

#include <fmt/format.h>

#include "stack_starts.h"
#include "text/text.h"

namespace post {
namespace {

bool is_kernel_address(uint64_t address) {
  return address >> 63 != 0;
}

// The end of a stack according to its flags.
StackEnd end_of(bool broken, bool cut, StackEnd otherwise) {
  return broken ? StackEnd::broken : cut ? StackEnd::cut : otherwise;
}

}  // namespace

std::string guess_mark(uint64_t guessed, uint64_t all) {
  if (guessed == 0) return {};
  return guessed == all ? " [guessed]" : fmt::format(" [guessed: {}]", guessed);
}

StackSource stack_source(const TraceInfo& info) {
  return {info.stacks != "user", info.stacks != "kernel", info.source == "driver"};
}

StackEnd JudgedStack::both() const {
  for (const StackEnd end : {StackEnd::broken, StackEnd::cut, StackEnd::guessed})
    if (kernel == end || user == end) return end;
  return StackEnd::whole;
}

void StackCounts::add(const pi::RecordView& record, uint32_t first, const pi::StackView& stack,
                      const JudgedStack& judged) {
  if (!stack.exists()) {
    ++without;
    if (record.int_count() > first) ++unreadable;
    return;
  }
  const StackEnd both = judged.both();
  ++(both == StackEnd::broken    ? broken
     : both == StackEnd::cut     ? cut
     : both == StackEnd::guessed ? guessed
                                 : whole);
  if (judged.kernel == StackEnd::broken) ++kernel_broken;
  if (judged.user == StackEnd::broken) ++user_broken;
  if (judged.kernel == StackEnd::cut) ++kernel_cut;
  if (judged.user == StackEnd::cut) ++user_cut;
}

Frames::Frames(Symbolizer& symbolizer, StringTable& names, Resolver::Options options,
               StackSource source, size_t cache_entries)
    : names_(names),
      main_(names.intern("main")),
      source_(source),
      resolver_(symbolizer, names, options, cache_entries),
      recent_(cache_entries),
      leaves_(2 * cache_entries),
      sites_(symbolizer, cache_entries) {}

FrameId Frames::intern(const Frame& frame) {
  const uint32_t kind = static_cast<uint32_t>(frame.found) << 3 | (frame.guessed ? 4 : 0) |
                        (frame.marker ? 2 : 0) | (frame.kernel ? 1 : 0);
  uint32_t place =
      known_.child(known_.child(known_.child(PathTree::root, frame.module), frame.symbol), kind);
  if (frame.file_address != Place::no_address) {
    const auto number = static_cast<uint32_t>(known_addresses_.size() + 1);
    place =
        known_.child(place, known_addresses_.try_emplace(frame.file_address, number).first->second);
  }
  if (known_ids_.size() <= place) known_ids_.resize(place + 1);
  if (known_ids_[place] == 0) {
    frames_.push_back(frame);
    const std::string& symbol = names_.text(frame.symbol);
    if (frame.found == Found::symbol && !frame.marker)
      frames_.back().start =
          frame.kernel ? kernel_start(symbol) : user_start(symbol, names_.text(frame.module));
    known_ids_[place] = static_cast<FrameId>(frames_.size());  // one more, so that 0 is none
  }
  return known_ids_[place] - 1;
}

Frame Frames::frame_of(const Place& place, NameId symbol, bool kernel) {
  Frame frame{place.module, symbol, place.found, kernel};
  frame.file_address = place.file_address;
  return frame;
}

FrameId Frames::intern_guess(Frame frame) {
  const FrameId certain = intern(frame);
  frame.guessed = true;
  const FrameId id = intern(frame);
  if (certain_ids_.size() <= id) certain_ids_.resize(id + 1);
  certain_ids_[id] = certain;
  return id;
}

const Frames::AtAddress& Frames::find(const Process& process, uint64_t address, bool kernel,
                                      uint64_t time, bool guessed) {
  const uint32_t version = Resolver::version_of(*process.maps_version, address, !kernel);
  return recent_.at({address, version, kernel, guessed}, [&] {
    const Place& place = resolver_.find(process, *process.maps_version, address, !kernel, time);
    const Frame frame = frame_of(place, place.symbol, kernel);
    return AtAddress{guessed ? intern_guess(frame) : intern(frame), place.inlined};
  });
}

Frames::Put Frames::put(PathTree& tree, uint32_t below, const Process& process, uint64_t address,
                        bool kernel, uint64_t time, bool guessed) {
  const AtAddress& found = find(process, address, kernel, time, guessed);
  below = tree.child(below, found.function);
  for (const NameId inlined : resolver_.inlined(found.inlined)) {
    Frame frame = frames_[certain(found.function)];
    frame.symbol = inlined;
    frame.start = StartKind::none;
    below = tree.child(below, guessed ? intern_guess(frame) : intern(frame));
  }
  return {below, found.function};
}

FrameId Frames::at(const Process& process, uint64_t address, bool kernel, uint64_t time) {
  return find(process, address, kernel, time).function;
}

// The call is before its return address, which can belong to another function.
uint64_t Frames::address_of(const pi::StackView& stack, uint32_t i, bool in_kernel) {
  const bool exact = in_kernel && i == stack.kernel_frames();
  return stack.frame(i) - (exact ? 0 : 1);
}

bool Frames::is_main(FrameId id) const {
  return frames_[id].found == Found::symbol && !frames_[id].kernel && frames_[id].symbol == main_;
}

// The module records whether the kernel's unwinder finished. perf does not: its call chain ends in
// the same way at the kernel's entry and where the unwinder failed, so that only the name of the
// outermost function shows the difference. A function without a name is not taken for an entry.
void Frames::judge_kernel(JudgedStack& judged, const pi::StackView& stack, const Process& process,
                          uint64_t time, std::optional<FrameId> leaf) {
  const bool broken = (stack.flags() & PITRACE_STACK_KERNEL_BROKEN) != 0;
  const bool cut = (stack.flags() & PITRACE_STACK_KERNEL_CUT) != 0;
  std::optional<FrameId> outermost = leaf;
  while (judged.kernel_frames < stack.kernel_frames() &&
         is_kernel_address(stack.frame(judged.kernel_frames)))
    outermost = at(process, stack.frame(judged.kernel_frames++) - 1, true, time);
  if (!outermost && !broken && !cut) return;
  const bool entered = outermost && frames_[*outermost].start == StartKind::start;
  const bool invalid = judged.kernel_frames != stack.kernel_frames();
  judged.kernel = end_of(broken || invalid, cut,
                         entered || source_.kernel_end_known ? StackEnd::whole : StackEnd::broken);
}

bool Frames::is_start(FrameId id) const {
  const StartKind kind = frames_[id].start;
  return kind == StartKind::start || kind == StartKind::outermost;
}

// From the innermost frame on, to the start of the thread or to the first invalid return address.
// Code that starts threads keeps no frame pointers: beyond it only other such code is accepted.
// Frames that unwind tables have found need no such test. The last of them can be in a C library
// that has neither tables nor symbols. Where they are on another stack, which was not copied, the
// stack is cut: what is found there instead is no caller.
void Frames::judge_user(JudgedStack& judged, const pi::StackView& stack, bool in_kernel,
                        const Process& process, uint64_t time, std::optional<FrameId> leaf) {
  const uint32_t first = stack.kernel_frames();
  const uint32_t certain = first + stack.table_frames();
  const bool by_tables = (stack.flags() & PITRACE_STACK_USER_TABLES) != 0;
  const bool has_leaf = leaf && !in_kernel;
  // Kind of the frame before; "main" is not a start itself: its caller is.
  bool starts_before = has_leaf && is_start(*leaf);
  bool after_main = has_leaf && is_main(*leaf);
  bool is_outermost = has_leaf && frames_[*leaf].start == StartKind::outermost;
  bool invalid = false, is_on_other_stack = false;
  for (uint32_t i = first; i < first + stack.user_frames() && !is_outermost && !is_on_other_stack;
       ++i) {
    const uint64_t address = address_of(stack, i, in_kernel);
    // The kernel calls no user code: a word of the stack was taken for a return address. Before
    // address 0 is the kernel's half, too.
    invalid = i >= certain && (!in_kernel || i != first) && is_kernel_address(address);
    if (invalid) break;
    const FrameId id = at(process, address, false, time);
    const Frame& frame = frames_[id];
    const std::string& module = names_.text(frame.module);
    const bool nameless = has_no_symbol(frame.found) && is_c_library(module);
    bool starts = is_start(id);
    if ((i >= certain || nameless) && (!in_kernel || i != first)) {
      const Place& place = resolver_.find(process, *process.maps_version, address, true, time);
      const ReturnSite site = sites_.at(
          process,
          {frame.found, module, names_.text(frame.symbol), place.narrow, place.code_id != 0},
          stack.frame(i), time);
      invalid = i >= certain && site == ReturnSite::invalid;
      if (invalid) break;
      // The function to which main() returns is the program's start, even without a name.
      starts = starts || frame.start == StartKind::clone || site == ReturnSite::thread_start ||
               (after_main && nameless);
    }
    if (i >= certain && starts_before && !starts) break;
    starts_before = starts;
    after_main = is_main(id);
    is_outermost = frame.start == StartKind::outermost;
    is_on_other_stack = i < certain && frame.start == StartKind::other_stack;
    ++judged.user_frames;
  }
  if (is_on_other_stack) {
    judged.user = StackEnd::cut;
    return;
  }
  const bool has_guess = by_tables && first + judged.user_frames > certain;
  if (starts_before || (stack.flags() & PITRACE_STACK_USER_WHOLE) != 0) {
    judged.user = has_guess ? StackEnd::guessed : StackEnd::whole;
    return;
  }
  const bool broken = (stack.flags() & PITRACE_STACK_USER_BROKEN) != 0;
  const bool cut = (stack.flags() & PITRACE_STACK_USER_CUT) != 0;
  // A kernel thread has no user part.
  if (stack.user_frames() == 0 && in_kernel && !broken && !cut) return;
  judged.user = end_of(invalid || broken, cut, StackEnd::broken);
}

JudgedStack Frames::judge(const pi::StackView& stack, bool in_kernel, const Process& process,
                          uint64_t time, std::optional<FrameId> leaf) {
  JudgedStack judged;
  if (!stack.exists()) return judged;
  if (source_.kernel && in_kernel) judge_kernel(judged, stack, process, time, leaf);
  if (source_.user) judge_user(judged, stack, in_kernel, process, time, leaf);
  return judged;
}

uint32_t Frames::put_marker(PathTree& tree, uint32_t below, StackEnd end, bool kernel) {
  if (end != StackEnd::broken && end != StackEnd::cut) return below;
  const NameId text = names_.intern(end == StackEnd::cut ? "[cut]" : "[broken]");
  return tree.child(below, intern({no_name, text, Found::symbol, kernel, true}));
}

uint32_t Frames::put(PathTree& tree, uint32_t below, const pi::StackView& stack,
                     const JudgedStack& judged, bool in_kernel, const Process& process,
                     uint64_t time) {
  const uint32_t first = stack.kernel_frames();
  const bool by_tables = (stack.flags() & PITRACE_STACK_USER_TABLES) != 0;
  const uint32_t certain = by_tables ? first + stack.table_frames() : UINT32_MAX;
  below = put_marker(tree, below, judged.user, false);
  for (uint32_t i = first + judged.user_frames; i-- > first;)
    below =
        put(tree, below, process, address_of(stack, i, in_kernel), false, time, i >= certain).place;
  below = put_marker(tree, below, judged.kernel, true);
  for (uint32_t i = judged.kernel_frames; i-- > 0;)
    below = put(tree, below, process, address_of(stack, i, in_kernel), true, time).place;
  return below;
}

uint32_t Frames::put_tick(PathTree& tree, uint32_t below, const pi::TprofTick& tick,
                          const pi::RecordView& record, const Process& process, uint64_t time,
                          StackCounts& counts, const pi::UserFrames* user_frames) {
  pi::StackView stack = pi::stack_of_tprof(record);
  stack.join(user_frames);
  JudgedStack judged;
  if (stack.exists()) {
    const FrameId function = at(process, tick.address, !tick.user, time);
    judged = judge(stack, !tick.user, process, time, function);
    below = put(tree, below, stack, judged, !tick.user, process, time);
  }
  counts.add(record, 4, stack, judged);
  const uint32_t version = Resolver::version_of(*process.maps_version, tick.address, tick.user);
  return leaves_.at({{tick.address, version, !tick.user}, below}, [&] {
    return put(tree, below, process, tick.address, !tick.user, time).place;
  });
}

std::string Frames::name(FrameId id) const {
  const Frame& frame = frames_[id];
  if (frame.marker) return names_.text(frame.symbol) + (frame.kernel ? "_[k]" : "");
  return names_.text(frame.symbol) + ":" + names_.text(frame.module);
}

std::string Frames::folded_name(FrameId id) const {
  const Frame& frame = frames_[id];
  return folded_name(frame, names_.text(frame.symbol), names_.text(frame.module));
}

std::string Frames::folded_name(const Frame& frame, std::string_view symbol,
                                std::string_view module) {
  std::string name = "[unknown]";
  if (frame.found == Found::symbol || frame.found == Found::function)
    name = folded_text(symbol);
  else if (frame.found == Found::no_symbol)
    name = "[" + folded_text(module.substr(module.rfind('/') + 1)) + "]";
  if (frame.guessed) name += guess_suffix;
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
