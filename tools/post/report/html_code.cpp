// SPDX-License-Identifier: MIT
// The lines and instructions in the HTML page's data.
#include "html_code.h"

#include <algorithm>

#include "text/columns.h"
#include "text/text.h"

namespace post {
namespace {

constexpr size_t most_instructions = 50'000;
constexpr size_t longest_line = 400;  // characters of a source line or an instruction

}  // namespace

HtmlCode::HtmlCode(const Summary& summary, const CodeByTime& code, HtmlTexts& texts,
                   NumberOf thread_of, NumberOf frame_of)
    : summary_(summary),
      code_(code),
      texts_(texts),
      thread_of_(std::move(thread_of)),
      frame_of_(std::move(frame_of)),
      text_(summary, code.functions()),
      sources_(summary.options.source_path),
      sums_(code.sums),
      row_of_(code.spots().size(), no_row) {
  std::vector<uint64_t> ticks(code_.spots().size());
  for (const TimeSums::Sum& sum : sums_.sums()) ticks[sum.key] += sum.amount;
  for (const Function& function : functions(ticks)) {
    if (instructions_.size() < most_instructions)
      take(function);
    else
      left_out_ticks_ += function.ticks;
  }
}

// Of those that the page has, since a trace can have millions; the ones with the most ticks first.
std::vector<HtmlCode::Function> HtmlCode::functions(const std::vector<uint64_t>& ticks) const {
  std::unordered_map<const Micro::Function*, size_t> known;
  std::vector<Function> functions;
  for (uint32_t i = 0; i < code_.spots().size(); ++i) {
    const CodeByTime::Spot& spot = code_.spots()[i];
    if (frame_of_(spot.frame) == no_row) continue;
    const auto [place, is_new] = known.try_emplace(spot.function, functions.size());
    if (is_new) functions.push_back({spot.function, 0, {}});
    Function& function = functions[place->second];
    function.ticks += ticks[i];
    function.spots.push_back(i);
  }
  std::ranges::stable_sort(functions, std::greater(), &Function::ticks);
  for (Function& function : functions)
    std::ranges::stable_sort(function.spots, std::less(),
                             [&](uint32_t spot) { return code_.spots()[spot].offset; });
  return functions;
}

void HtmlCode::take(const Function& function) {
  const std::span<const std::byte> bytes = code_.functions().code(*function.code).bytes;
  of_function_.clear();
  uint64_t at = 0;   // an instruction, if the code is known
  uint64_t end = 0;  // of it
  for (const uint32_t number : function.spots) {
    const CodeByTime::Spot& spot = code_.spots()[number];
    while (end <= spot.offset && end < bytes.size()) {
      at = end;
      end += text_.length(*function.code, bytes, at);
    }
    const uint64_t offset = spot.offset < end ? at : spot.offset;
    const uint32_t frame = frame_of_(spot.frame);
    const uint32_t thread = thread_of_(spot.thread);
    if (frame == no_row || thread == no_row) continue;
    const uint32_t instruction = instruction_of(*function.code, bytes, frame, offset);
    row_of_[number] =
        rows_.try_emplace({thread, instruction}, static_cast<uint32_t>(rows_.size())).first->second;
  }
}

uint32_t HtmlCode::instruction_of(const Micro::Function& function, std::span<const std::byte> bytes,
                                  uint32_t frame, uint64_t offset) {
  const auto [known, is_new] =
      of_function_.try_emplace({frame, offset}, static_cast<uint32_t>(instructions_.size()));
  if (!is_new) return known->second;
  const LinePlace place = text_.place_of(function, offset);
  Instruction instruction{frame, line_of(function, place), offset, 0, texts_.add(place.function)};
  if (offset < bytes.size())
    instruction.text =
        texts_.add(cut_text(text_.instruction(function, bytes, offset), longest_line, "…"));
  instructions_.push_back(instruction);
  return known->second;
}

size_t HtmlCode::line_of(const Micro::Function& function, const LinePlace& place) {
  if (place.line == 0) return 0;
  const size_t file = texts_.add(printable(place.file));
  const auto [known, is_new] = known_lines_.try_emplace({file, place.line}, lines_.size());
  if (is_new) lines_.push_back({file, place.line, source_text(function, place)});
  return known->second + 1;
}

size_t HtmlCode::source_text(const Micro::Function& function, const LinePlace& place) {
  if (!summary_.options.with_source || place.file.empty()) return 0;
  const auto program = code_.functions().is_of_root(function) ? SourceFiles::Program::of_root
                                                              : SourceFiles::Program::of_others;
  const SourceText& source = sources_.find(place.file, program);
  files_.try_emplace(printable(source.found() ? source.path() : place.file),
                     sources_.problem(place.file, program));
  return texts_.add(cut_text(expanded(source.line(place.line)), longest_line, "…"));
}

void HtmlCode::write_tables(HtmlColumns& out) const {
  out.open("lines");
  out.numbers("file", lines_, [](const Line& line) { return line.file; });
  out.numbers("line", lines_, [](const Line& line) { return line.number; });
  out.numbers("text", lines_, [](const Line& line) { return line.text; });
  out.close();
  out.open("instructions");
  out.numbers("frame", instructions_, [](const Instruction& each) { return each.frame; });
  out.numbers("line", instructions_, [](const Instruction& each) { return each.line; });
  out.numbers("offset", instructions_, [](const Instruction& each) { return each.offset; });
  out.numbers("text", instructions_, [](const Instruction& each) { return each.text; });
  out.numbers("inlined", instructions_, [](const Instruction& each) { return each.inlined; });
  out.close();
}

void HtmlCode::write(HtmlColumns& out, uint64_t first_bin, unsigned shift) {
  const unsigned longer = sums_.empty() || sums_.shift() < shift ? 0 : sums_.shift() - shift;
  sums_.coarsen_to(shift + longer);
  out.open("code");
  out.member("bins", uint64_t{1} << longer);
  out.member("before", first_bin & ((uint64_t{1} << longer) - 1));
  out.member("left_out_ticks", left_out_ticks_);
  pi::Json sources = pi::Json::array();
  for (const auto& [path, problem] : files_) {
    pi::Json pair = pi::Json::array();
    pair.push_back(path);
    pair.push_back(printable(problem));
    sources.push_back(std::move(pair));
  }
  out.member("sources", std::move(sources));
  write_tables(out);
  std::vector<std::pair<uint32_t, uint32_t>> rows(rows_.size());
  for (const auto& [key, row] : rows_) rows[row] = key;
  out.open("ticks");
  out.numbers("thread", rows, [](const auto& row) { return row.first; });
  out.numbers("instruction", rows, [](const auto& row) { return row.second; });
  write_sums(out, by_row(sums_.sums(), [&](uint32_t spot) { return row_of_[spot]; }), rows.size(),
             first_bin >> longer, false);
  out.close();
  out.close();
}

}  // namespace post
