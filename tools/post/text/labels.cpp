// SPDX-License-Identifier: MIT
// The names of processes and threads in reports.
#include "labels.h"

#include <fmt/format.h>

#include "text.h"

namespace post {
namespace {

constexpr std::string_view unnamed_label = "pid";

// Removes "_DIGITS" from the end if it has at least the given number of digits.
bool drop_number(std::string_view& text, std::string_view digits, size_t least) {
  const size_t at = text.find_last_not_of(digits);
  if (at == std::string_view::npos || text[at] != '_' || text.size() - at - 1 < least) return false;
  text = text.substr(0, at);
  return true;
}

}  // namespace

std::string process_label(uint32_t pid, std::string_view name, uint32_t cpu,
                          const LabelOptions& options) {
  std::string label = pid == idle_pid     ? "SystemProcess"
                      : pid == exited_pid ? "ExitedProcess"
                                          : printable(name);
  const bool unknown = label.empty();
  if (unknown) label = unnamed_label;
  if (unknown || !options.process_names_only) label += fmt::format("_{:04x}", pid);
  if (options.per_cpu) label += fmt::format("_{}", cpu);
  return label;
}

std::string process_base_name(std::string_view label, const LabelOptions& options) {
  if (options.per_cpu) drop_number(label, "0123456789", 1);
  std::string_view name = label;
  const bool has_id = drop_number(name, "0123456789abcdef", 4);
  if (has_id && name == unnamed_label) return unnamed_process;
  return std::string(options.process_names_only ? label : name);
}

std::string thread_label(uint32_t tid, std::string_view name, const LabelOptions& options) {
  if (name.empty()) return fmt::format("tid_{:04x}", tid);
  if (options.thread_names_only) return "tid_" + printable(name);
  return fmt::format("tid_{}_{:04x}", printable(name), tid);
}

std::string thread_base_name(std::string_view label, uint32_t tid) {
  const std::string before = "tid_", after = fmt::format("_{:04x}", tid);
  if (!label.starts_with(before) || !label.ends_with(after) ||
      label.size() < before.size() + after.size())
    return {};
  return std::string(label.substr(before.size(), label.size() - before.size() - after.size()));
}

}  // namespace post
