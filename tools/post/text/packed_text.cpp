// SPDX-License-Identifier: MIT
// Text as zlib data in base64, as a stream.
#include "packed_text.h"

#include <algorithm>
#include <array>
#include <limits>
#include <new>

namespace post {
namespace {

constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// One to three bytes as four digits.
void append_digits(std::string& to, std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < 3; ++i)
    value = value << 8 | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u);
  for (size_t i = 0; i < 4; ++i) to += i > bytes.size() ? '=' : digits[value >> (18 - 6 * i) & 63];
}

}  // namespace

PackedText::PackedText(Sink& sink) : sink_(sink) {
  if (deflateInit(&stream_, Z_DEFAULT_COMPRESSION) != Z_OK) throw std::bad_alloc();
}

PackedText::~PackedText() {
  deflateEnd(&stream_);
}

bool PackedText::compress(std::string_view text, int flush) {
  std::array<char, 48 * 1024> packed;
  // zlib counts bytes in 32 bits.
  constexpr size_t most = std::numeric_limits<uInt>::max() / 2;
  do {
    const std::string_view part = text.substr(0, most);
    text.remove_prefix(part.size());
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
    stream_.avail_in = static_cast<uInt>(part.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(packed.data());
      stream_.avail_out = packed.size();
      deflate(&stream_, text.empty() ? flush : Z_NO_FLUSH);
      if (!encode({packed.data(), packed.size() - stream_.avail_out})) return false;
    } while (stream_.avail_out == 0);
  } while (!text.empty());
  return true;
}

bool PackedText::encode(std::string_view bytes) {
  rest_ += bytes;
  std::string text;
  const size_t whole = rest_.size() - rest_.size() % 3;
  text.reserve(whole / 3 * 4);
  for (size_t i = 0; i < whole; i += 3) append_digits(text, std::string_view(rest_).substr(i, 3));
  rest_.erase(0, whole);
  good_ = good_ && (text.empty() || sink_.write(text));
  return good_;
}

bool PackedText::finish() {
  if (!compress({}, Z_FINISH)) return false;
  std::string text;
  if (!rest_.empty()) append_digits(text, rest_);
  return text.empty() || sink_.write(text);
}

}  // namespace post
