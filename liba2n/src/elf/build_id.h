// SPDX-License-Identifier: MIT
// Text form of a build-id: lower-case hex, "" for a file without one, "?" or "!" if unknown.
#ifndef A2N_BUILD_ID_H
#define A2N_BUILD_ID_H

#include <algorithm>
#include <string_view>

namespace a2n {

// "?": the file changed; "!": its path was not in the recorder's view of the file system.
constexpr bool is_unknown(std::string_view build_id) {
  return build_id == "?" || build_id == "!";
}

constexpr bool is_build_id(std::string_view text) {
  if (text.empty() || is_unknown(text)) return true;
  return text.size() % 2 == 0 && text.size() <= 128 &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// Whether the build-id proves the identity of a file.
constexpr bool identifies(std::string_view build_id) {
  return !build_id.empty() && !is_unknown(build_id);
}

}  // namespace a2n

#endif  // A2N_BUILD_ID_H
