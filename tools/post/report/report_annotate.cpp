// SPDX-License-Identifier: MIT
// Prints annotated source: the lines of functions with their ticks, and their instructions.
#include "report_annotate.h"

#include <fmt/format.h>
#include <pi/files.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "analysis/micro.h"
#include "code_text.h"
#include "path_rows.h"
#include "read/source_files.h"
#include "state/name_words.h"
#include "text/columns.h"
#include "text/short_name.h"
#include "text/text.h"

namespace post {
namespace {

constexpr size_t usual_functions = 5;
constexpr uint32_t context_lines = 3;       // above and below a line with ticks
constexpr size_t context_instructions = 2;  // before and after one with ticks
constexpr size_t head_width = 160;          // maximum of a function's name
constexpr double hot_share = 10;            // percent

// An instruction; or, if the code is not known, an address with ticks.
struct CodeRow {
  uint64_t offset = 0;
  uint64_t ticks = 0;
  std::string text;
  std::string inlined;  // the function that was inlined there; empty: none
  uint64_t end = 0;     // offset of the next instruction; 0: not known
};

struct LineRows {
  uint64_t ticks = 0;
  std::vector<CodeRow> code;  // by offset
};

struct FileRows {
  uint64_t ticks = 0;
  std::map<uint32_t, LineRows> lines;  // 0: not known
};

class Annotator {
 public:
  Annotator(const Summary& summary, const AnnotationStyle& style)
      : summary_(summary),
        style_(style),
        micro_(*summary.find<Micro>()),
        sources_(summary.options.source_path),
        code_(summary, micro_),
        whole_(summary.ticks.ticks),
        part_(!selection_texts(summary.options.selection).empty()) {}

  pi::Result<std::string> text() {
    NameWords words(Choice<std::string>{{summary_.options.annotate}, {}});
    std::vector<const Micro::Function*> functions;
    for (const Micro::Module& module : micro_.modules())
      for (const Micro::Function* function : module.functions)
        if (is_wanted(words, *function)) functions.push_back(function);
    if (functions.empty()) {
      const auto remarks = words.unfitting(
          "annotate", part_ ? " that the selected ticks fell on" : " that ticks fell on");
      return pi::Error{-1, remarks.empty() ? "--annotate: no tick fell on code of a known module."
                                           : remarks.front()};
    }
    std::ranges::stable_sort(functions, [](const Micro::Function* a, const Micro::Function* b) {
      return a->ticks > b->ticks;
    });
    const size_t count =
        std::min(functions.size(), summary_.options.page_rows.value_or(usual_functions));
    for (const Micro::Function* function : std::span(functions).first(count))
      add_function(*function);
    if (count < functions.size()) {
      if (count != 0) add_line({});
      add_paragraph(fmt::format("{} more {}; --lines={} shows all.", functions.size() - count,
                                functions.size() - count == 1 ? "function has a matching name"
                                                              : "functions have matching names",
                                functions.size()));
    }
    std::string text;
    for (const AnnotationLine& line : lines_) text += line.text + '\n';
    return text;
  }

  // whole: all ticks of the selection.
  std::vector<AnnotationLine> lines(std::span<const Micro::Function> functions, uint64_t whole) {
    whole_ = whole;
    part_ = whole != summary_.records.by_major[PITRACE_MAJOR_TPROF];
    for (const Micro::Function& function : functions) add_function(function);
    return std::move(lines_);
  }

 private:
  void add_line(std::string text, uint64_t ticks = 0, std::string place = {}) {
    lines_.push_back({std::move(text), ticks, std::move(place)});
  }
  std::string shown(const std::string& text) const { return style_.utf8 ? text : ascii_text(text); }
  std::string styled(const std::string& text, const char* style) const {
    return style_.colour && style ? fmt::format("\033[{}m{}\033[0m", style, text) : text;
  }
  void add_paragraph(const std::string& text, const char* style = nullptr) {
    for (const std::string& line : paragraph_lines(shown(text), style_.width))
      add_line(styled(line, style));
  }

  bool is_wanted(NameWords& words, const Micro::Function& function) const {
    const std::string& name = summary_.names.text(function.symbol);
    return words.takes(words.fit_symbol(name, readable(summary_, function.symbol)));
  }

  // ---- collecting lines and instructions ----

  LinePlace begin_of(const Micro::Function& function) const {
    const std::vector<SourceFrame> frames = micro_.frames(function, 0);
    if (frames.empty()) return {};
    return {std::string(frames.back().file), frames.back().line, {}};
  }

  // The instructions with ticks and their neighbours, by offset. Ticks after the end of the known
  // code have rows without text.
  std::vector<CodeRow> code_rows(const Micro::Function& function,
                                 std::span<const std::byte> bytes) const {
    std::vector<CodeRow> rows;
    auto tick = function.by_offset.begin();
    size_t kept_until = 0;         // number of the first instruction that is not a neighbour
    std::vector<uint64_t> before;  // offsets of the last instructions that were not kept
    size_t number = 0;
    for (size_t at = 0; at < bytes.size(); ++number) {
      const size_t length = code_.length(function, bytes, at);
      CodeRow row{at, 0, {}, {}, at + length};
      bool aligned = true;
      for (; tick != function.by_offset.end() && tick->first < at + length; ++tick) {
        row.ticks += tick->second;
        aligned = aligned && tick->first == at;
      }
      if (row.ticks != 0) {
        kept_until = number + context_instructions + 1;
        for (size_t i = 0; i < before.size(); ++i)
          rows.push_back({before[i],
                          0,
                          code_.instruction(function, bytes, before[i]),
                          {},
                          i + 1 < before.size() ? before[i + 1] : at});
        before.clear();
      }
      if (number < kept_until) {
        row.text = code_.instruction(function, bytes, at);
        if (!aligned) row.text += "  (ticks inside it)";
        rows.push_back(std::move(row));
      } else {
        before.push_back(at);
        if (before.size() > context_instructions) before.erase(before.begin());
      }
      at += length;
    }
    for (; tick != function.by_offset.end(); ++tick)
      rows.push_back({tick->first, tick->second, {}, {}, 0});
    return rows;
  }

  std::map<std::string, FileRows> files_of(const Micro::Function& function,
                                           std::span<const std::byte> bytes) const {
    std::map<std::string, FileRows> files;
    for (CodeRow& row : code_rows(function, bytes)) {
      LinePlace place = code_.place_of(function, row.offset);
      row.inlined = std::move(place.function);
      FileRows& file = files[place.file];
      LineRows& line = file.lines[place.line];
      file.ticks += row.ticks;
      line.ticks += row.ticks;
      line.code.push_back(std::move(row));
    }
    for (auto& [name, file] : files)
      std::erase_if(file.lines, [](const auto& line) { return line.second.ticks == 0; });
    std::erase_if(files, [](const auto& file) { return file.second.ticks == 0; });
    return files;
  }

  // When the module's file was changed, in nanoseconds since 1970; nothing if there is no such
  // file.
  std::optional<int64_t> program_time(const Micro::Function& function) const {
    const std::string path(micro_.lookup(function, function.start).module);
    struct stat status {};
    if (!path.starts_with('/') || ::stat(path.c_str(), &status) != 0) return {};
    return pi::identity_of(status).modified_ns;
  }

  // ---- printing ----

  void add_function(const Micro::Function& function) {
    program_ = micro_.is_of_root(function) ? SourceFiles::Program::of_root
                                           : SourceFiles::Program::of_others;
    if (!lines_.empty()) add_line({});
    const Code code = micro_.code(function);
    auto files = files_of(function, code.bytes);
    const bool any_line = std::ranges::any_of(
        files, [](const auto& file) { return file.second.lines.rbegin()->first != 0; });
    // The line at which the function begins is shown, too.
    const LinePlace begin = begin_of(function);
    if (const auto own = files.find(begin.file); own != files.end() && begin.line != 0)
      own->second.lines.try_emplace(begin.line);
    std::string head = fmt::format(
        "{} in {}: {} {}, {} % of {}",
        short_name(readable(summary_, function.symbol), head_width, style_.utf8 ? "…" : "..."),
        summary_.names.text(function.module), function.ticks,
        function.ticks == 1 ? "tick" : "ticks", share_word(function.ticks, whole_),
        part_                                    ? "the selected ticks"
        : summary_.file.info.has_all_processes() ? "all processors' ticks"
                                                 : "all ticks");
    const std::optional<int64_t> made = program_time(function);
    for (const auto& [path, file] : files) {
      const SourceText& source = sources_.find(path, program_);
      if (made && source.found() && source.modified_ns() > *made)
        head += fmt::format("; {} is newer than the program: its line numbers may be wrong",
                            printable(source.path()));
    }
    add_paragraph(head, "1");
    if (!any_line) add_paragraph(no_lines_text(function));
    if (code.bytes.empty())
      add_paragraph(
          "The instructions are not known: the program's file is not on this machine, or the "
          "trace is in an archive, or the code is the kernel's (-k) or a runtime's.");
    set_columns(function, files);
    const std::string columns = fmt::format("{:>{}} {:>7} {:>{}}  {}", "ticks", tick_columns_,
                                            "share", "line", line_columns_, "source or code");
    add_line(styled(columns, "4"));
    std::vector<std::string> order;
    for (const auto& [path, file] : files) order.push_back(path);
    std::ranges::stable_sort(order, [&](const std::string& a, const std::string& b) {
      if ((a == begin.file) != (b == begin.file)) return a == begin.file;
      return files.at(a).ticks > files.at(b).ticks;
    });
    for (const std::string& path : order)
      if (any_line)
        add_file(function, path, files.at(path));
      else
        for (const auto& [number, line] : files.at(path).lines) add_code(function, line);
  }

  static std::string share_word(uint64_t part, uint64_t whole) {
    const std::string text = share_text(part, whole);
    return text.substr(text.find_first_not_of(' '));
  }

  std::string no_lines_text(const Micro::Function& function) const {
    if (function.code_id != 0) return "The runtime has written no line numbers of this code.";
    return fmt::format(
        "No lines are known: there is no debug information of {}. Compile it with -g, "
        "or install its -dbgsym package, or set DEBUGINFOD_URLS.",
        summary_.names.text(function.module));
  }

  void set_columns(const Micro::Function& function, const std::map<std::string, FileRows>& files) {
    tick_columns_ = std::max<size_t>(5, std::to_string(function.ticks).size());
    size_t line = 0;
    for (const auto& [path, file] : files)
      line = std::max<size_t>(line, file.lines.rbegin()->first + context_lines);
    const size_t offset = fmt::format("+{:x}", function.by_offset.rbegin()->first + 0xff).size();
    line_columns_ = std::max({size_t{4}, std::to_string(line).size(), offset});
  }

  // ticks: of the line or instruction; 0 leaves its columns blank.
  void add_row(const Micro::Function& function, uint64_t ticks, const std::string& place,
               const std::string& text, const char* style) {
    const size_t before = tick_columns_ + line_columns_ + 11;
    const size_t space = style_.line_width > before ? style_.line_width - before : 1;
    const std::string counted = ticks == 0 ? std::string(tick_columns_ + 8, ' ')
                                           : fmt::format("{:>{}} {} %", ticks, tick_columns_,
                                                         share_text(ticks, function.ticks));
    const bool hot = percent(ticks, function.ticks) >= hot_share;
    std::string line =
        fmt::format("{} {:>{}}", hot ? styled(counted, "1;31") : counted, place, line_columns_);
    if (!text.empty())
      line += "  " + styled(cut_text(shown(text), space, style_.utf8 ? "…" : "..."), style);
    // Rows between lines have no number.
    const bool numbered = place.find_first_of("+0123456789") == 0;
    add_line(std::move(line), ticks,
             fmt::format("{:x} {:x} {} {}", function.code_id, function.start, file_,
                         numbered ? place : text));
  }

  void add_code(const Micro::Function& function, const LineRows& line) {
    std::string inlined;
    uint64_t end = 0;  // of the instruction above
    for (const CodeRow& row : line.code) {
      // Instructions of other lines, or without ticks, are between these.
      if (end != 0 && row.offset != end) add_row(function, 0, "...", "", nullptr);
      end = row.end;
      if (row.inlined != inlined) {
        inlined = row.inlined;
        add_row(
            function, 0, "",
            inlined.empty() ? "in the function itself:" : "in " + inlined + ", inlined:", nullptr);
      }
      add_row(function, row.ticks, fmt::format("+{:x}", row.offset), row.text, "36");
    }
  }

  void add_source_line(const Micro::Function& function, const SourceText& source, uint32_t number,
                       const LineRows& line) {
    std::string text;
    if (number == 0)
      text = "(line not known)";
    else if (source.found() && number > source.lines())
      text = fmt::format("(the file has {} lines)", source.lines());
    else
      text = expanded(source.line(number));
    add_row(function, line.ticks, number == 0 ? "?" : std::to_string(number), text,
            line.ticks == 0 ? nullptr : "1");
    add_code(function, line);
  }

  void add_file(const Micro::Function& function, const std::string& path, const FileRows& file) {
    const SourceText& source = sources_.find(path, program_);
    file_ = path;
    if (path.empty())
      add_paragraph(file.lines.rbegin()->first == 0 ? "No source is known:"
                                                    : "The source file is not known:");
    else if (source.found())
      add_paragraph(printable(source.path()) + ":");
    else
      add_paragraph(printable(path) + ": " + sources_.problem(path, program_));
    uint64_t shown_until = 0;  // the last line that was shown
    for (auto at = file.lines.begin(); at != file.lines.end(); ++at) {
      const auto& [number, line] = *at;
      const uint64_t known = number == 0 ? 0 : source.lines();
      const uint64_t first =
          std::max(shown_until + 1, number > context_lines ? number - context_lines : uint64_t{1});
      if (shown_until != 0 && first > shown_until + 1 && source.found())
        add_row(function, 0, "...", "", nullptr);
      const auto add_context = [&](uint64_t from, uint64_t until) {
        for (uint64_t context = from; context < until && context <= known; ++context)
          add_row(function, 0, std::to_string(context),
                  expanded(source.line(static_cast<size_t>(context))), nullptr);
      };
      add_context(first, number);
      add_source_line(function, source, number, line);
      const auto next = std::next(at);
      shown_until = uint64_t{number} + context_lines;
      if (next != file.lines.end()) shown_until = std::min(shown_until, uint64_t{next->first} - 1);
      if (number == 0) shown_until = 0;
      add_context(uint64_t{number} + 1, shown_until + 1);
    }
  }

  const Summary& summary_;
  const AnnotationStyle& style_;
  const Micro& micro_;
  SourceFiles sources_;
  const CodeText code_;
  size_t tick_columns_ = 0;
  size_t line_columns_ = 0;
  SourceFiles::Program program_ =
      SourceFiles::Program::of_others;  // whose functions are being added
  std::string file_;                    // whose lines are being added
  uint64_t whole_ = 0;                  // ticks that are 100 % of all
  bool part_ = false;                   // a part of the trace's ticks is selected
  std::vector<AnnotationLine> lines_;
};

}  // namespace

pi::Result<std::string> annotation(const Summary& summary, const AnnotationStyle& style) {
  return Annotator(summary, style).text();
}

std::vector<AnnotationLine> annotated_lines(const Summary& summary,
                                            std::span<const Micro::Function> functions,
                                            uint64_t whole, const AnnotationStyle& style) {
  return Annotator(summary, style).lines(functions, whole);
}

}  // namespace post
