// SPDX-License-Identifier: MIT
// Decodes non-ASCII identifiers of Rust's v0 mangling (RFC 3492, with '_' instead of '-').
#include "punycode.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/utf8.h"

namespace a2n {
namespace {

constexpr uint64_t base = 36;
constexpr uint64_t t_min = 1;
constexpr uint64_t t_max = 26;
constexpr size_t max_length = 256;
constexpr uint64_t limit = UINT32_MAX;

std::optional<uint64_t> digit(char c) {
  if (c >= 'a' && c <= 'z') return static_cast<uint64_t>(c - 'a');
  if (c >= '0' && c <= '9') return static_cast<uint64_t>(c - '0') + 26;
  return std::nullopt;
}

uint64_t adapt(uint64_t delta, uint64_t length, bool first) {
  delta /= first ? 700 : 2;
  delta += delta / length;
  uint64_t k = 0;
  while (delta > (base - t_min) * t_max / 2) {
    delta /= base - t_min;
    k += base;
  }
  return k + (base - t_min + 1) * delta / (delta + 38);
}

// Removes one variable-length integer from the beginning of text and returns it.
std::optional<uint64_t> next_delta(std::string_view& text, uint64_t bias) {
  uint64_t value = 0;
  uint64_t weight = 1;
  for (uint64_t k = base;; k += base) {
    if (text.empty()) return std::nullopt;
    const auto next = digit(text[0]);
    text.remove_prefix(1);
    if (!next) return std::nullopt;
    value += *next * weight;
    if (value > limit) return std::nullopt;
    const uint64_t threshold = k <= bias ? t_min : std::min(k - bias, t_max);
    if (*next < threshold) return value;
    weight *= base - std::max(threshold, t_min);
    if (weight > limit) return std::nullopt;
  }
}

}  // namespace

std::optional<std::string> decode_punycode(std::string_view text) {
  std::vector<uint32_t> codes;
  if (const size_t end = text.rfind('_'); end != text.npos) {
    for (const char c : text.substr(0, end)) codes.push_back(static_cast<unsigned char>(c));
    text.remove_prefix(end + 1);
  }
  if (text.empty()) return std::nullopt;
  uint64_t code = 128;
  uint64_t at = 0;
  uint64_t bias = 72;
  for (bool first = true; !text.empty(); first = false) {
    const auto delta = next_delta(text, bias);
    if (!delta || codes.size() >= max_length) return std::nullopt;
    const uint64_t length = codes.size() + 1;
    at += *delta;
    code += at / length;
    at %= length;
    if (code > 0x10ffff) return std::nullopt;
    codes.insert(codes.begin() + static_cast<std::ptrdiff_t>(at), static_cast<uint32_t>(code));
    ++at;
    bias = adapt(*delta, length, first);
  }
  std::string out;
  for (const uint32_t value : codes) {
    if (!append_utf8(value, out)) return std::nullopt;
  }
  return out;
}

}  // namespace a2n
