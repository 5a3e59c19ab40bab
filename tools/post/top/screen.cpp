// SPDX-License-Identifier: MIT
// The browser's screen as lines of text, for a terminal of any size.
#include "screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cells.h"
#include "report/summary.h"
#include "text/columns.h"
#include "text/short_name.h"

namespace post::top {
namespace {

constexpr size_t lines_above = 4;  // title, selection, views, heads
constexpr size_t lines_below = 2;  // facts, keys
constexpr double hot_percent = 10;

constexpr const char* view_names[] = {"Processes", "Threads", "Modules", "Symbols",
                                      "Lines",     "Callers", "Callees"};

constexpr const char* help_lines[] = {
    "Up Down PageUp PageDown Home End   move (also k and j)",
    "Enter, Right       open the row: of a process or thread its modules, of a",
    "                   module its symbols, of a symbol its lines and instructions,",
    "                   of a caller or callee its own callers or callees",
    "Backspace, Left    go back",
    "Tab, 1 2 3 4       processes, threads, modules, symbols of what is selected;",
    "                   behind a symbol Tab shows lines, callers, callees",
    "c                  the callers of a symbol",
    "f   x              select only the row; exclude it (Backspace undoes it)",
    "s                  sort by ticks or by name",
    "/   n   N          search for a word; again; backwards",
    "r                  read the trace file again",
    "q                  end",
    "",
    "100 % are the ticks (samples) that are selected: of callers and callees those",
    "in the symbol and what it calls, of lines those of the symbol. Behind a module",
    "callees have only ticks of that module.",
};

class Drawing {
 public:
  Drawing(const Browser& browser, size_t width, size_t height)
      : browser_(browser), width_(width), height_(height) {}

  Screen make(const std::string& trace, const std::string& progress) {
    if (width_ < least_width || height_ < least_height) return too_small();
    add_title(trace);
    if (browser_.help())
      add_help();
    else
      add_view();
    while (screen_.lines.size() < height_ - lines_below) screen_.lines.emplace_back();
    add(browser_.facts_text(), browser_.lossy() ? Style::warning : Style::dim);
    add_last_line(progress);
    return std::move(screen_);
  }

 private:
  std::string mark() const { return browser_.utf8() ? "…" : "..."; }
  std::string shown(const std::string& text) const { return showable(text, browser_.utf8()); }
  std::string cut(const std::string& text) const { return cut_to(shown(text), width_, mark()); }
  void add(const std::string& text, Style style = Style::plain) {
    screen_.lines.push_back({{cut(text), style}});
  }

  Screen too_small() {
    constexpr const char* texts[] = {"The terminal is too", "small for post top:", nullptr,
                                     "q ends."};
    for (const char* text : texts)
      if (screen_.lines.size() < height_)
        screen_.lines.push_back({{cut_to(text ? std::string(text)
                                              : fmt::format("{} x {}, not {} x {}.", least_width,
                                                            least_height, width_, height_),
                                         width_, ""),
                                  Style::plain}});
    return std::move(screen_);
  }

  // Two texts at the ends of a line; the left one is shortened if both do not fit.
  std::string ends(const std::string& left, const std::string& right) const {
    const std::string end = cut_to(shown(right), width_ - 10, mark());
    const size_t space = width_ - cells_of(end) - (end.empty() ? 0 : 1);
    return filled(squeezed(shown(left), space, mark()), space) + (end.empty() ? "" : " ") + end;
  }

  void add_title(const std::string& trace) {
    screen_.lines.push_back(
        {{ends(" post top  " + trace, browser_.ticks_text() + " "), Style::bar}});
  }

  std::string path_text() const {
    std::string path = browser_.selection_text();
    if (path.empty()) path = "All";
    for (const ItemFilter& filter : browser_.filters())
      path += (filter.without ? ", without " : " > ") + filter.shown;
    if (!browser_.symbol().empty()) path += " > " + browser_.symbol();
    return path;
  }

  void add_view() {
    screen_.lines.push_back({{squeezed(shown(path_text()), width_, mark()), Style::head}});
    add_views();
    add_heads();
    const std::vector<Row>& rows = browser_.rows();
    const size_t end = std::min(rows.size(), browser_.first() + rows_of(height_));
    for (size_t at = browser_.first(); at < end; ++at) add_row(rows[at], at == browser_.cursor());
    if (rows.empty())
      for (const std::string& line : paragraph_lines(browser_.note(), width_ - 2)) add("  " + line);
  }

  // The names of the views that Tab shows; the open one in brackets.
  void add_views() {
    const bool of_symbol = browser_.view() >= View::lines;
    std::string text;
    for (size_t number = of_symbol ? 4 : 0; number < (of_symbol ? 7u : 4u); ++number) {
      const std::string name =
          of_symbol ? view_names[number] : fmt::format("{} {}", number + 1, view_names[number]);
      const bool open = static_cast<View>(number) == browser_.view();
      text += fmt::format("{}{}{} ", open ? "[" : " ", name, open ? "]" : " ");
    }
    const size_t count = browser_.rows().size();
    const std::string where = fmt::format("{}{} of {}",
                                          browser_.view() == View::lines ? ""
                                          : browser_.by_name()           ? "by name, "
                                                                         : "by ticks, ",
                                          count == 0 ? 0 : browser_.cursor() + 1, count);
    screen_.lines.push_back({{ends(text, where), Style::plain}});
  }

  size_t tick_width() const { return std::max<size_t>(5, std::to_string(browser_.whole()).size()); }
  // "  59.0 %  12345  "
  size_t width_before_name() const { return 1 + 7 + 2 + tick_width() + 2; }

  const char* owner_head() const {
    switch (browser_.view()) {
      case View::threads:
        return "PROCESS";
      case View::symbols:
      case View::callers:
      case View::callees:
        return "MODULE";
      default:
        return "";
    }
  }

  void add_heads() {
    constexpr const char* heads[] = {"PROCESS", "THREAD", "MODULE", "SYMBOL",
                                     "",        "CALLER", "CALLEE"};
    if (browser_.view() == View::lines) {
      widths_ = {};
      add(browser_.note(), Style::head);
      return;
    }
    find_widths();
    const std::string head = heads[static_cast<size_t>(browser_.view())];
    std::string text = fmt::format("   SHARE  {:>{}}  ", "TICKS", tick_width()) +
                       filled(head, widths_.name) + "  " + owner_head();
    if (browser_.view() >= View::callers && !browser_.rows().empty()) {
      // Where both do not fit, the totals are more important than the second column's head.
      const std::string both =
          filled(text, width_before_name() + widths_.name + 10) + browser_.note();
      if (cells_of(both) > width_)
        text = ends(text.substr(0, text.find(head) + head.size()), browser_.note());
      else
        text = both;
    }
    add(text, Style::head);
  }

  struct Widths {
    size_t name = 0;
    size_t owner = 0;
  };

  // If a row is too wide, owners are shortened to a third of the space, names to the rest.
  void find_widths() {
    const std::vector<Row>& rows = browser_.rows();
    widths_ = {6, 0};
    const size_t end = std::min(rows.size(), browser_.first() + rows_of(height_));
    for (size_t at = browser_.first(); at < end; ++at) {
      widths_.name = std::max(widths_.name, cells_of(shown(rows[at].name)));
      widths_.owner = std::max(widths_.owner, cells_of(shown(rows[at].owner)));
    }
    const size_t space = width_ - width_before_name();
    const size_t between = widths_.owner == 0 ? 0 : 2;
    if (widths_.name + widths_.owner + between <= space) return;
    widths_.owner = std::min(widths_.owner, std::max<size_t>(space / 3, 8));
    widths_.name = std::min(widths_.name, space - between - widths_.owner);
  }

  // Functions in the longest form that fits.
  std::string name_text(const Row& row) const {
    const std::string name = shown(row.name);
    const bool function = browser_.view() == View::symbols || browser_.view() == View::callers ||
                          browser_.view() == View::callees;
    return function && cells_of(name) > widths_.name ? short_name(name, widths_.name, mark())
                                                     : name;
  }

  void add_row(const Row& row, bool under_cursor) {
    const double share = percent(row.ticks, browser_.whole());
    if (browser_.view() == View::lines) {
      const Style style = share >= hot_percent ? Style::hot : Style::plain;
      const std::string text = cut(row.name);
      screen_.lines.push_back(
          {{under_cursor ? filled(text, width_) : text, under_cursor ? Style::cursor : style}});
      return;
    }
    const std::string before = fmt::format(" {} %", share_text(row.ticks, browser_.whole()));
    std::string rest = fmt::format("  {:>{}}  ", row.ticks, tick_width());
    const std::string name = squeezed(name_text(row), widths_.name, mark());
    if (row.owner.empty())
      rest += name;
    else
      rest += filled(name, widths_.name) + "  " + squeezed(shown(row.owner), widths_.owner, mark());
    if (under_cursor)
      screen_.lines.push_back({{filled(before + rest, width_), Style::cursor}});
    else
      screen_.lines.push_back(
          {{before, share >= hot_percent ? Style::hot : Style::plain}, {rest, Style::plain}});
  }

  void add_help() {
    for (const char* text : help_lines)
      if (screen_.lines.size() < height_ - lines_below) add(text);
  }

  void add_last_line(const std::string& progress) {
    if (!progress.empty()) return add(progress, Style::bar);
    if (browser_.help()) return add("Any key closes this.", Style::bar);
    if (browser_.typed()) {
      const std::string lead = "Search: ";
      // Shows the end of a long word.
      std::string word = shown(*browser_.typed());
      while (cells_of(lead + word) >= width_) word.erase(0, 1);
      while (!word.empty() && (static_cast<unsigned char>(word.front()) & 0xc0) == 0x80)
        word.erase(0, 1);
      screen_.lines.push_back({{lead + word, Style::plain}});
      screen_.caret = cells_of(lead + word);
      return;
    }
    if (!browser_.message().empty()) return add(browser_.message(), Style::head);
    constexpr const char* keys =
        "Enter open  Backspace back  Tab view  f x select  s sort  / find  ? help  q end";
    constexpr const char* few_keys = "Enter open  Backspace back  ? help  q end";
    constexpr const char* fewest_keys = "Enter  Backspace  Tab  ? help  q end";
    for (const char* text : {keys, few_keys, fewest_keys})
      if (cells_of(text) <= width_) return add(text, Style::dim);
  }

  const Browser& browser_;
  const size_t width_;
  const size_t height_;
  Widths widths_;
  Screen screen_;
};

}  // namespace

std::string Screen::line(size_t number) const {
  std::string text;
  for (const Span& span : lines[number]) text += span.text;
  return text;
}

std::string Screen::text() const {
  std::string text;
  for (size_t number = 0; number < lines.size(); ++number) text += line(number) + '\n';
  return text;
}

size_t rows_of(size_t height) {
  return height > lines_above + lines_below ? height - lines_above - lines_below : 1;
}

Screen draw(const Browser& browser, const std::string& trace, size_t width, size_t height,
            const std::string& progress) {
  return Drawing(browser, width, height).make(trace, progress);
}

}  // namespace post::top
