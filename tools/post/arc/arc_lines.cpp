// SPDX-License-Identifier: MIT
// Formats the lines of an arc.
#include "arc_lines.h"

#include <pi/hex.h>

#include <algorithm>
#include <cstring>

namespace post {
namespace {

constexpr size_t buffer_bytes = 1 << 20;
// A line needs fewer bytes than this, not counting its names.
constexpr size_t line_overhead = 160;

}  // namespace

ArcLines::ArcLines(Sink& sink) : sink_(sink), buffer_(buffer_bytes), at_(buffer_.data()) {}

void ArcLines::make_room(size_t bytes) {
  if (buffer_.size() - static_cast<size_t>(at_ - buffer_.data()) >= bytes) [[likely]]
    return;
  flush();
  if (buffer_.size() >= bytes) return;
  buffer_.resize(bytes);
  at_ = buffer_.data();
}

template <unsigned base>
void ArcLines::put_right(uint64_t value, unsigned width) {
  char text[20];
  unsigned size = 0;
  do {
    text[sizeof text - ++size] = pi::hex_digits[value % base];
    value /= base;
  } while (value != 0);
  for (unsigned i = size; i < width; ++i) put_char(' ');
  std::memcpy(at_, text + sizeof text - size, size);
  at_ += size;
}

void ArcLines::put_string(std::string_view text) {
  std::memcpy(at_, text.data(), text.size());
  at_ += text.size();
}

void ArcLines::put(const ArcLine& line) {
  make_room(line_overhead + line.name.size() + line.thread.size());
  put_right<10>(line.cpu, 3);
  put_char(' ');
  put_char(line.user ? 'U' : 'K');
  put_char(' ');
  put_char(pi::hex_digits[digit_of(line.type)]);
  put_char(' ');
  put_right<10>(line.instructions, 5);
  put_char(' ');
  put_char(line.mark);
  put_char(' ');
  put_right<16>(line.offset, 4);
  put_char(' ');
  put_string(line.name);
  put_char(' ');
  put_string(line.thread);
  put_char(' ');
  put_string(word_of(line.type));
  put_char(' ');
  put_right<10>(line.line, 0);
  if (line.type == LineType::gap) {
    put_string(" ns=");
    put_right<10>(line.ns, 0);
  }
  put_char('\n');
}

void ArcLines::put_text(std::string_view text) {
  make_room(text.size());
  put_string(text);
}

bool ArcLines::flush() {
  good_ = sink_.write({buffer_.data(), static_cast<size_t>(at_ - buffer_.data())}) && good_;
  at_ = buffer_.data();
  return good_;
}

}  // namespace post
