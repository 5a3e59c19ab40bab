// SPDX-License-Identifier: MIT
// Where the fields of tracepoints are in the raw data of their samples, as a recording of perf
// describes them.
#include "tracepoint_formats.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace pi::perfutil {
namespace {

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Reads one value after the other; after one that is cut off all are empty.
class Cursor {
 public:
  explicit Cursor(Bytes bytes) : rest_(bytes) {}

  template <class Number>
  Number number() {
    const Bytes place = take(sizeof(Number));
    return place.empty() ? 0 : number_at<Number>(place, 0);
  }
  // Up to a zero.
  std::string_view text() {
    const size_t length = text_of(rest_).find('\0');
    if (length == std::string_view::npos) return fail(), std::string_view();
    return text_of(take(length + 1)).substr(0, length);
  }
  // After its size.
  template <class Size>
  Bytes block() {
    return take(number<Size>());
  }
  Bytes take(uint64_t size) {
    if (size > rest_.size()) return fail(), Bytes();
    const Bytes taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  bool good() const { return good_; }

 private:
  void fail() {
    good_ = false;
    rest_ = {};
  }

  Bytes rest_;
  bool good_ = true;
};

// The number after a word such as "offset:"; npos: there is none.
size_t number_after(std::string_view line, std::string_view word) {
  const size_t at = line.find(word);
  size_t number = std::string_view::npos;
  if (at != std::string_view::npos)
    std::from_chars(line.data() + at + word.size(), line.data() + line.size(), number);
  return number;
}

// A line of a format: "field:pid_t prev_pid; offset:24; size:4; signed:1;".
std::optional<TracepointField> find_field(std::string_view format, std::string_view name) {
  constexpr size_t largest = 1 << 16;  // of a record
  const std::string end = std::string(" ").append(name).append(";");
  for (size_t at = 0; at < format.size();) {
    const std::string_view line = format.substr(at, format.find('\n', at) - at);
    at += line.size() + 1;
    if (line.find("field:") == std::string_view::npos || line.find(end) == std::string_view::npos)
      continue;
    const TracepointField field{number_after(line, "offset:"), number_after(line, "size:")};
    constexpr size_t sizes[] = {1, 2, 4, 8};
    if (field.offset >= largest || std::ranges::find(sizes, field.size) == std::end(sizes))
      return std::nullopt;
    return field;
  }
  return std::nullopt;
}

std::optional<SwitchFormat> switch_format(std::string_view text) {
  const auto prev = find_field(text, "prev_pid"), state = find_field(text, "prev_state"),
             next = find_field(text, "next_pid");
  if (!prev || !state || !next) return std::nullopt;
  return SwitchFormat{*prev, *state, *next};
}

std::optional<WakingFormat> waking_format(std::string_view text) {
  const auto flags = find_field(text, "common_flags"), tid = find_field(text, "pid"),
             cpu = find_field(text, "target_cpu");
  if (!flags || !tid || !cpu) return std::nullopt;
  return WakingFormat{*flags, *tid, *cpu};
}

}  // namespace

std::optional<uint64_t> TracepointField::of(Bytes raw) const {
  if (offset > raw.size() || size > raw.size() - offset) return std::nullopt;
  uint64_t value = 0;
  __builtin_memcpy(&value, raw.data() + offset, size);
  return value;
}

TracepointFormats TracepointFormats::read(Bytes tracing_data) {
  constexpr std::string_view magic = "\x17\x08\x44tracing";
  TracepointFormats formats;
  Cursor in(tracing_data);
  if (text_of(in.take(magic.size())) != magic) return formats;
  (void)in.text();  // the version
  constexpr size_t byte_order = 1, word_size = 1, page_size = 4;
  (void)in.take(byte_order + word_size + page_size);
  for (int i = 0; i < 2; ++i) {  // the formats of pages and of events
    (void)in.text();
    (void)in.block<uint64_t>();
  }
  for (auto left = in.number<uint32_t>(); left > 0 && in.good(); --left) (void)in.block<uint64_t>();
  for (auto systems = in.number<uint32_t>(); systems > 0 && in.good(); --systems) {
    const bool is_sched = in.text() == "sched";
    for (auto left = in.number<uint32_t>(); left > 0 && in.good(); --left) {
      const std::string_view text = text_of(in.block<uint64_t>());
      if (!is_sched) continue;
      if (text.starts_with("name: sched_switch\n")) formats.context_switch = switch_format(text);
      if (text.starts_with("name: sched_waking\n")) formats.waking = waking_format(text);
      if (text.starts_with("name: sched_wakeup\n")) formats.wakeup = waking_format(text);
      if (text.starts_with("name: sched_wakeup_new\n")) formats.wakeup_new = waking_format(text);
    }
  }
  return formats;
}

}  // namespace pi::perfutil
