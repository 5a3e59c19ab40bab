// SPDX-License-Identifier: MIT
// Decodes non-ASCII identifiers of Rust's v0 mangling (RFC 3492, with '_' instead of '-').
#ifndef A2N_PUNYCODE_H
#define A2N_PUNYCODE_H

#include <optional>
#include <string>
#include <string_view>

namespace a2n {

// Returns UTF-8; nullopt if the text is not punycode or decodes to more than 256 characters.
std::optional<std::string> decode_punycode(std::string_view text);

}  // namespace a2n

#endif  // A2N_PUNYCODE_H
