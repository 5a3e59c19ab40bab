// SPDX-License-Identifier: MIT
// Demangles C++ names (Itanium ABI) and Rust names (legacy and v0).
#ifndef A2N_DEMANGLE_H
#define A2N_DEMANGLE_H

#include <optional>
#include <string>
#include <string_view>

namespace a2n {

// The readable name; nullopt if the name is not mangled or its demangling exceeds a limit.
std::optional<std::string> demangle(const char* name);

// "_RNvC3foo3bar" -> "foo::bar", without crate hashes. Time and memory are limited.
std::optional<std::string> demangle_rust_v0(std::string_view name);

// "_ZN3foo3bar17h0123456789abcdefE" -> "foo::bar".
std::optional<std::string> demangle_rust_legacy(std::string_view name);

// Converts the suffix that compilers append to the mangled name of a function clone, in the style
// of C++ demanglers: ".part.0.cold" -> " [clone .part.0] [clone .cold]". Drops ".llvm." and its
// number, which LLVM adds to local names that it exports to other files.
std::string readable_suffix(std::string_view suffix);

}  // namespace a2n

#endif  // A2N_DEMANGLE_H
