// SPDX-License-Identifier: MIT
#include "base64.h"

#include <cstdint>

namespace post {
namespace {

constexpr char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// One to three bytes as four digits.
void put_digits(char* to, std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < 3; ++i)
    value = value << 8 | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u);
  for (size_t i = 0; i < 4; ++i)
    to[i] = i > bytes.size() ? '=' : base64_digits[value >> (18 - 6 * i) & 63];
}

}  // namespace

bool Base64Writer::write(std::string_view bytes) {
  rest_ += bytes;
  const size_t whole = rest_.size() - rest_.size() % 3;
  std::string text(whole / 3 * 4, '\0');
  for (size_t i = 0; i < whole; i += 3)
    put_digits(text.data() + i / 3 * 4, std::string_view(rest_).substr(i, 3));
  rest_.erase(0, whole);
  return text.empty() || sink_.write(text);
}

bool Base64Writer::finish() {
  if (rest_.empty()) return true;
  std::string text(4, '\0');
  put_digits(text.data(), rest_);
  return sink_.write(text);
}

}  // namespace post
