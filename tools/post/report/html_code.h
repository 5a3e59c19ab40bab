// SPDX-License-Identifier: MIT
// The lines and instructions in the HTML page's data.
#ifndef POST_HTML_CODE_H
#define POST_HTML_CODE_H

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "analysis/code_by_time.h"
#include "code_text.h"
#include "html_columns.h"
#include "html_sums.h"
#include "html_texts.h"
#include "read/source_files.h"

namespace post {

class HtmlCode {
 public:
  using NumberOf = std::function<uint32_t(uint32_t)>;

  // Numbers in the page's data: of a thread by its place in the call tree, of a frame by its id;
  // no_row: the page does not have it.
  HtmlCode(const Summary& summary, const CodeByTime& code, HtmlTexts& texts, NumberOf thread_of,
           NumberOf frame_of);

  // first_bin, shift: of the page's other sums.
  void write(HtmlColumns& out, uint64_t first_bin, unsigned shift);

 private:
  struct Instruction {
    uint32_t frame = 0;
    size_t line = 0;  // 1 more than its number; 0: not known
    uint64_t offset = 0;
    size_t text = 0;
    size_t inlined = 0;
  };
  struct Line {
    size_t file = 0;
    uint32_t number = 0;
    size_t text = 0;
  };
  struct Function {
    const Micro::Function* code = nullptr;
    uint64_t ticks = 0;
    std::vector<uint32_t> spots;  // numbers, by offset
  };

  std::vector<Function> functions(const std::vector<uint64_t>& ticks) const;
  void take(const Function& function);
  uint32_t instruction_of(const Micro::Function& function, std::span<const std::byte> bytes,
                          uint32_t frame, uint64_t offset);
  size_t line_of(const Micro::Function& function, const LinePlace& place);
  size_t source_text(const Micro::Function& function, const LinePlace& place);
  void write_tables(HtmlColumns& out) const;

  const Summary& summary_;
  const CodeByTime& code_;
  HtmlTexts& texts_;
  const NumberOf thread_of_;
  const NumberOf frame_of_;
  const CodeText text_;
  SourceFiles sources_;
  TimeSums sums_;  // a copy, whose bins become longer
  std::vector<Instruction> instructions_;
  std::vector<Line> lines_;
  std::map<std::pair<size_t, uint32_t>, size_t> known_lines_;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> of_function_;  // by frame and offset
  std::vector<uint32_t> row_of_;                                   // by spot
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> rows_;         // by thread and instruction
  std::map<std::string, std::string> files_;  // by path: why there is no text; "": there is
  uint64_t left_out_ticks_ = 0;
};

}  // namespace post

#endif  // POST_HTML_CODE_H
