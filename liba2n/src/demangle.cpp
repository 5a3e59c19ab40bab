// SPDX-License-Identifier: MIT
// Compilers' names made readable: C++ (Itanium ABI) and Rust (both manglings).
#include "demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace a2n {
namespace {

constexpr size_t max_length = 8192;
// A back reference can repeat everything before it, so that n of them can unfold to a text of
// about 1.4 to the n-th: what a hostile file would do to a profiler.
constexpr size_t max_references = 40;

// "S_", "S1_" (but not "St" and its like), "T_", "T0_". In identifiers too, which errs on the safe
// side.
size_t count_references(std::string_view name) {
  size_t count = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != 'S' && name[i] != 'T') continue;
    size_t end = i + 1;
    while (end < name.size() &&
           ((name[end] >= '0' && name[end] <= '9') || (name[end] >= 'A' && name[end] <= 'Z'))) {
      ++end;
    }
    if (end < name.size() && name[end] == '_') ++count;
  }
  return count;
}

std::optional<std::string> demangle_cpp(const char* name) {
  if (count_references(name) > max_references) return std::nullopt;
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  if (status == -1) throw std::bad_alloc();
  if (status != 0 || !text) return std::nullopt;
  return std::string(text.get());
}

}  // namespace

std::optional<std::string> demangle(const char* name) {
  if (name[0] != '_' || std::strlen(name) > max_length) return std::nullopt;
  if (name[1] == 'R') return demangle_rust_v0(name);
  if (name[1] != 'Z') return std::nullopt;
  if (auto rust = demangle_rust_legacy(name)) return rust;
  return demangle_cpp(name);
}

}  // namespace a2n
