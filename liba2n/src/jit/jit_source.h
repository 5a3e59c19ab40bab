// SPDX-License-Identifier: MIT
// Source lines and inlined functions of JIT-compiled code.
#ifndef A2N_JIT_SOURCE_H
#define A2N_JIT_SOURCE_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace a2n {

// One of the functions at an address. Strings are interned; file is null and line is 0 if not
// known.
struct SourceFrame {
  const char* name = nullptr;
  const char* file = nullptr;
  uint32_t line = 0;
};

// A method compiled from bytecode, with the source lines of its bytecode.
struct BytecodeMethod {
  const char* name = nullptr;
  const char* file = nullptr;          // null: not known
  std::map<uint32_t, uint32_t> lines;  // by the first bytecode index of each line

  uint32_t line_at(uint32_t index) const;  // 0: not known
};

class JitSource {
 public:
  static constexpr uint32_t unknown_index = UINT32_MAX;
  static constexpr uint32_t max_depth = 256;  // frames, one inlined into the other

  // The source line from an offset up to the next one.
  struct Line {
    uint32_t offset;
    uint32_t line;
    const char* file;
  };

  // Adds a frame; frames are numbered from 1 in the order they are added. parent: its number, 0 for
  // an outermost frame. False, and nothing is added, if the parent does not exist yet, method is
  // null, or the depth exceeds max_depth.
  bool add_frame(uint32_t parent, std::shared_ptr<const BytecodeMethod> method, uint32_t index);
  // Adds a range of the code from the end of the previous range (the first: from 0) to end, in
  // bytes. False if end does not increase or the frame does not exist.
  bool add_range(uint32_t end, uint32_t frame);
  // Sets the lines of the code's own source, in any order. Of lines with equal offset the last one
  // is used.
  void set_lines(std::vector<Line> lines);

  bool empty() const { return ranges_.empty() && lines_.empty(); }

  // The functions at an offset, innermost first. The last one is the compiled method itself; name:
  // its name.
  std::vector<SourceFrame> at(uint32_t offset, const char* name) const;

 private:
  struct Frame {
    uint32_t parent;
    uint32_t depth;
    uint32_t index;
    std::shared_ptr<const BytecodeMethod> method;
  };
  struct Range {
    uint32_t end;
    uint32_t frame;
  };
  std::vector<Frame> frames_;
  std::vector<Range> ranges_;
  std::vector<Line> lines_;  // sorted by offset
};

}  // namespace a2n

#endif  // A2N_JIT_SOURCE_H
