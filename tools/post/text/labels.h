// SPDX-License-Identifier: MIT
// The names of processes and threads in reports.
#ifndef POST_LABELS_H
#define POST_LABELS_H

#include <cstdint>
#include <string>
#include <string_view>

namespace post {

constexpr uint32_t idle_pid = 0;
constexpr uint32_t exited_pid = 0xffffffff;  // perf's pid for a task that was already released

struct LabelOptions {
  bool process_names_only = false;  // -pnm
  bool thread_names_only = false;   // -tnm
  bool per_cpu = false;             // -cpu
};

// java_103c; pid_103c when name is empty; SystemProcess_0000 and ExitedProcess_ffffffff.
std::string process_label(uint32_t pid, std::string_view name, uint32_t cpu,
                          const LabelOptions& options);

// The name in a label of process_label() made with the same options: without id and processor.
// unnamed_process for one whose name is not known.
constexpr const char* unnamed_process = "(no name)";
std::string process_base_name(std::string_view label, const LabelOptions& options);

// tid_main_1044; tid_1044 when name is empty.
std::string thread_label(uint32_t tid, std::string_view name, const LabelOptions& options);

// The name in a label of thread_label() for that thread, with its id in the label; empty if it has
// none.
std::string thread_base_name(std::string_view label, uint32_t tid);

}  // namespace post

#endif  // POST_LABELS_H
