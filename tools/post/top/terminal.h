// SPDX-License-Identifier: MIT
// The terminal: shows screens and reads keys, with ncurses.
#ifndef POST_TOP_TERMINAL_H
#define POST_TOP_TERMINAL_H

#include <pi/result.h>

#include <chrono>
#include <cstddef>
#include <memory>

#include "browser.h"
#include "screen.h"

namespace post::top {

// Takes over the terminal until it is destroyed; one at a time. What anything writes to the
// standard error meanwhile is dropped. Signals that end the program are held until then.
class Terminal {
 public:
  // Why the standard input and output cannot be used, if they cannot.
  static pi::Status check();
  static pi::Result<std::unique_ptr<Terminal>> open(bool colour);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  size_t width() const;
  size_t height() const;
  void show(const Screen& screen);
  // The next key; none when the time has passed, a signal came or the size has changed.
  Key read(std::chrono::milliseconds timeout);

  // The signal that is to end the program, or 0.
  static int ending_signal();

 private:
  explicit Terminal(bool colour);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace post::top

#endif  // POST_TOP_TERMINAL_H
