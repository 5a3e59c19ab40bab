// SPDX-License-Identifier: MIT
// The state of the browser: open view, selection, cursor, sorting and searching, and the effect of
// keys on it. Does not access a terminal.
#ifndef POST_TOP_BROWSER_H
#define POST_TOP_BROWSER_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rows.h"

namespace post::top {

// The first four are views of the whole selection, the others of one symbol.
enum class View : uint8_t { processes, threads, modules, symbols, lines, callers, callees };

struct Key {
  enum class Kind : uint8_t {
    none,
    character,  // that text contains
    up,
    down,
    page_up,
    page_down,
    home,
    end,
    enter,
    left,
    right,
    tab,
    back_tab,
    backspace,
    escape,
  };
  Kind kind = Kind::none;
  std::string text = {};  // UTF-8
};

enum class Action : uint8_t { none, read, quit };

class Browser {
 public:
  explicit Browser(bool utf8) : utf8_(utf8) {}

  // Shows a trace. The summary must exist until the next call of show(), or the last call of
  // press(). The view, the selection and the row under the cursor are kept, by name; a row of
  // source or code by its line or instruction. recording: the trace is still being recorded.
  void show(const Summary& summary, bool recording);

  // Cells of a line, and rows that fit below the heads.
  void resize(size_t width, size_t rows);

  Action press(const Key& key);

  // ---- for drawing ----
  View view() const { return here_.view; }
  // What the command line selects; empty: everything.
  const std::string& selection_text() const { return selection_text_; }
  const std::vector<ItemFilter>& filters() const { return here_.filters; }
  // The symbol of the views lines to callees, for people.
  const std::string& symbol() const { return here_.symbol_shown; }
  const std::vector<Row>& rows() const { return rows_; }
  uint64_t whole() const { return whole_; }
  const std::string& note() const { return note_; }
  size_t cursor() const { return here_.cursor; }
  size_t first() const { return here_.first; }  // row that is drawn first
  bool by_name() const { return here_.by_name; }
  bool help() const { return help_; }
  bool utf8() const { return utf8_; }
  // The word that is being typed; none: no search is active.
  const std::optional<std::string>& typed() const { return typed_; }
  // Why the last key had no effect.
  const std::string& message() const { return message_; }
  // Sentences on the trace: ticks and their time; missing data, and what the source cannot record.
  const std::string& ticks_text() const { return ticks_text_; }
  const std::string& facts_text() const { return facts_text_; }
  bool lossy() const { return lossy_; }

 private:
  // The states to which Backspace returns.
  struct Place {
    View view = View::processes;
    std::vector<ItemFilter> filters = {};
    Item symbol = {};
    std::string symbol_shown = {};
    bool by_name = false;
    size_t cursor = 0;
    size_t first = 0;
    std::optional<Row> left_at = {};  // the row under the cursor when another place was opened
  };

  bool of_symbol() const { return here_.view >= View::lines; }
  const Row* current() const { return rows_.empty() ? nullptr : &rows_[here_.cursor]; }
  void make_rows();
  void make_rows_again();
  bool find_again(const Row& row);
  void sort_rows();
  void move_to(size_t row);
  void move(std::ptrdiff_t by);
  void go(Place place);
  void back();
  void set_view(View view);
  void turn(int by);
  void open();
  void open_symbol(const Row& row, View view);
  void select(bool without);
  void search(bool backwards);
  Action press_character(const std::string& text);
  void press_typing(const Key& key);

  const bool utf8_;
  const Summary* summary_ = nullptr;
  std::string selection_text_;
  size_t width_ = 80;
  size_t page_ = 1;  // rows that fit
  Place here_;
  std::vector<Place> before_;
  std::vector<Row> rows_;
  uint64_t whole_ = 0;
  std::string note_;
  std::optional<std::string> typed_;
  std::string searched_;
  std::string message_;
  bool help_ = false;
  std::string ticks_text_;
  std::string facts_text_;
  bool lossy_ = false;
};

// The level of a view of the whole selection.
Level level_of(View view);

}  // namespace post::top

#endif  // POST_TOP_BROWSER_H
