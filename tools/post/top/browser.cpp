// SPDX-License-Identifier: MIT
// The state of the browser: open view, selection, cursor, sorting and searching, and the effect of
// keys on it. Does not access a terminal.
#include "browser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "report/page_facts.h"
#include "text/text.h"

namespace post::top {
namespace {

constexpr size_t flat_views = 4;
constexpr size_t symbol_views = 3;

View view_number(size_t number) {
  return static_cast<View>(number);
}

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

// Case-sensitive if the word contains a capital letter.
bool contains(const Row& row, const std::string& word) {
  const std::string text = row.owner.empty() ? row.name : row.name + " " + row.owner;
  const std::string small = lower(word);
  return small == word ? lower(text).find(small) != std::string::npos
                       : text.find(word) != std::string::npos;
}

bool same(const Row& a, const Row& b) {
  if (!a.line.empty() || !b.line.empty()) return a.line == b.line;
  return a.item == b.item && (!a.item.name.empty() || a.name == b.name);
}

// Drops the last character.
void shorten(std::string& text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) text.pop_back();
  if (!text.empty()) text.pop_back();
}

}  // namespace

Level level_of(View view) {
  constexpr Level of[] = {Level::process, Level::thread, Level::module, Level::symbol};
  return of[static_cast<size_t>(view)];
}

void Browser::show(const Summary& summary, bool recording) {
  summary_ = &summary;
  const TickTotals& ticks = summary.ticks;
  selection_text_ = fmt::format("{}", fmt::join(selection_texts(summary.options.selection), " "));
  ticks_text_ = plural(ticks.ticks, "tick", "ticks");
  if (ticks.ticks != 0) ticks_text_ += " in " + duration_text(ticks.last_time - ticks.first_time);
  if (recording) ticks_text_ += ", recording";
  const std::string lost = lost_text(summary, recording);
  lossy_ = !lost.empty();
  facts_text_ = lossy_ ? lost : nothing_lost_text(summary);
  if (const std::vector<std::string> parts = not_seen(summary.file.info); !parts.empty())
    facts_text_ += fmt::format(" Not seen: {}.", fmt::join(parts, ", "));
  make_rows_again();
}

void Browser::resize(size_t width, size_t rows) {
  page_ = std::max<size_t>(rows, 1);
  if (width != width_) {
    width_ = width;
    if (summary_ && here_.view == View::lines) make_rows_again();
  }
  move_to(here_.cursor);
}

void Browser::make_rows() {
  Rows made;
  if (here_.view == View::lines)
    made = line_rows(*summary_, here_.filters, here_.symbol, {.width = width_, .utf8 = utf8_});
  else if (of_symbol())
    made = call_rows(*summary_, here_.filters, here_.symbol,
                     here_.view == View::callers ? Side::callers : Side::callees);
  else
    made = flat_rows(*summary_, here_.filters, level_of(here_.view));
  rows_ = std::move(made.rows);
  whole_ = made.whole;
  note_ = std::move(made.note);
  if (summary_->ticks.ticks == 0)
    note_ = "No tick is recorded yet.";
  else if (rows_.empty() && note_.empty())
    note_ = "No tick is left. Backspace goes back.";
  sort_rows();
  move_to(here_.cursor);
}

void Browser::sort_rows() {
  if (here_.view == View::lines) return;
  std::ranges::stable_sort(rows_, [&](const Row& a, const Row& b) {
    if (!here_.by_name && a.ticks != b.ticks) return a.ticks > b.ticks;
    return a.name != b.name ? a.name < b.name : a.owner < b.owner;
  });
}

// The cursor stays on its row; if that is gone, it goes to the nearest one above it that is there.
// Lines also stay where they are on the screen.
void Browser::make_rows_again() {
  const std::vector<Row> old = std::move(rows_);
  const size_t cursor = here_.cursor;
  const size_t above = cursor - here_.first;
  make_rows();
  for (size_t at = std::min(cursor + 1, old.size()); at-- > 0;)
    if (find_again(old[at])) break;
  if (here_.view != View::lines) return;
  here_.first = here_.cursor - std::min(above, here_.cursor);
  move_to(here_.cursor);
}

// Moves the cursor to the row, of several equal ones to the nearest; false if it is not there.
bool Browser::find_again(const Row& row) {
  std::optional<size_t> nearest;
  const auto distance = [&](size_t at) {
    return std::max(at, here_.cursor) - std::min(at, here_.cursor);
  };
  for (size_t at = 0; at < rows_.size(); ++at)
    if (same(row, rows_[at]) && (!nearest || distance(at) < distance(*nearest))) nearest = at;
  if (nearest) move_to(*nearest);
  return nearest.has_value();
}

void Browser::move_to(size_t row) {
  here_.cursor = rows_.empty() ? 0 : std::min(row, rows_.size() - 1);
  if (here_.cursor < here_.first) here_.first = here_.cursor;
  if (here_.cursor >= here_.first + page_) here_.first = here_.cursor - page_ + 1;
  // Scroll so that no line below the last row is empty while rows above are hidden.
  here_.first = std::min(here_.first, rows_.size() > page_ ? rows_.size() - page_ : 0);
}

void Browser::move(std::ptrdiff_t by) {
  const auto at = static_cast<std::ptrdiff_t>(here_.cursor) + by;
  move_to(at < 0 ? 0 : static_cast<size_t>(at));
}

void Browser::go(Place place) {
  here_.left_at = current() ? std::optional(*current()) : std::nullopt;
  before_.push_back(std::exchange(here_, std::move(place)));
  make_rows();
}

void Browser::back() {
  if (before_.empty()) {
    message_ = "This is where you began.";
    return;
  }
  here_ = std::move(before_.back());
  before_.pop_back();
  make_rows();
  // Its number is another one if the trace was read again.
  if (here_.left_at) find_again(*here_.left_at);
}

void Browser::set_view(View view) {
  here_.view = view;
  here_.cursor = here_.first = 0;
  make_rows();
}

void Browser::turn(int by) {
  const size_t base = of_symbol() ? flat_views : 0;
  const size_t count = of_symbol() ? symbol_views : flat_views;
  const size_t at = static_cast<size_t>(here_.view) - base;
  set_view(view_number(base + (at + count + static_cast<size_t>(by)) % count));
}

void Browser::open() {
  const Row* const row = current();
  if (!row || row->item.name.empty()) {
    message_ = here_.view == View::lines ? "Lines have nothing below them."
                                         : "There is nothing below this row.";
    return;
  }
  if (of_symbol()) return open_symbol(*row, here_.view);
  if (here_.view == View::symbols) return open_symbol(*row, View::lines);
  Place place{.view = here_.view == View::modules ? View::symbols : View::modules,
              .filters = here_.filters};
  place.filters.push_back({row->item, false, row->name});
  go(std::move(place));
}

void Browser::open_symbol(const Row& row, View view) {
  go({.view = view, .filters = here_.filters, .symbol = row.item, .symbol_shown = row.name});
}

void Browser::select(bool without) {
  const Row* const row = current();
  if (of_symbol() || !row) {
    message_ = "Only processes, threads, modules and symbols can be selected or excluded.";
    return;
  }
  Place place = here_;
  place.filters.push_back({row->item, without, row->name});
  if (!without) place.cursor = place.first = 0;
  go(std::move(place));
}

void Browser::search(bool backwards) {
  if (searched_.empty()) {
    message_ = "Nothing has been searched: / does.";
    return;
  }
  const size_t count = rows_.size();
  for (size_t step = 1; step <= count; ++step) {
    const size_t at = (here_.cursor + (backwards ? count - step : step)) % count;
    if (!contains(rows_[at], searched_)) continue;
    const bool wrapped = backwards ? at > here_.cursor : at < here_.cursor;
    if (at == here_.cursor) message_ = "No other row contains '" + searched_ + "'.";
    if (wrapped) message_ = backwards ? "Found from the end on." : "Found from the beginning on.";
    return move_to(at);
  }
  message_ = "No row contains '" + searched_ + "'.";
}

void Browser::press_typing(const Key& key) {
  switch (key.kind) {
    case Key::Kind::character:
      *typed_ += key.text;
      break;
    case Key::Kind::backspace:
      if (typed_->empty())
        typed_.reset();
      else
        shorten(*typed_);
      break;
    case Key::Kind::enter:
      if (!typed_->empty()) searched_ = *typed_;
      typed_.reset();
      search(false);
      break;
    case Key::Kind::escape:
      typed_.reset();
      break;
    default:
      break;
  }
}

Action Browser::press_character(const std::string& text) {
  const char key = text.size() == 1 ? text.front() : '\0';
  switch (key) {
    case 'q':
      return Action::quit;
    case 'r':
      return Action::read;
    case 'j':
      move(1);
      break;
    case 'k':
      move(-1);
      break;
    case '1':
    case '2':
    case '3':
    case '4':
      if (of_symbol())
        go({.view = view_number(static_cast<size_t>(key - '1')), .filters = here_.filters});
      else
        set_view(view_number(static_cast<size_t>(key - '1')));
      break;
    case 'c':
      if (of_symbol())
        set_view(View::callers);
      else if (here_.view == View::symbols && current())
        open_symbol(*current(), View::callers);
      else
        message_ = "Only symbols have callers: 4 shows symbols.";
      break;
    case 'f':
      select(false);
      break;
    case 'x':
      select(true);
      break;
    case 's':
      if (here_.view == View::lines) {
        message_ = "Lines stay in their order.";
      } else {
        const std::optional<Row> row = current() ? std::optional(*current()) : std::nullopt;
        here_.by_name = !here_.by_name;
        sort_rows();
        if (row) find_again(*row);
      }
      break;
    case '/':
      typed_ = "";
      break;
    case 'n':
      search(false);
      break;
    case 'N':
      search(true);
      break;
    case '?':
      help_ = true;
      break;
    default:
      message_ = "This key does nothing. ? explains the keys.";
      break;
  }
  return Action::none;
}

Action Browser::press(const Key& key) {
  message_.clear();
  if (help_) {
    help_ = false;
    return key.kind == Key::Kind::character && key.text == "q" ? Action::quit : Action::none;
  }
  if (typed_) {
    press_typing(key);
    return Action::none;
  }
  const auto page = static_cast<std::ptrdiff_t>(page_);
  switch (key.kind) {
    case Key::Kind::character:
      return press_character(key.text);
    case Key::Kind::up:
      move(-1);
      break;
    case Key::Kind::down:
      move(1);
      break;
    case Key::Kind::page_up:
      move(-page);
      break;
    case Key::Kind::page_down:
      move(page);
      break;
    case Key::Kind::home:
      move_to(0);
      break;
    case Key::Kind::end:
      move_to(rows_.size());
      break;
    case Key::Kind::enter:
    case Key::Kind::right:
      open();
      break;
    case Key::Kind::backspace:
    case Key::Kind::left:
      back();
      break;
    case Key::Kind::tab:
      turn(1);
      break;
    case Key::Kind::back_tab:
      turn(-1);
      break;
    default:
      break;
  }
  return Action::none;
}

}  // namespace post::top
