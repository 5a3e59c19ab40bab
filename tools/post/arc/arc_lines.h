// SPDX-License-Identifier: MIT
// Formats the lines of an arc.
#ifndef POST_ARC_LINES_H
#define POST_ARC_LINES_H

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "block_decoder.h"
#include "text/sink.h"

namespace post {

struct ArcLine {
  uint32_t cpu = 0;
  bool user = false;
  LineType type = LineType::undefined;
  char mark = '@';  // call flow; '?': another thread
  uint64_t instructions = 0;
  uint64_t offset = 0;
  std::string_view name;  // symbol:module
  std::string_view thread;
  uint32_t line = 0;  // of the source; 0: not known
  uint32_t ns = 0;    // of a gap
};

// Formats by hand, because it is meant for millions of lines a second.
class ArcLines {
 public:
  // The sink must outlive this.
  explicit ArcLines(Sink& sink);

  void put(const ArcLine& line);
  void put_text(std::string_view text);
  // Flushes to the sink; false when something could not be written.
  bool flush();
  bool good() const { return good_; }
  uint64_t lines() const { return lines_; }

 private:
  void make_room(size_t bytes);
  template <unsigned base>
  void put_right(uint64_t value, unsigned width);
  void put_string(std::string_view text);
  void put_char(char c) { *at_++ = c; }

  Sink& sink_;
  std::vector<char> buffer_;
  char* at_;
  bool good_ = true;
  uint64_t lines_ = 0;
};

}  // namespace post

#endif  // POST_ARC_LINES_H
