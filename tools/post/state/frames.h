// SPDX-License-Identifier: MIT
// Converts call stacks from return addresses to functions.
#ifndef POST_FRAMES_H
#define POST_FRAMES_H

#include <pi/decode.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "read/trace_info.h"
#include "resolver.h"
#include "return_sites.h"
#include "stack_starts.h"
#include "text/path_tree.h"
#include "text/recent.h"

namespace post {

// A function of one module, or the text shown for an address without one.
struct Frame {
  NameId module = no_name;
  NameId symbol = no_name;
  Found found = Found::no_module;
  bool kernel = false;
  bool marker = false;  // no function: represents the callers that a stack lacks
  StartKind start = StartKind::none;
  // Behind code without unwind tables, or a signal handler's own stack: the caller is a guess. Its
  // number and that of the same frame where it is certain differ.
  bool guessed = false;
  uint64_t file_address = Place::no_address;  // Place's
};

using FrameId = uint32_t;

// The parts of stacks that a trace contains, and how their ends are known.
struct StackSource {
  bool kernel = true;  // recorded
  bool user = true;
  bool kernel_end_known = false;  // flags say whether the kernel's unwinder finished
};
StackSource stack_source(const TraceInfo& info);

// How a part of a stack ends: at the start of its thread (kernel part: at the kernel's entry), too
// early, or at the requested depth; guessed: at the start, but through code without unwind tables
// or behind a signal handler's own stack; callers may be wrong.
enum class StackEnd : uint8_t { absent, whole, broken, cut, guessed };

// How far a stack can be trusted, and how its parts end.
struct JudgedStack {
  uint32_t kernel_frames = 0;  // number of kernel frames; they are the innermost ones
  uint32_t user_frames = 0;
  StackEnd kernel = StackEnd::absent;
  StackEnd user = StackEnd::absent;

  StackEnd both() const;  // whole when no part is broken, cut or guessed
};

// How a guess is shown: behind a name that shall stay one word, and behind the name of a frame that
// is a guess for some of its ticks, or for all: " [guessed: 2]", " [guessed]".
constexpr std::string_view guess_suffix = "_[g]";
std::string guess_mark(uint64_t guessed, uint64_t all);

// Counts of complete and incomplete stacks.
struct StackCounts {
  // Records with a stack: each is in one of the four counts.
  uint64_t whole = 0;
  uint64_t broken = 0;
  uint64_t cut = 0;
  uint64_t guessed = 0;
  uint64_t with() const { return whole + broken + cut + guessed; }
  uint64_t without = 0;     // records without a stack
  uint64_t unreadable = 0;  // of these: with an unusable stack, longer than its record
  // Parts of stacks: a stack can have one of the kernel and one of the user.
  uint64_t kernel_broken = 0;
  uint64_t user_broken = 0;
  uint64_t kernel_cut = 0;
  uint64_t user_cut = 0;

  // first: the int of the record at which a stack begins.
  void add(const pi::RecordView& record, uint32_t first, const pi::StackView& stack,
           const JudgedStack& judged);
};

// Frames as small numbers, and stacks as nodes in a tree of them.
class Frames {
 public:
  // Both must outlive this. places: of the cache, a power of two.
  Frames(Symbolizer& symbolizer, StringTable& names, Resolver::Options options, StackSource source,
         size_t cache_entries);

  // The frame where it is certain; itself, if it is no guess.
  FrameId certain(FrameId id) const { return frames_[id].guessed ? certain_ids_[id] : id; }
  bool has_guesses() const { return !certain_ids_.empty(); }

  // The function at an address, without inlined ones.
  FrameId at(const Process& process, uint64_t address, bool kernel, uint64_t time);

  // Adds the function at an address, and the functions inlined there, below a node of the tree;
  // returns the node of the innermost, and the function itself.
  struct Put {
    uint32_t place;
    FrameId function;
  };
  Put put(PathTree& tree, uint32_t below, const Process& process, uint64_t address, bool kernel,
          uint64_t time, bool guessed = false);

  // Where a stack ends. in_kernel: its thread was in the kernel, so that the first of the user's
  // frames is where it left the program, no return address. leaf: the innermost frame, where that
  // is not in the stack.
  JudgedStack judge(const pi::StackView& stack, bool in_kernel, const Process& process,
                    uint64_t time, std::optional<FrameId> leaf = {});

  // Adds a stack below a node of the tree, the outermost frame first; returns the node of the
  // innermost. "[broken]" or "[cut]" replaces missing callers.
  uint32_t put(PathTree& tree, uint32_t below, const pi::StackView& stack,
               const JudgedStack& judged, bool in_kernel, const Process& process, uint64_t time);

  // Adds the stack of a tick's record, or without one only the function on which it fell, below a
  // node of the tree, which is the same in each call; returns the node of the innermost. The stack
  // is added to the counts. user_frames: those that it lacks.
  uint32_t put_tick(PathTree& tree, uint32_t below, const pi::TprofTick& tick,
                    const pi::RecordView& record, const Process& process, uint64_t time,
                    StackCounts& counts, const pi::UserFrames* user_frames);

  const Frame& frame(FrameId id) const { return frames_[id]; }
  size_t size() const { return frames_.size(); }

  // "main:/bin/app"; "NoSymbols:/bin/app"; "[broken]", of the kernel's part "[broken]_[k]".
  std::string name(FrameId id) const;
  // As flame graphs have it: "main", "[app]" without a symbol, "[unknown]" without a module; of the
  // kernel with the suffix _[k], and of a guess with its suffix. Without characters that have a
  // meaning in the folded form.
  std::string folded_name(FrameId id) const;
  // The same of a frame whose function and module have other names.
  static std::string folded_name(const Frame& frame, std::string_view symbol,
                                 std::string_view module);

 private:
  struct Address {
    uint64_t address = 0;
    uint32_t version = 0;  // Resolver's; 0: none
    bool kernel = false;
    bool guessed = false;
    bool operator==(const Address&) const = default;
    uint64_t hash() const {
      return Resolver::hash_of(address, version) ^ (guessed ? 2 : 0) ^ (kernel ? 1 : 0);
    }
  };
  struct Leaf {
    Address function;
    uint32_t below = 0;  // a node of the tree
    bool operator==(const Leaf&) const = default;
    uint64_t hash() const {
      return function.hash() ^ uint64_t { below } * 0x9e3779b97f4a7c15ull >> 40;
    }
  };
  struct AtAddress {
    FrameId function = 0;
    uint32_t inlined = 0;  // Place's
  };
  const AtAddress& find(const Process& process, uint64_t address, bool kernel, uint64_t time,
                        bool guessed = false);

  static Frame frame_of(const Place& place, NameId symbol, bool kernel);
  FrameId intern(const Frame& frame);
  FrameId intern_guess(Frame frame);
  // The address of the call in the stack's frame number i.
  static uint64_t address_of(const pi::StackView& stack, uint32_t i, bool in_kernel);
  void judge_kernel(JudgedStack& judged, const pi::StackView& stack, const Process& process,
                    uint64_t time, std::optional<FrameId> leaf);
  bool is_start(FrameId id) const;
  void judge_user(JudgedStack& judged, const pi::StackView& stack, bool in_kernel,
                  const Process& process, uint64_t time, std::optional<FrameId> leaf);
  bool is_main(FrameId id) const;
  uint32_t put_marker(PathTree& tree, uint32_t below, StackEnd end, bool kernel);

  StringTable& names_;
  const NameId main_;
  const StackSource source_;
  Resolver resolver_;
  Recent<Address, AtAddress> recent_;  // before the resolver's cache of names
  Recent<Leaf, uint32_t> leaves_;      // the nodes of ticks
  ReturnSites sites_;
  std::vector<Frame> frames_;
  std::unordered_map<uint64_t, uint32_t> known_addresses_;  // as numbers from 1
  PathTree known_;                    // module, symbol, how it was found, number of the address
  std::vector<FrameId> known_ids_;    // by place of known_
  std::vector<FrameId> certain_ids_;  // by number, of guesses; empty: there are none
};

// The text without line ends and semicolons, which folded stacks are made of.
std::string folded_text(std::string_view text);

}  // namespace post

#endif  // POST_FRAMES_H
