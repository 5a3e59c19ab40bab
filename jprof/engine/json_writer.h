// SPDX-License-Identifier: MIT
// Writes JSON, piece by piece.
#ifndef PI_CALLFLOW_JSON_WRITER_H
#define PI_CALLFLOW_JSON_WRITER_H

#include <cstdint>
#include <string>
#include <string_view>

#include "snapshot.h"

namespace pi::callflow {

class JsonWriter {
 public:
  void open(char bracket);
  void close(char bracket);
  void key(const char* name);
  void number(int64_t value);
  void number(double value);
  void boolean(bool value);
  // Without control characters, so that only two characters need an escape.
  void string(std::string_view value);
  void count(const char* name, uint64_t value);
  void line() { text_ += '\n'; }
  // The text since the last forget().
  const std::string& text() const { return text_; }
  size_t size() const { return text_.size(); }
  void forget() { text_.clear(); }

 private:
  void separate();

  std::string text_;
  bool needs_comma_ = false;
};

void write_losses(JsonWriter& json, const Losses& lost);

}  // namespace pi::callflow

#endif  // PI_CALLFLOW_JSON_WRITER_H
