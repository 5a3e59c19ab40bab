// SPDX-License-Identifier: MIT
// The names of methods in a report: each is looked up once.
#include "method_names.h"

#include <charconv>
#include <cstdio>

#include <pi/printable.h>

namespace pi::callflow {

const std::string& MethodNames::of(uint64_t method) {
  const auto [place, is_new] = names_.try_emplace(method);
  if (is_new) place->second = pi::printable(name_of_(method));
  return place->second;
}

char name_letter_in(const Snapshot& snapshot, const CallNode& node) {
  constexpr char java_method = 'M', native_function = 'U';
  if (!snapshot.sampling) return name_letter_of(node.type);
  return is_c(node.type) ? native_function : java_method;
}

std::string thread_label(const TreeCopy& thread) {
  char tid[16];
  std::snprintf(tid, sizeof tid, "%08X", thread.tid);
  return std::string(tid) + '_' + pi::printable(thread.name);
}

void append_number(std::string& text, int64_t value, size_t width) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  const auto size = static_cast<size_t>(end - digits);
  text.append(size < width ? width - size : 0, ' ');
  text.append(digits, size);
}

}  // namespace pi::callflow
