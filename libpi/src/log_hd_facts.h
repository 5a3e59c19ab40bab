// SPDX-License-Identifier: MIT
// The texts in the frames of a log-hd: its facts, and its end.
#ifndef PI_LOG_HD_FACTS_H
#define PI_LOG_HD_FACTS_H

#include <pi/log_hd.h>

#include <optional>
#include <string>
#include <string_view>

namespace pi::log_hd {

constexpr uint32_t end_magic = head_magic + 1;

struct End {
  uint64_t frames = 0;
  uint64_t bytes = 0;  // of the dump
  bool operator==(const End&) const = default;
};

std::string text_of(const Facts& facts);
std::string text_of(const End& end);

// Unknown words are left out. Nothing if the text is no text of that kind.
std::optional<Facts> facts_from(std::string_view text);
std::optional<End> end_from(std::string_view text);

}  // namespace pi::log_hd

#endif  // PI_LOG_HD_FACTS_H
