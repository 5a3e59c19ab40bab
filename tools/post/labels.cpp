// SPDX-License-Identifier: MIT
// How processes and threads are called in reports.
#include "labels.h"

#include <fmt/format.h>

#include "text.h"

namespace post {

std::string process_label(uint32_t pid, std::string_view name, uint32_t cpu,
                          const LabelOptions& options) {
  std::string label = pid == idle_pid     ? "SystemProcess"
                      : pid == exited_pid ? "ExitedProcess"
                                          : printable(name);
  const bool unknown = label.empty();
  if (unknown) label = "pid";
  if (unknown || !options.process_names_only) label += fmt::format("_{:04x}", pid);
  if (options.per_cpu) label += fmt::format("_{}", cpu);
  return label;
}

std::string thread_label(uint32_t tid, std::string_view name, const LabelOptions& options) {
  if (name.empty()) return fmt::format("tid_{:04x}", tid);
  if (options.thread_names_only) return "tid_" + printable(name);
  return fmt::format("tid_{}_{:04x}", printable(name), tid);
}

}  // namespace post
