// SPDX-License-Identifier: MIT
// Encodes one code point as UTF-8.
#ifndef A2N_UTF8_H
#define A2N_UTF8_H

#include <cstdint>
#include <string>

namespace a2n {

// Appends code to out; false, and out unchanged, for an invalid code point.
inline bool append_utf8(uint32_t code, std::string& out) {
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
  const auto tail = [&out](uint32_t bits) {
    out.push_back(static_cast<char>(0x80 | (bits & 0x3f)));
  };
  if (code < 0x80) {
    out.push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out.push_back(static_cast<char>(0xc0 | (code >> 6)));
    tail(code);
  } else if (code < 0x10000) {
    out.push_back(static_cast<char>(0xe0 | (code >> 12)));
    tail(code >> 6);
    tail(code);
  } else {
    out.push_back(static_cast<char>(0xf0 | (code >> 18)));
    tail(code >> 12);
    tail(code >> 6);
    tail(code);
  }
  return true;
}

}  // namespace a2n

#endif  // A2N_UTF8_H
