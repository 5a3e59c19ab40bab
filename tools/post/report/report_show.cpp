// SPDX-License-Identifier: MIT
// Writes post.show: every record as one line of text. Formats without fmt, to write millions of
// lines a second.
#include "report_show.h"

#include <pi/hex.h>

#include <bit>
#include <cstring>

#include "read/merge.h"

namespace post {
namespace {

// Capacity for the longest record, small enough to stay in the processor's cache.
constexpr size_t buffer_bytes = 512 << 10;
// A line needs fewer bytes than this, not counting those that depend on the record's length.
constexpr size_t line_overhead = 256;
// The most characters for a byte of a record: \xNN in the line, and 9 for 4 in the raw line.
constexpr size_t per_byte = 7;

}  // namespace

ShowReport::ShowReport(Sink& sink, bool raw, std::optional<uint64_t> begin)
    : sink_(sink), raw_(raw), begin_(begin), buffer_(new char[buffer_bytes]), at_(buffer_.get()) {
  const std::string_view heading =
      begin_ ? " ****           OFFSET CPU MAJOR MINOR TimeHigh:TimeLow Seconds [INT]* [STR]*\n"
             : " ****           OFFSET CPU MAJOR MINOR TimeHigh:TimeLow [INT]* [STR]*\n";
  std::memcpy(at_, heading.data(), heading.size());
  at_ += heading.size();
}

void ShowReport::put_hex(uint32_t value) {
  int shift = value == 0 ? 0 : (31 - std::countl_zero(value)) & ~3;
  for (; shift >= 0; shift -= 4) put(pi::upper_hex_digits[value >> shift & 15]);
}

void ShowReport::put_hex8(uint32_t value) {
  for (int shift = 28; shift >= 0; shift -= 4) put(pi::upper_hex_digits[value >> shift & 15]);
}

template <unsigned base>
void ShowReport::put_right(uint64_t value, unsigned width) {
  char text[20];
  unsigned size = 0;
  do {
    text[sizeof text - ++size] = pi::upper_hex_digits[value % base];
    value /= base;
  } while (value != 0);
  for (unsigned i = size; i < width; ++i) put(' ');
  std::memcpy(at_, text + sizeof text - size, size);
  at_ += size;
}

// Bytes that are no printable ASCII, and the backslash, as \xNN.
void ShowReport::put_escaped(std::string_view text) {
  for (const char c : text) {
    if (c >= 0x20 && c < 0x7f && c != '\\') {
      put(c);
      continue;
    }
    const unsigned char byte = static_cast<unsigned char>(c);
    put('\\');
    put('x');
    put(pi::upper_hex_digits[byte >> 4]);
    put(pi::upper_hex_digits[byte & 15]);
  }
}

void ShowReport::put_strings(const pi::RecordView& record) {
  std::string_view text;
  for (uint32_t i = 0; i < PITRACE_MAX_STRINGS && record.string_at(i, text); ++i) {
    put(' ');
    put('[');
    put_right<10>(text.size(), 0);
    put(']');
    put_escaped(text);
  }
}

void ShowReport::put_raw(const pi::RecordView& record) {
  put(' ');
  put('-');
  put('-');
  put('-');
  put('-');
  const auto bytes = record.bytes();
  for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    uint32_t word;
    std::memcpy(&word, bytes.data() + i, 4);
    put(' ');
    put_hex8(word);
  }
  put('\n');
}

// With all nine decimals; less than zero before the beginning.
void ShowReport::put_seconds(uint64_t time) {
  constexpr uint64_t second = 1'000'000'000;
  const bool before = time < *begin_;
  const uint64_t distance = before ? *begin_ - time : time - *begin_;
  put(' ');
  if (before) put('-');
  put_right<10>(distance / second, 0);
  put('.');
  for (uint64_t unit = second / 10, rest = distance % second; unit != 0; unit /= 10) {
    put(pi::upper_hex_digits[rest / unit]);
    rest %= unit;
  }
}

void ShowReport::add(const Stream& stream) {
  const pi::RecordView& record = stream.record();
  const size_t room = buffer_bytes - static_cast<size_t>(at_ - buffer_.get());
  if (room < line_overhead + per_byte * record.length()) flush();
  if (raw_) put_raw(record);
  std::memcpy(at_, " **** ", 6);
  at_ += 6;
  put_right<10>(stream.file_offset(), 16);
  put(' ');
  put_right<10>(stream.cpu(), 3);
  put(' ');
  put_right<16>(record.major(), 5);
  put(' ');
  put_right<16>(record.minor(), 5);
  put(' ');
  put_hex(static_cast<uint32_t>(stream.time() >> 32));
  put(':');
  put_hex8(static_cast<uint32_t>(stream.time()));
  if (begin_) put_seconds(stream.time());
  const uint32_t ints = record.int_count();
  for (uint32_t i = 0; i < ints; ++i) {
    put(' ');
    put_hex(record.int_at(i));
  }
  if (record.type() == PITRACE_TYPE_STRINGS) put_strings(record);
  put('\n');
}

void ShowReport::flush() {
  good_ = sink_.write({buffer_.get(), static_cast<size_t>(at_ - buffer_.get())}) && good_;
  at_ = buffer_.get();
}

bool ShowReport::finish() {
  flush();
  return good_;
}

std::unique_ptr<Subscriber> make_show(const ReportContext& context, Sink* sink) {
  std::optional<uint64_t> begin;
  if (context.options.show_seconds) begin = begin_of(context.source, context.file);
  return std::make_unique<ShowReport>(*sink, context.options.show_raw, begin);
}

}  // namespace post
