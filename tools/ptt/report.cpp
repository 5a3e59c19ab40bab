// SPDX-License-Identifier: MIT
// Makes the rows and the text of ptt dump.
#include "report.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <pi/printable.h>

namespace pi::ptt {
namespace {

Thread thread_of(const pitrace_ptt_thread& row) {
  Thread thread;
  thread.pid = row.pid;
  thread.tid = row.tid;
  thread.ended = (row.flags & PITRACE_PTT_ENDED) != 0;
  thread.dispatches = row.dispatches;
  thread.interrupts = row.interrupts;
  std::copy_n(row.value, MAX_PTT_METRICS, thread.values.begin());
  const size_t length = std::find(std::begin(row.name), std::end(row.name), '\0') - row.name;
  // A thread can set its name to any bytes.
  thread.name = printable({row.name, length});
  return thread;
}

std::optional<uint32_t> number_of(const std::string& text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The name of the main thread if it has ever run, else of any thread.
std::map<uint32_t, std::string> process_names(const std::vector<Thread>& threads) {
  std::map<uint32_t, std::string> names;
  for (const auto& thread : threads) {
    auto& name = names[thread.pid];
    if (thread.pid == thread.tid || name.empty()) name = thread.name;
  }
  return names;
}

void select(Report& report, const std::vector<std::string>& wanted) {
  std::set<uint32_t> pids;
  for (const auto& word : wanted) {
    const auto pid = number_of(word);
    if (pid) pids.insert(*pid);
    if (pid && report.processes.count(*pid) == 0) report.empty.push_back(*pid);
    for (const auto& [each, name] : report.processes)
      if (!pid && name == word) pids.insert(each);
  }
  std::erase_if(report.threads, [&](const Thread& each) { return pids.count(each.pid) == 0; });
  std::erase_if(report.processes, [&](const auto& each) { return pids.count(each.first) == 0; });
}

uint64_t key_of(const Thread& thread, const View& view) {
  switch (view.key) {
    case SortKey::pid:
      return thread.pid;
    case SortKey::tid:
      return thread.tid;
    case SortKey::dispatches:
      return thread.dispatches;
    case SortKey::interrupts:
      return thread.interrupts;
    case SortKey::metric:
      return thread.values[view.metric];
  }
  return 0;
}

std::string number(uint64_t value, const View& view) {
  return view.hex ? fmt::format("{:x}", value) : fmt::format("{}", value);
}

std::string ratio(const Values& values, std::pair<size_t, size_t> cpi) {
  const uint64_t instructions = values[cpi.second];
  if (instructions == 0) return "-";
  return fmt::format("{:.2f}",
                     static_cast<double>(values[cpi.first]) / static_cast<double>(instructions));
}

class Table {
 public:
  Table(const Report& report, const View& view)
      : report_(report), view_(view), cpi_(view.cpi ? cpi_metrics(report) : std::nullopt) {}

  void heading() {
    text_ += " PTT Facility Per-Thread Information\n";
    text_ += fmt::format("{:>9}{:>9}{:>10}{:>10}", "PID", "TID", "Disp", "Intr");
    for (const auto& name : report_.metrics) text_ += fmt::format(" {:>16}", name);
    if (cpi_) text_ += fmt::format("{:>9}", "CPI");
    text_ += view_.names ? "  NAME\n" : "\n";
  }
  void thread(const Thread& each) {
    row(number(each.pid, view_), number(each.tid, view_), each.dispatches, each.interrupts,
        each.values);
    text_ += view_.names ? fmt::format("  {}{}\n", each.name, each.ended ? " (ended)" : "") : "\n";
  }
  void sum(const std::string& label, const Others& all) {
    row(label, "", all.dispatches, all.interrupts, all.values);
    text_ += "\n";
  }
  void empty(uint32_t pid) { text_ += fmt::format("{:>9} - no data\n", number(pid, view_)); }
  void note(const std::string& line) { text_ += " " + line + "\n"; }

  std::string take() { return std::move(text_); }

 private:
  void row(const std::string& pid, const std::string& tid, uint64_t dispatches, uint64_t interrupts,
           const Values& values) {
    text_ += fmt::format("{:>9}{:>9}{:>10}{:>10}", pid, tid, number(dispatches, view_),
                         number(interrupts, view_));
    for (size_t i = 0; i < report_.metrics.size(); ++i)
      text_ += fmt::format(" {:>16}", number(values[i], view_));
    if (cpi_) text_ += fmt::format("{:>9}", ratio(values, *cpi_));
  }

  const Report& report_;
  const View& view_;
  std::optional<std::pair<size_t, size_t>> cpi_;
  std::string text_;
};

void add(Others& sum, const Thread& thread) {
  ++sum.threads;
  sum.dispatches += thread.dispatches;
  sum.interrupts += thread.interrupts;
  for (size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += thread.values[i];
}

// If sorted by process, the sum of a process with several threads follows its threads.
void put_threads(const Report& report, const View& view, Table& table) {
  Others sum;
  for (size_t i = 0; i < report.threads.size(); ++i) {
    const Thread& thread = report.threads[i];
    table.thread(thread);
    if (view.key != SortKey::pid) continue;
    add(sum, thread);
    if (i + 1 < report.threads.size() && report.threads[i + 1].pid == thread.pid) continue;
    if (sum.threads > 1) table.sum(number(thread.pid, view), sum);
    sum = {};
  }
}

}  // namespace

Report make_report(const ptt_stats& stats, const pi_ptt_state& state,
                   const std::vector<std::string>& wanted) {
  Report report;
  report.active = state.active != 0;
  report.ints = state.ints != 0;
  for (int i = 0; i < state.metrics; ++i) report.metrics.emplace_back(state.name[i]);
  for (uint32_t i = 0; i < stats.threads; ++i) report.threads.push_back(thread_of(stats.thread[i]));
  report.processes = process_names(report.threads);
  if (!wanted.empty()) select(report, wanted);
  report.ended = {
      stats.forgotten_threads, stats.forgotten_dispatches, stats.forgotten_interrupts, {}};
  report.without_account = {
      0, stats.without_account_dispatches, stats.without_account_interrupts, {}};
  std::copy_n(stats.forgotten, MAX_PTT_METRICS, report.ended.values.begin());
  std::copy_n(stats.without_account, MAX_PTT_METRICS, report.without_account.values.begin());
  return report;
}

std::optional<std::pair<size_t, size_t>> cpi_metrics(const Report& report) {
  const auto find = [&](const char* name) {
    return static_cast<size_t>(std::find(report.metrics.begin(), report.metrics.end(), name) -
                               report.metrics.begin());
  };
  const size_t cycles = std::min(find("CYCLES"), find("NONHALTED_CYCLES"));
  const size_t instructions = find("INSTR");
  const size_t none = report.metrics.size();
  if (cycles == none || instructions == none) return std::nullopt;
  return std::pair{cycles, instructions};
}

void sort_threads(Report& report, const View& view) {
  const bool is_id = view.key == SortKey::pid || view.key == SortKey::tid;
  const bool ascending = view.ascending.value_or(is_id);
  // Equal keys keep the order of pid and tid.
  std::sort(report.threads.begin(), report.threads.end(), [](const Thread& a, const Thread& b) {
    return std::pair{a.pid, a.tid} < std::pair{b.pid, b.tid};
  });
  std::stable_sort(
      report.threads.begin(), report.threads.end(), [&](const Thread& a, const Thread& b) {
        return ascending ? key_of(a, view) < key_of(b, view) : key_of(b, view) < key_of(a, view);
      });
}

std::string report_text(const Report& report, const View& view) {
  Table table(report, view);
  std::string text;
  for (const auto& [pid, name] : report.processes)
    text += fmt::format(" PID {} is {}\n", number(pid, view), name);
  table.heading();
  put_threads(report, view, table);
  for (const uint32_t pid : report.empty) table.empty(pid);
  if (report.ended.threads != 0) {
    table.note(
        fmt::format("{} further threads have ended, and their accounts were reused. Their sum:",
                    report.ended.threads));
    table.sum("ended", report.ended);
  }
  if (report.without_account.dispatches != 0) {
    table.note(
        "Some threads had no account because the table was full ('ptt init -threads' makes it "
        "larger). Their sum:");
    table.sum("others", report.without_account);
  }
  return text + table.take();
}

}  // namespace pi::ptt
