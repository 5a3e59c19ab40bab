// SPDX-License-Identifier: MIT
// The frames of call stacks: from return addresses to functions.
#ifndef POST_FRAMES_H
#define POST_FRAMES_H

#include <pi/decode.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "path_tree.h"
#include "resolver.h"

namespace post {

// A function of one module, or what an address is shown as where none is known.
struct Frame {
  NameId module = no_name;
  NameId symbol = no_name;
  Found found = Found::no_module;
  bool kernel = false;
  bool begins = false;  // a program or a thread: main(), or what calls it or a thread's function
};

using FrameId = uint32_t;

// How complete stacks were.
struct StackCounts {
  uint64_t with = 0;        // records with a stack
  uint64_t without = 0;     // records that carry none
  uint64_t unreadable = 0;  // of these: the stack's length is not that of its record
  uint64_t kernel_broken = 0;
  uint64_t user_broken = 0;
  uint64_t kernel_cut = 0;
  uint64_t user_cut = 0;

  // first: the int of the record at which a stack begins. flags: of Frames::flags().
  void add(const pi::RecordView& record, uint32_t first, const pi::StackView& stack,
           uint32_t flags);
};

// Frames as small numbers, and the place of a stack in a tree of them.
class Frames {
 public:
  // Both must outlive this. places: of the cache, a power of two.
  Frames(Symbolizer& symbolizer, StringTable& names, Resolver::Options options, size_t places);

  // The function at an address, whatever is inlined there.
  FrameId at(const Process& process, uint64_t address, bool kernel, uint64_t time);

  // Puts the function at an address, and what is inlined there, below a place of the tree; gives
  // the place of the innermost, and the function itself.
  struct Put {
    uint32_t place;
    FrameId function;
  };
  Put put(PathTree& tree, uint32_t below, const Process& process, uint64_t address, bool kernel,
          uint64_t time);

  // Puts a stack below a place of the tree, the outermost frame first; gives the place of the
  // innermost. in_kernel: its thread was in the kernel, so that the first of the user's frames is
  // where it left the program, no return address.
  uint32_t put(PathTree& tree, uint32_t below, const pi::StackView& stack, bool in_kernel,
               const Process& process, uint64_t time);

  // The stack's flags; but a stack of the user that comes to where its program or thread begins is
  // whole, and not broken, wherever the frame pointer leads there: C libraries keep none. leaf: the
  // user's innermost frame, where that is not in the stack.
  uint32_t flags(const pi::StackView& stack, bool in_kernel, const Process& process, uint64_t time,
                 std::optional<FrameId> leaf = {});

  const Frame& frame(FrameId id) const { return frames_[id]; }
  size_t size() const { return frames_.size(); }

  // "main:/bin/app"; "NoSymbols:/bin/app".
  std::string name(FrameId id) const;
  // As flame graphs have it: "main", "[app]" without a symbol, "[unknown]" without a module; of the
  // kernel with _[k] behind it. Without what the folded form gives a meaning.
  std::string folded_name(FrameId id) const;

 private:
  FrameId intern(const Frame& frame);
  // Where the call of the stack's frame number i stands.
  static uint64_t address_of(const pi::StackView& stack, uint32_t i, bool in_kernel);

  StringTable& names_;
  Resolver resolver_;
  std::vector<Frame> frames_;
  PathTree known_;                  // module, symbol, how it was found
  std::vector<FrameId> known_ids_;  // by place of known_
};

// The text without line ends and semicolons, which folded stacks are made of.
std::string folded_text(std::string_view text);

}  // namespace post

#endif  // POST_FRAMES_H
