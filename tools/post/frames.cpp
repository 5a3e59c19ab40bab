// SPDX-License-Identifier: MIT
// The frames of call stacks: from return addresses to functions.
#include "frames.h"

#include <algorithm>
#include <cassert>
#include <span>

#include "text.h"

namespace post {
namespace {

bool is_one_of(std::string_view symbol, std::span<const std::string_view> names) {
  return std::ranges::find(names, symbol) != names.end();
}

bool has_prefix_of(std::string_view symbol, std::span<const std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view p) { return symbol.starts_with(p); });
}

// As glibc, musl and Go name them; of glibc's __libc_start_call_main() and its like there are
// several.
bool begins_user(std::string_view symbol) {
  constexpr std::string_view names[] = {"main",      "_start",          "_start_c", "start_thread",
                                        "clone",     "__clone",         "clone3",   "__clone3",
                                        "start_c11", "_rt0_amd64_linux"};
  constexpr std::string_view prefixes[] = {"__libc_start_", "libc_start_main_", "runtime.goexit",
                                           "runtime.rt0_go"};
  return is_one_of(symbol, names) || has_prefix_of(symbol, prefixes);
}

// Where programs, exceptions and interrupts enter x86 kernels, and where the kernel's own threads and
// processors begin. Parts of the entry and exit code have names of their own.
bool begins_kernel(std::string_view symbol) {
  constexpr std::string_view names[] = {"syscall_return_via_sysret",
                                        "swapgs_restore_regs_and_return_to_usermode",
                                        "restore_regs_and_return_to_kernel",
                                        "common_interrupt_return",
                                        "native_irq_return_iret",
                                        "native_iret",
                                        "error_entry",
                                        "error_return",
                                        "paranoid_entry",
                                        "paranoid_exit",
                                        "irq_entries_start",
                                        "spurious_entries_start",
                                        "early_idt_handler_common",
                                        "end_repeat_nmi",
                                        "start_secondary",
                                        "start_kernel",
                                        "__switch_to_asm"};
  constexpr std::string_view prefixes[] = {
      "entry_", "asm_",          "ret_from_fork", "secondary_startup_64",
      "int80_", "x86_64_start_", "xen_",          "fred_"};
  return is_one_of(symbol, names) || has_prefix_of(symbol, prefixes);
}

bool is_kernel_address(uint64_t address) {
  return address >> 63 != 0;
}

// The end that a stack's flags say.
StackEnd end_of(bool broken, bool cut, StackEnd otherwise) {
  return broken ? StackEnd::broken : cut ? StackEnd::cut : otherwise;
}

}  // namespace

StackSource stack_source(const TraceInfo& info) {
  return {info.stacks != "user", info.stacks != "kernel", info.source == "driver"};
}

StackEnd JudgedStack::both() const {
  for (const StackEnd end : {StackEnd::broken, StackEnd::cut})
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
  ++with;
  const StackEnd both = judged.both();
  ++(both == StackEnd::broken ? broken : both == StackEnd::cut ? cut : whole);
  if (judged.kernel == StackEnd::broken) ++kernel_broken;
  if (judged.user == StackEnd::broken) ++user_broken;
  if (judged.kernel == StackEnd::cut) ++kernel_cut;
  if (judged.user == StackEnd::cut) ++user_cut;
  assert(whole + broken + cut == with);
}

Frames::Frames(Symbolizer& symbolizer, StringTable& names, Resolver::Options options,
               StackSource source, size_t places)
    : names_(names),
      source_(source),
      resolver_(symbolizer, names, options, places),
      sites_(symbolizer, places) {}

FrameId Frames::intern(const Frame& frame) {
  const uint32_t kind =
      static_cast<uint32_t>(frame.found) << 2 | (frame.marker ? 2 : 0) | (frame.kernel ? 1 : 0);
  const uint32_t place =
      known_.child(known_.child(known_.child(PathTree::root, frame.module), frame.symbol), kind);
  if (known_ids_.size() <= place) known_ids_.resize(place + 1);
  if (known_ids_[place] == 0) {
    frames_.push_back(frame);
    const std::string& symbol = names_.text(frame.symbol);
    frames_.back().begins = frame.found == Found::symbol && !frame.marker &&
                            (frame.kernel ? begins_kernel(symbol) : begins_user(symbol));
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

bool Frames::is_main(FrameId id) const {
  return frames_[id].begins && !frames_[id].kernel && names_.text(frames_[id].symbol) == "main";
}

// What is not known by name is taken as the kernel's unwinder found it.
void Frames::judge_kernel(JudgedStack& judged, const pi::StackView& stack, const Process& process,
                          uint64_t time, std::optional<FrameId> leaf) {
  const bool broken = (stack.flags() & PITRACE_STACK_KERNEL_BROKEN) != 0;
  const bool cut = (stack.flags() & PITRACE_STACK_KERNEL_CUT) != 0;
  std::optional<FrameId> outermost = leaf;
  while (judged.kernel_frames < stack.kernel_frames() &&
         is_kernel_address(stack.frame(judged.kernel_frames)))
    outermost = at(process, stack.frame(judged.kernel_frames++) - 1, true, time);
  if (!outermost && !broken && !cut) return;
  const bool whole = source_.kernel_end_known || !outermost || frames_[*outermost].begins ||
                     frames_[*outermost].found != Found::symbol;
  judged.kernel = end_of(broken || judged.kernel_frames != stack.kernel_frames(), cut,
                         whole ? StackEnd::whole : StackEnd::broken);
}

// From the innermost frame on, up to where the thread starts or to what is no return address. C
// libraries keep no frame pointers, so that what lies beyond a start is of no use.
void Frames::judge_user(JudgedStack& judged, const pi::StackView& stack, bool in_kernel,
                        const Process& process, uint64_t time, std::optional<FrameId> leaf) {
  const uint32_t first = stack.kernel_frames();
  const bool has_leaf = leaf && !in_kernel;
  bool started = has_leaf && frames_[*leaf].begins;
  bool in_main = has_leaf && is_main(*leaf);  // the frame before
  bool final = false, bad = false;            // nothing can have called it; no frame
  for (uint32_t i = first; i < first + stack.user_frames(); ++i) {
    const FrameId id = at(process, address_of(stack, i, in_kernel), false, time);
    const Frame& frame = frames_[id];
    bool starts = frame.begins;
    if (!in_kernel || i != first) {
      const std::string& module = names_.text(frame.module);
      const Place& place = resolver_.find(process, *process.maps_version,
                                          address_of(stack, i, in_kernel), true, time);
      const ReturnSite site =
          sites_.at(process, {frame.found, module, place.narrow}, stack.frame(i), time);
      bad = site == ReturnSite::invalid;
      // What main() returns to is where the program begins, also where it has no name.
      starts = starts || site == ReturnSite::thread_start ||
               (in_main && frame.found == Found::no_symbol);
      if (bad || (final && (!starts || is_main(id)))) break;
      final = starts && is_c_library(module);
    }
    started = starts;
    in_main = is_main(id);
    ++judged.user_frames;
  }
  if (started) {
    judged.user = StackEnd::whole;
    return;
  }
  // A thread of the kernel's has none.
  if (stack.user_frames() == 0 && in_kernel &&
      (stack.flags() & (PITRACE_STACK_USER_BROKEN | PITRACE_STACK_USER_CUT)) == 0)
    return;
  judged.user = end_of(bad || (stack.flags() & PITRACE_STACK_USER_BROKEN) != 0,
                       (stack.flags() & PITRACE_STACK_USER_CUT) != 0, StackEnd::broken);
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
  below = put_marker(tree, below, judged.user, false);
  for (uint32_t i = first + judged.user_frames; i-- > first;)
    below = put(tree, below, process, address_of(stack, i, in_kernel), false, time).place;
  below = put_marker(tree, below, judged.kernel, true);
  for (uint32_t i = judged.kernel_frames; i-- > 0;)
    below = put(tree, below, process, address_of(stack, i, in_kernel), true, time).place;
  return below;
}

std::string Frames::name(FrameId id) const {
  const Frame& frame = frames_[id];
  if (frame.marker) return names_.text(frame.symbol);
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
