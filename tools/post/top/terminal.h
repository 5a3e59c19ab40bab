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

// Controls the terminal until it is destroyed; only one may exist. Output to the standard error is
// dropped meanwhile. Signals that end the program are recorded and not acted on; see
// ending_signal().
class Terminal {
 public:
  // Why the standard input and output cannot be used; empty if they can.
  static pi::Status check();
  static pi::Result<std::unique_ptr<Terminal>> open(bool colour);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  size_t width() const;
  size_t height() const;
  void show(const Screen& screen);
  // The next key; none after the timeout, a signal or a change of the size.
  Key read(std::chrono::milliseconds timeout);

  // The received signal that must end the program, or 0.
  static int ending_signal();

 private:
  explicit Terminal(bool colour);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace post::top

#endif  // POST_TOP_TERMINAL_H
