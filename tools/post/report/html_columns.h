// SPDX-License-Identifier: MIT
// Writes JSON whose long arrays are not kept in memory.
#ifndef POST_HTML_COLUMNS_H
#define POST_HTML_COLUMNS_H

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>

#include "json.h"
#include "text/sink.h"

namespace post {

// One object; its members in the order of the calls.
class HtmlColumns {
 public:
  explicit HtmlColumns(Sink& sink) : sink_(sink) { text_ = '{'; }

  void member(std::string_view name, const pi::Json& value) {
    begin(name);
    text_ += value.dump();
  }

  // An array of numbers: value_of() of each element.
  template <class Range, class ValueOf>
  void numbers(std::string_view name, const Range& range, ValueOf value_of) {
    begin(name);
    text_ += '[';
    bool first = true;
    for (const auto& element : range) {
      if (!first) text_ += ',';
      first = false;
      const fmt::format_int digits(value_of(element));
      text_.append(digits.data(), digits.size());
      if (text_.size() > part) flush();
    }
    text_ += ']';
  }

  // An object as a member: to be followed by its members, then end().
  void open(std::string_view name) {
    begin(name);
    text_ += '{';
    first_ = true;
  }
  void close() {
    text_ += '}';
    first_ = false;
  }

  // After the last member. False when the sink failed.
  bool finish() {
    close();
    flush();
    return good_;
  }

 private:
  static constexpr size_t part = 1 << 16;  // bytes that are written at once

  void begin(std::string_view name) {
    fmt::format_to(std::back_inserter(text_), "{}\"{}\":", first_ ? "" : ",", name);
    first_ = false;
  }
  void flush() {
    good_ = good_ && sink_.write(text_);
    text_.clear();
  }

  Sink& sink_;
  std::string text_;
  bool first_ = true;
  bool good_ = true;
};

}  // namespace post

#endif  // POST_HTML_COLUMNS_H
