// SPDX-License-Identifier: MIT
// Bounds names, so that a small trace of a program with extreme names makes no huge reports.
#include "name_limit.h"

#include <fmt/format.h>

#include <cstdint>

namespace post {
namespace {

// FNV-1a: the same in every build, as reports of two runs are compared.
uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

std::string limited_name(std::string_view name) {
  if (name.size() <= longest_name) return std::string(name);
  const auto is_inner = [&](size_t at) { return (name[at] & 0xc0) == 0x80; };
  const size_t whole = longest_name - 17;
  size_t end = whole;
  while (whole - end < 3 && is_inner(end)) --end;
  return fmt::format("{}~{:016x}", name.substr(0, end), hash_of(name));
}

}  // namespace post
