// SPDX-License-Identifier: MIT
// The lines of log-jita2n and log-jtnm (pi/jit_log.h): values in, text out.
#include "log_text.h"

#include <algorithm>
#include <charconv>

#include <pi/hex.h>
#include <pi/java_text.h>
#include <pi/jit_log.h>

namespace pi::jprof {
namespace {

using namespace jit_log;

void append_number(std::string& text, uint64_t value, int base) {
  char place[24];
  const auto result = std::to_chars(place, place + sizeof place, value, base);
  text.append(place, result.ptr);
}

void append_hex(std::string& text, uint64_t value) {
  append_number(text, value, 16);
}

void append_decimal(std::string& text, uint64_t value) {
  append_number(text, value, 10);
}

void append_word32(std::string& text, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    const auto& pair = hex_pair(static_cast<uint8_t>(value >> shift & 0xff));
    text.append(pair.data(), pair.size());
  }
}

void append_time(std::string& text, uint64_t time) {
  append_word32(text, static_cast<uint32_t>(time >> 32));
  text += ' ';
  append_word32(text, static_cast<uint32_t>(time));
}

void append_time16(std::string& text, uint64_t time) {
  append_word32(text, static_cast<uint32_t>(time >> 32));
  append_word32(text, static_cast<uint32_t>(time));
}

void append_bytes(std::string& text, std::span<const uint8_t> bytes) {
  const size_t lines = (bytes.size() + code_bytes_per_line - 1) / code_bytes_per_line;
  const size_t start = text.size();
  text.resize(start + 2 * bytes.size() + lines);
  char* place = text.data() + start;
  for (size_t at = 0; at < bytes.size();) {
    const size_t stop = std::min(at + code_bytes_per_line, bytes.size());
    for (; at < stop; ++at) {
      place = std::ranges::copy(hex_pair(bytes[at]), place).out;
    }
    *place++ = '\n';
  }
}

void append_addition(std::string& text, std::string_view word) {
  text += addition;
  text += word;
}

// Items of one kind, in as many lines as they need.
class Items {
 public:
  Items(std::string& text, std::string beginning)
      : text_(text), beginning_(std::move(beginning)), start_(text.size()) {
    text_ += beginning_;
  }

  // Before each item.
  void next() {
    if (text_.size() - start_ > addition_line_max - item_max) {
      text_ += '\n';
      start_ = text_.size();
      text_ += beginning_;
    }
    text_ += ' ';
  }

 private:
  static constexpr size_t item_max = 40;  // three numbers of 32 bits, colons, blank, line feed

  std::string& text_;
  const std::string beginning_;
  size_t start_;
};

std::string beginning_of(std::string_view word) {
  return std::string(addition) + std::string(word);
}

void append_key(std::string& text, std::string_view key) {
  text += ' ';
  text += key;
  text += '=';
}

void append_key(std::string& text, std::string_view key, uint64_t value) {
  append_key(text, key);
  append_decimal(text, value);
}

}  // namespace

std::string log_name(std::string_view modified_utf8) {
  return java_log_name(modified_utf8);
}

std::string thread_log_name(std::string_view modified_utf8) {
  std::string name = log_name(modified_utf8);
  for (char& c : name)
    if (c == '"') c = '_';
  return name.empty() ? "_" : name;
}

void append_jita2n_beginning(std::string& text, uint32_t pid) {
  for (const auto line : {title, encoding, platform}) {
    text += line;
    text += '\n';
  }
  text += process;
  append_decimal(text, pid);
  text += '\n';
}

void append_head(std::string& text, const LogHead& facts) {
  append_addition(text, head_word);
  append_key(text, head::version, jit_log::version);
  append_key(text, head::agent);
  text += log_name(facts.agent);
  append_key(text, head::clock);
  text += facts.clock_is_exact ? "CLOCK_MONOTONIC" : "namespace";
  append_key(text, head::offset);
  text += std::to_string(facts.clock_offset);
  append_key(text, head::pid, facts.pid);
  append_key(text, head::pid_ns, facts.pid_namespace);
  append_key(text, head::started);
  append_time16(text, facts.started);
  append_key(text, head::begun);
  append_time16(text, facts.begun);
  append_key(text, head::attached);
  text += facts.late ? "late" : "start";
  append_key(text, head::jvm);
  text += log_name(std::string_view(facts.jvm).substr(0, 300));
  text += '\n';
}

void append_code(std::string& text, uint64_t time, uint64_t address, uint32_t size, uint32_t flags,
                 std::string_view name, std::span<const uint8_t> bytes) {
  append_time(text, time);
  text += ' ';
  append_hex(text, address);
  text += ' ';
  append_hex(text, size);
  text += ' ';
  append_hex(text, bytes.empty() ? flags : flags | flag_code);
  text += ' ';
  text += log_name(name);
  text += '\n';
  append_bytes(text, bytes);
}

void append_unload(std::string& text, uint64_t time, uint64_t address) {
  append_addition(text, unload_word);
  text += ' ';
  append_time(text, time);
  text += ' ';
  append_hex(text, address);
  text += '\n';
}

void append_method(std::string& text, uint32_t number, std::string_view file, std::string_view name,
                   const LineTable& lines) {
  append_addition(text, method_word);
  text += ' ';
  append_hex(text, number);
  text += ' ';
  text += file.empty() ? "-" : log_name(file);
  text += ' ';
  text += log_name(name);
  text += '\n';
  if (lines.empty()) return;
  std::string beginning = beginning_of(lines_word) + ' ';
  append_hex(beginning, number);
  Items items(text, beginning);
  for (const auto& [bci, line] : lines) {
    items.next();
    append_hex(text, bci);
    text += ':';
    append_decimal(text, line);
  }
  text += '\n';
}

void append_inlining(std::string& text, std::span<const InlineFrame> frames,
                     std::span<const InlineRange> ranges, std::span<const uint32_t> numbers) {
  if (ranges.empty()) return;
  Items frame_items(text, beginning_of(frames_word));
  for (const auto& frame : frames) {
    frame_items.next();
    append_hex(text, frame.parent);
    text += ':';
    append_hex(text, numbers[frame.method]);
    text += ':';
    if (frame.bci < 0)
      text += unknown_bci;
    else
      append_hex(text, static_cast<uint32_t>(frame.bci));
  }
  text += '\n';
  Items range_items(text, beginning_of(ranges_word));
  for (const auto& range : ranges) {
    range_items.next();
    append_hex(text, range.end);
    text += ':';
    append_hex(text, range.frame);
  }
  text += '\n';
}

void append_interval(std::string& text, uint32_t number) {
  text += interval;
  append_decimal(text, number);
  text += '\n';
}

void append_lost(std::string& text, uint64_t count, uint64_t first, uint64_t last) {
  append_addition(text, lost_word);
  text += ' ';
  append_decimal(text, count);
  text += ' ';
  append_time(text, first);
  text += ' ';
  append_time(text, last);
  text += '\n';
}

void append_end(std::string& text, uint64_t time, std::string_view reason) {
  append_addition(text, end_word);
  text += ' ';
  append_time(text, time);
  text += ' ';
  text += reason;
  text += '\n';
}

void append_thread(std::string& text, uint64_t time, uint32_t tid, std::string_view name,
                   bool starts) {
  text += thread_word;
  append_time16(text, time);
  text += ' ';
  append_hex(text, tid);
  text += ' ';
  text += thread_log_name(name);
  text += starts ? thread_start : thread_end;
  text += '\n';
}

void append_mount(std::string& text, uint64_t time, uint32_t tid, std::string_view name) {
  append_addition(text, mount_word);
  text += ' ';
  append_time16(text, time);
  text += ' ';
  append_hex(text, tid);
  text += ' ';
  text += thread_log_name(name);
  text += '\n';
}

void append_unmount(std::string& text, uint64_t time, uint32_t tid) {
  append_addition(text, unmount_word);
  text += ' ';
  append_time16(text, time);
  text += ' ';
  append_hex(text, tid);
  text += '\n';
}

}  // namespace pi::jprof
