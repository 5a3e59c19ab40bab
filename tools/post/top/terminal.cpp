// SPDX-License-Identifier: MIT
// The terminal: shows screens and reads keys, with ncurses.
#include "terminal.h"

#include <fcntl.h>
#include <pi/unique_fd.h>
#include <unistd.h>

// ncurses would define macros with names such as border and move.
#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>

#include <array>
#include <climits>
#include <csignal>
#include <cwchar>
#include <utility>

#include "terminal_kind.h"

namespace post::top {
namespace {

constexpr std::array ending_signals{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

volatile std::sig_atomic_t caught = 0;

void take_signal(int number) {
  caught = number;
}

std::string character_text(wchar_t character) {
  std::array<char, MB_LEN_MAX> bytes{};
  std::mbstate_t state{};
  const size_t size = std::wcrtomb(bytes.data(), character, &state);
  return size == static_cast<size_t>(-1) ? std::string() : std::string(bytes.data(), size);
}

Key::Kind kind_of(wint_t code) {
  switch (code) {
    case KEY_UP:
      return Key::Kind::up;
    case KEY_DOWN:
      return Key::Kind::down;
    case KEY_PPAGE:
      return Key::Kind::page_up;
    case KEY_NPAGE:
      return Key::Kind::page_down;
    case KEY_HOME:
      return Key::Kind::home;
    case KEY_END:
      return Key::Kind::end;
    case KEY_ENTER:
      return Key::Kind::enter;
    case KEY_LEFT:
      return Key::Kind::left;
    case KEY_RIGHT:
      return Key::Kind::right;
    case KEY_BTAB:
      return Key::Kind::back_tab;
    case KEY_BACKSPACE:
      return Key::Kind::backspace;
    default:
      return Key::Kind::none;
  }
}

Key key_of(wint_t character) {
  switch (character) {
    case '\r':
    case '\n':
      return {Key::Kind::enter};
    case '\t':
      return {Key::Kind::tab};
    case '\b':
    case 0x7f:
      return {Key::Kind::backspace};
    case 0x1b:
      return {Key::Kind::escape};
    default:
      break;
  }
  if (character < 0x20) return {};
  std::string text = character_text(static_cast<wchar_t>(character));
  if (text.empty()) return {};
  return {Key::Kind::character, std::move(text)};
}

enum Pair : short { hot_pair = 1, warning_pair, dim_pair };

attr_t attributes(Style style, bool colour) {
  switch (style) {
    case Style::bar:
    case Style::cursor:
      return A_REVERSE;
    case Style::head:
      return A_BOLD;
    case Style::hot:
      return A_BOLD | (colour ? COLOR_PAIR(hot_pair) : 0);
    case Style::warning:
      return colour ? COLOR_PAIR(warning_pair) : A_BOLD;
    case Style::dim:
      return colour ? COLOR_PAIR(dim_pair) : A_NORMAL;
    default:
      return A_NORMAL;
  }
}

}  // namespace

struct Terminal::State {
  SCREEN* screen = nullptr;
  pi::UniqueFd standard_error;  // a copy of the original descriptor 2
  std::array<struct sigaction, ending_signals.size()> handlers{};
  bool colour = false;
};

pi::Status Terminal::check() {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1)
    return no_terminal("post top needs a terminal as its standard input and output.");
  return check_kind();
}

pi::Result<std::unique_ptr<Terminal>> Terminal::open(bool colour) {
  if (const pi::Status usable = check(); !usable) return usable.error();
  std::unique_ptr<Terminal> terminal(new Terminal(colour));
  if (!terminal->state_->screen) return no_terminal("the terminal cannot be used.");
  return terminal;
}

Terminal::Terminal(bool colour) : state_(std::make_unique<State>()) {
  for (size_t i = 0; i < ending_signals.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = take_signal;
    ::sigaction(ending_signals[i], &action, &state_->handlers[i]);
    // Signals that the caller ignores (nohup) stay ignored.
    if (state_->handlers[i].sa_handler == SIG_IGN)
      ::sigaction(ending_signals[i], &state_->handlers[i], nullptr);
  }
  // Use the terminal's size, not LINES and COLUMNS of the environment.
  ::use_tioctl(TRUE);
  state_->screen = ::newterm(nullptr, stdout, stdin);
  if (!state_->screen) return;
  if (pi::UniqueFd null(::open("/dev/null", O_WRONLY | O_CLOEXEC)); null) {
    state_->standard_error = pi::UniqueFd(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
    ::dup2(null.get(), STDERR_FILENO);
  }
  ::cbreak();
  ::noecho();
  ::nonl();
  ::keypad(stdscr, TRUE);
  ::set_escdelay(25);
  ::curs_set(0);
  if (!colour || !::has_colors() || ::start_color() != OK) return;
  state_->colour = true;
  ::use_default_colors();
  ::init_pair(hot_pair, COLOR_RED, -1);
  ::init_pair(warning_pair, COLOR_YELLOW, -1);
  ::init_pair(dim_pair, COLOR_CYAN, -1);
}

Terminal::~Terminal() {
  if (state_->screen) {
    ::endwin();
    ::delscreen(state_->screen);
  }
  if (state_->standard_error) ::dup2(state_->standard_error.get(), STDERR_FILENO);
  for (size_t i = 0; i < ending_signals.size(); ++i)
    ::sigaction(ending_signals[i], &state_->handlers[i], nullptr);
}

size_t Terminal::width() const {
  return static_cast<size_t>(::getmaxx(stdscr));
}

size_t Terminal::height() const {
  return static_cast<size_t>(::getmaxy(stdscr));
}

void Terminal::show(const Screen& screen) {
  ::werase(stdscr);
  for (size_t number = 0; number < screen.lines.size() && number < height(); ++number) {
    ::wmove(stdscr, static_cast<int>(number), 0);
    for (const Span& span : screen.lines[number]) {
      ::wattrset(stdscr, static_cast<int>(attributes(span.style, state_->colour)));
      ::waddnstr(stdscr, span.text.c_str(), -1);
    }
  }
  ::wattrset(stdscr, A_NORMAL);
  ::curs_set(screen.caret ? 1 : 0);
  if (screen.caret)
    ::wmove(stdscr, static_cast<int>(screen.lines.size()) - 1, static_cast<int>(*screen.caret));
  ::wrefresh(stdscr);
}

Key Terminal::read(std::chrono::milliseconds timeout) {
  ::wtimeout(stdscr, static_cast<int>(timeout.count()));
  wint_t code = 0;
  switch (::wget_wch(stdscr, &code)) {
    case KEY_CODE_YES:
      return {kind_of(code)};
    case OK:
      return key_of(code);
    default:
      return {};
  }
}

int Terminal::ending_signal() {
  return caught;
}

}  // namespace post::top
