// SPDX-License-Identifier: MIT
// Which source lines a piece of code made at run time comes from, and what was inlined where.
#ifndef A2N_JIT_SOURCE_H
#define A2N_JIT_SOURCE_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace a2n {

// One of the functions that an address belongs to. Strings are interned; file is null and line 0
// where they are not known.
struct SourceFrame {
  const char* name = nullptr;
  const char* file = nullptr;
  uint32_t line = 0;
};

// A method of a language with bytecodes, and the lines that these stand for.
struct BytecodeMethod {
  const char* name = nullptr;
  const char* file = nullptr;          // null: not known
  std::map<uint32_t, uint32_t> lines;  // by the bytecode index from which on it is this one

  uint32_t line_at(uint32_t index) const;  // 0: not known
};

class JitSource {
 public:
  static constexpr uint32_t unknown_index = UINT32_MAX;
  static constexpr uint32_t max_depth = 256;  // frames, one inlined into the other

  // From an offset on it is this line.
  struct Line {
    uint32_t offset;
    uint32_t line;
    const char* file;
  };

  // Frames are numbered from 1 in the order they are added; parent 0: the outermost. False, and
  // nothing is added, for a parent that does not exist yet, and for what is too deep.
  bool add_frame(uint32_t parent, std::shared_ptr<const BytecodeMethod> method, uint32_t index);
  // From the end of the range before (the first: from 0) to end, in bytes. False where ends do not
  // grow or there is no such frame.
  bool add_range(uint32_t end, uint32_t frame);
  // Lines of the code's own source, in any order; those of equal offset: the last one counts.
  void set_lines(std::vector<Line> lines);

  bool empty() const { return ranges_.empty() && lines_.empty(); }

  // The functions at an offset, the innermost first; the last one is the code itself, of that name.
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
  std::vector<Line> lines_;  // by offset
};

}  // namespace a2n

#endif  // A2N_JIT_SOURCE_H
