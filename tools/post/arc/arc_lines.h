// SPDX-License-Identifier: MIT
// The lines of an arc, and their text.
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

// Receives the lines of an arc.
class ArcOutput {
 public:
  virtual ~ArcOutput() = default;
  virtual void put(const ArcLine& line) = 0;
  // Text between lines: instructions and comments.
  virtual void put_text(std::string_view /*text*/) {}
  // After the last line; false when something could not be written.
  virtual bool flush() { return true; }
};

// Formats by hand, because it is meant for millions of lines a second.
class ArcLines final : public ArcOutput {
 public:
  // The sink must outlive this.
  explicit ArcLines(Sink& sink);

  void put(const ArcLine& line) override;
  void put_text(std::string_view text) override;
  bool flush() override;

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
};

}  // namespace post

#endif  // POST_ARC_LINES_H
