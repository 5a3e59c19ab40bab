// SPDX-License-Identifier: MIT
// Messages between commands and the service: one packet each way.
#ifndef PI_TOOLS_COMMON_SERVICE_PROTOCOL_H
#define PI_TOOLS_COMMON_SERVICE_PROTOCOL_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pi::service {

constexpr size_t max_request_bytes = 16384;
constexpr size_t max_request_words = 260;  // a verb and every major
constexpr size_t max_reply_bytes = 65536;

// A verb and its arguments; words are not empty and contain no zero byte.
using Request = std::vector<std::string>;

// A return code of perfutil.h with its text: an error message, or key=value lines.
struct Reply {
  int rc = 0;
  std::string text;
};

// Each word is followed by a zero byte.
std::string encode_request(const Request& request);
// Nothing when the packet is not of that form or exceeds the limits.
std::optional<Request> decode_request(std::string_view packet);

// The code in decimal, a line feed, the text; text beyond the limit is cut off.
std::string encode_reply(const Reply& reply);
std::optional<Reply> decode_reply(std::string_view packet);

// The values of a key in "key=value" lines, in order.
std::vector<std::string> values_of(std::string_view lines, std::string_view key);
// The first of them, "" when there is none.
std::string value_of(std::string_view lines, std::string_view key);

}  // namespace pi::service

#endif  // PI_TOOLS_COMMON_SERVICE_PROTOCOL_H
