// SPDX-License-Identifier: MIT
// The messages that post prints about a trace, in addition to the reports.
#include "messages.h"

#include <fmt/format.h>

#include "text/labels.h"

namespace post {
namespace {

const char* major_word(size_t major) {
  switch (major) {
    case PITRACE_MAJOR_EXCEPTION:
      return " (exceptions)";
    case PITRACE_MAJOR_INTERRUPT:
      return " (interrupts)";
    case PITRACE_MAJOR_SYSCALL:
      return " (system calls)";
    case PITRACE_MAJOR_TIME:
      return " (high half of the time)";
    case PITRACE_MAJOR_TIME_FAKE:
      return " (the time where a ring begins)";
    case PITRACE_MAJOR_TPROF:
      return " (ticks)";
    case PITRACE_MAJOR_SYSTEM:
      return " (start-up)";
    case PITRACE_MAJOR_DISPATCH:
      return " (dispatches, wake-ups, migrations)";
    case PITRACE_MAJOR_SWITCH:
      return " (task switches)";
    case PITRACE_MAJOR_MTE:
      return " (processes and modules)";
    case PITRACE_MAJOR_STACK:
      return " (user stacks)";
    case PITRACE_MAJOR_BRANCH_KERNEL:
      return " (ITrace: branches of the kernel)";
    case PITRACE_MAJOR_BRANCH_USER:
      return " (ITrace: branches of users)";
    case PITRACE_MAJOR_CUT_KERNEL:
    case PITRACE_MAJOR_CUT_USER:
      return " (ITrace: exceptions and interrupts)";
    case PITRACE_MAJOR_ITRACE_GAP:
      return " (ITrace: gaps)";
    case PITRACE_MAJOR_ITRACE_THREAD:
      return " (ITrace: changes of thread)";
    case PITRACE_MAJOR_ITRACE_START:
      return " (ITrace: starts)";
    case PITRACE_MAJOR_ITRACE_STOP:
      return " (ITrace: stops)";
    default:
      return "";
  }
}

}  // namespace

std::string trace_facts(const TraceFile& file, const RecordTotals& totals) {
  std::string text;
  for (const StreamLayout& layout : file.streams)
    text += fmt::format("{}: {} sections, {} bytes\n", buffer_name(layout.key),
                        layout.extents.size(), layout.size());
  text += fmt::format("records: {}\n", totals.records);
  for (size_t major = 0; major < totals.by_major.size(); ++major)
    if (totals.by_major[major] != 0)
      text += fmt::format("major {:02X}: {} records{}\n", major, totals.by_major[major],
                          major_word(major));
  return text;
}

std::string inner_facts(const std::deque<ProcessLifetime>& lifetimes, const StringTable& names) {
  std::string text;
  for (const ProcessLifetime& lifetime : lifetimes) {
    if (lifetime.pid_namespace == 0 && lifetime.inner_pid == 0) continue;
    const std::string inside =
        lifetime.inner_pid == 0 ? "an id not known" : fmt::format("process {}", lifetime.inner_pid);
    text += fmt::format("{} is {} in pid namespace {}\n",
                        process_label(lifetime.pid, names.text(lifetime.name), 0, {}), inside,
                        lifetime.pid_namespace);
  }
  return text;
}

std::vector<std::string> trace_warnings(const std::string& path, const TraceFile& file,
                                        const DamageLog& damage, const Losses& losses) {
  std::vector<std::string> warnings;
  for (const std::string& message : damage.messages())
    warnings.push_back(path + ": " + message + ".");
  if (const uint64_t more = damage.places() - damage.messages().size(); more != 0)
    warnings.push_back(fmt::format("{}: and {} more places are damaged.", path, more));
  for (const auto& [lead, text] : loss_sentences(file, losses))
    warnings.push_back(lead + ": " + text);
  return warnings;
}

}  // namespace post
