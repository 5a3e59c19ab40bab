// SPDX-License-Identifier: MIT
// The browser's loop: keys from the terminal, screens to it, and the trace read again as it grows.
#include "run_browser.h"

#include <algorithm>

namespace post::top {
namespace {

using Clock = std::chrono::steady_clock;

// Reading takes at most this part of the time, so that keys are answered while a large file grows.
constexpr int reading_part = 4;

class Loop {
 public:
  Loop(Terminal& terminal, Feed& feed, bool utf8, std::chrono::milliseconds interval)
      : terminal_(terminal), feed_(feed), browser_(utf8), interval_(interval) {}

  void run() {
    browser_.show(feed_.summary(), feed_.recording());
    Clock::time_point next = Clock::now() + interval_;
    while (Terminal::ending_signal() == 0) {
      draw_screen();
      problem_.clear();
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now());
      const Key key = terminal_.read(std::clamp(left, std::chrono::milliseconds(0), interval_));
      Action action = Action::none;
      if (key.kind != Key::Kind::none) action = browser_.press(key);
      if (action == Action::quit) return;
      const bool due = Clock::now() >= next;
      if (action == Action::read || (due && feed_.changed()))
        next = Clock::now() + std::max<Clock::duration>(interval_, reading_part * read());
      else if (due)
        next = Clock::now() + interval_;
    }
  }

 private:
  void draw_screen(const std::string& progress = {}) {
    const size_t width = terminal_.width(), height = terminal_.height();
    browser_.resize(width, rows_of(height));
    terminal_.show(
        draw(browser_, feed_.path(), width, height, progress.empty() ? problem_ : progress));
  }

  // How long it took.
  Clock::duration read() {
    const Clock::time_point begin = Clock::now();
    draw_screen("Reading the trace ...");
    const pi::Status status = feed_.read([] { return Terminal::ending_signal() != 0; });
    if (!status) problem_ = status.error().message;
    browser_.show(feed_.summary(), feed_.recording());
    return Clock::now() - begin;
  }

  Terminal& terminal_;
  Feed& feed_;
  Browser browser_;
  const std::chrono::milliseconds interval_;
  std::string problem_;  // why the trace could not be read again
};

}  // namespace

void run_browser(Terminal& terminal, Feed& feed, bool utf8, std::chrono::milliseconds interval) {
  Loop(terminal, feed, utf8, interval).run();
}

}  // namespace post::top
