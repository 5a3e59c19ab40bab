// SPDX-License-Identifier: MIT
// The browser's loop: keys from the terminal, screens to it, and the trace read again as it grows.
#ifndef POST_TOP_RUN_BROWSER_H
#define POST_TOP_RUN_BROWSER_H

#include <pi/result.h>

#include <chrono>
#include <functional>
#include <string>

#include "browser.h"
#include "terminal.h"

namespace post::top {

// The trace, which can grow while it is shown.
class Feed {
 public:
  virtual ~Feed() = default;

  // The file's path.
  virtual const std::string& path() const = 0;
  // Whether the file is another one than was read, or has grown.
  virtual bool changed() = 0;
  // Reads it again. An error that is not fatal leaves what was read before. Ends early when stop()
  // is true; what was read is then incomplete.
  virtual pi::Status read(const std::function<bool()>& stop) = 0;
  // Of what was read; valid until read().
  virtual const Summary& summary() const = 0;
  // Whether its recording was not ended.
  virtual bool recording() const = 0;
};

// Shows the feed, which has been read once, until the user or a signal ends it.
void run_browser(Terminal& terminal, Feed& feed, bool utf8, std::chrono::milliseconds interval);

}  // namespace post::top

#endif  // POST_TOP_RUN_BROWSER_H
