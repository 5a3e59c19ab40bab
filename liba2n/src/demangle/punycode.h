// SPDX-License-Identifier: MIT
// Identifiers beyond ASCII in Rust's v0 mangling (RFC 3492, with '_' instead of '-').
#ifndef A2N_PUNYCODE_H
#define A2N_PUNYCODE_H

#include <optional>
#include <string>
#include <string_view>

namespace a2n {

// As UTF-8; nothing for what is no punycode or unfolds to more than 256 characters.
std::optional<std::string> decode_punycode(std::string_view text);

}  // namespace a2n

#endif  // A2N_PUNYCODE_H
