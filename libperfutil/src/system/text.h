// SPDX-License-Identifier: MIT
// Small text helpers: texts of error numbers, whole small files, parsing of numbers.
#ifndef PI_PERFUTIL_TEXT_H
#define PI_PERFUTIL_TEXT_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pi::perfutil {

// The text of the error number in the C locale.
std::string errno_text(int error);

// The file's whole text, up to limit bytes; nothing when it cannot be opened or read. For files of
// /proc and /sys, which report no size.
std::optional<std::string> read_text(const std::string& path, size_t limit = 1 << 20);

// As read_text, without the final line feed; empty when the file cannot be read.
std::string read_line(const std::string& path);

// A decimal (base 10) or hexadecimal (base 16) number; nothing if text is anything else.
std::optional<uint64_t> parse_number(std::string_view text, int base = 10);

// Removes the text before the separator, which is returned, and the separator.
std::string_view next_word(std::string_view& text, char separator);

// "0-3,8" as the kernel lists CPUs; empty when it is malformed.
std::vector<uint32_t> parse_cpu_list(std::string_view text);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_TEXT_H
