// SPDX-License-Identifier: MIT
// Compilers' names made readable: C++ (Itanium ABI) and Rust (both manglings).
#ifndef A2N_DEMANGLE_H
#define A2N_DEMANGLE_H

#include <optional>
#include <string>
#include <string_view>

namespace a2n {

// The readable form, or nothing when the name is not mangled or too costly to unfold.
std::optional<std::string> demangle(const char* name);

// "_RNvC3foo3bar" -> "foo::bar"; without the crates' hashes. Bounded in time and memory.
std::optional<std::string> demangle_rust_v0(std::string_view name);

// "_ZN3foo3bar17h0123456789abcdefE" -> "foo::bar".
std::optional<std::string> demangle_rust_legacy(std::string_view name);

// What compilers put behind the mangled name of a part or a copy of a function, as C++ names have
// it: ".part.0.cold" -> " [clone .part.0] [clone .cold]". Without ".llvm." and its number, which
// LLVM adds to names that it makes visible to other files.
std::string readable_suffix(std::string_view suffix);

}  // namespace a2n

#endif  // A2N_DEMANGLE_H
