// SPDX-License-Identifier: MIT
// Makes the report of pttstats: sums by CPU and by process, in Performance Inspector's form.
#include "stats.h"

#include <cstring>
#include <map>
#include <vector>

#include <fmt/format.h>
#include "json.h"

namespace pi::pttstats {
namespace {

using Json = pi::Json;

struct Row {
  uint64_t dispatches = 0;
  uint64_t interrupts = 0;
  uint64_t time = 0;
};

struct CpuRow {
  uint32_t cpu = 0;
  Row counts;  // its time is in the threads' times
  uint64_t interrupt = 0;
  uint64_t idle = 0;
  uint64_t tool = 0;
  uint64_t total = 0;
  bool counters_lost = false;
};

struct Sums {
  std::vector<CpuRow> cpus;
  CpuRow all;
  std::map<uint32_t, Row> processes;  // 0: the idle tasks
  Row ended;                          // threads whose accounts were reused
  Row without;                        // threads while they had no account
};

// Unit of the numbers that the report calls times: those of an event are counts of it.
std::string time_unit(const pi_ptt_state& state, size_t metric) {
  const std::string unit = state.unit[metric];
  return unit == "events" ? state.name[metric] : unit;
}

bool is_cycles(const pi_ptt_state& state, size_t metric) {
  return state.metric[metric] == PTT_METRIC_CYCLES;
}

CpuRow cpu_row(const pitrace_ptt_cpu& cpu, size_t metric, bool cycles) {
  CpuRow row;
  row.cpu = cpu.cpu;
  row.interrupt = cpu.interrupt[metric];
  row.idle = cpu.idle[metric];
  row.tool = cycles ? cpu.tool : 0;
  row.total = cpu.elapsed[metric];
  row.counts = {cpu.dispatches, cpu.interrupts, row.total - row.interrupt - row.idle - row.tool};
  row.counters_lost = (cpu.flags & PITRACE_PTT_CPU_COUNTERS_LOST) != 0;
  return row;
}

void add(CpuRow& sum, const CpuRow& row) {
  sum.counts.dispatches += row.counts.dispatches;
  sum.counts.interrupts += row.counts.interrupts;
  sum.counts.time += row.counts.time;
  sum.interrupt += row.interrupt;
  sum.idle += row.idle;
  sum.tool += row.tool;
  sum.total += row.total;
}

Sums add_up(const ptt_stats& stats, size_t metric, bool cycles) {
  Sums sums;
  for (uint32_t i = 0; i < stats.cpus; ++i) {
    sums.cpus.push_back(cpu_row(stats.cpu[i], metric, cycles));
    add(sums.all, sums.cpus.back());
    Row& idle = sums.processes[0];
    idle.dispatches += stats.cpu[i].idle_dispatches;
    idle.interrupts += stats.cpu[i].idle_interrupts;
    idle.time += stats.cpu[i].idle[metric];
  }
  for (uint32_t i = 0; i < stats.threads; ++i) {
    Row& process = sums.processes[stats.thread[i].pid];
    process.dispatches += stats.thread[i].dispatches;
    process.interrupts += stats.thread[i].interrupts;
    process.time += stats.thread[i].value[metric];
  }
  sums.ended = {stats.forgotten_dispatches, stats.forgotten_interrupts, stats.forgotten[metric]};
  sums.without = {stats.without_account_dispatches, stats.without_account_interrupts,
                  stats.without_account[metric]};
  return sums;
}

std::string summary(const CpuRow& all) {
  return fmt::format(
      "Per Thread Time Summary\n"
      "Total Dispatches: {}\nTotal IRQs: {}\nTotal Thread Time: {}\nTotal IRQ Time: {}\n"
      "Total Idle Time: {}\nTotal tool time: {}\nTotal Measurement: {}\nTotal Period: {}\n",
      all.counts.dispatches, all.counts.interrupts, all.counts.time, all.interrupt, all.idle,
      all.tool, all.counts.time + all.interrupt + all.idle, all.total);
}

std::string by_cpu(const std::vector<CpuRow>& cpus) {
  std::string text = fmt::format("Details by CPU\n{:>14}{:>14}\n{:<6}{:>8}{:>14}  Times\n{:-<52}\n",
                                 "IRQ", "Dispatch", "CPU", "Count", "Count", "");
  for (const auto& row : cpus)
    text += fmt::format(
        "{:<6}{:>8}{:>14}\n{:>30}  {}\n{:>30}  {}\n{:>30}  {}\n{:>30}  {}\n{:>30}  {}\n", row.cpu,
        row.counts.interrupts, row.counts.dispatches, "Thread Time:", row.counts.time,
        "IRQ Time:", row.interrupt, "Idle Time:", row.idle, "Tool Time:", row.tool,
        "Total Time:", row.total);
  return text;
}

std::string process_line(const std::string& label, const Row& row) {
  return fmt::format("{:<8}{:>12}{:>12}{:>20}\n", label, row.dispatches, row.interrupts, row.time);
}

std::string by_process(const Sums& sums) {
  std::string text =
      fmt::format("Details by Process\n{:<8}{:>12}{:>12}{:>20}\n{:<8}{:>12}{:>12}{:>20}\n{:-<52}\n",
                  "", "Dispatch", "IRQ", "Process", "PID", "Count", "Count", "Time", "");
  uint64_t total = 0;
  for (const auto& [pid, row] : sums.processes) {
    text += process_line(std::to_string(pid), row);
    total += row.time;
  }
  if (sums.ended.dispatches != 0) text += process_line("ended", sums.ended);
  if (sums.without.dispatches != 0) text += process_line("others", sums.without);
  total += sums.ended.time + sums.without.time;
  return text + fmt::format("Total Process Time: {}\n", total);
}

Json row_json(const Row& row) {
  return {{"dispatches", row.dispatches}, {"interrupts", row.interrupts}, {"time", row.time}};
}

Json cpu_json(const CpuRow& row) {
  return {{"dispatches", row.counts.dispatches},
          {"interrupts", row.counts.interrupts},
          {"thread", row.counts.time},
          {"interrupt", row.interrupt},
          {"idle", row.idle},
          {"tool", row.tool},
          {"total", row.total}};
}

Json metric_json(const ptt_stats& stats, const pi_ptt_state& state, size_t metric) {
  const Sums sums = add_up(stats, metric, is_cycles(state, metric));
  Json json{{"name", state.name[metric]}, {"unit", state.unit[metric]}};
  json["system"] = cpu_json(sums.all);
  json["cpus"] = Json::array();
  for (const auto& row : sums.cpus) {
    Json cpu{{"cpu", row.cpu}};
    cpu.update(cpu_json(row));
    cpu["counters_lost"] = row.counters_lost;
    json["cpus"].push_back(std::move(cpu));
  }
  json["processes"] = Json::array();
  for (const auto& [pid, row] : sums.processes) {
    Json process{{"pid", pid}};
    process.update(row_json(row));
    json["processes"].push_back(std::move(process));
  }
  json["ended_threads"] = row_json(sums.ended);
  json["threads_without_account"] = row_json(sums.without);
  return json;
}

}  // namespace

std::string stats_text(const ptt_stats& stats, const pi_ptt_state& state, size_t metric,
                       uint32_t tools_version) {
  const Sums sums = add_up(stats, metric, is_cycles(state, metric));
  std::string text = fmt::format(
      "Tools version {}\nPTT_STATISTICS_SIZE = {} bytes\nIBM_NR_CPUS = {} (number of CPUs)\n"
      "Metric = {}\nUnit of all times = {}\n",
      tools_version,
      stats.threads * sizeof(pitrace_ptt_thread) + stats.cpus * sizeof(pitrace_ptt_cpu), stats.cpus,
      state.name[metric], time_unit(state, metric));
  for (const auto& row : sums.cpus)
    if (row.counters_lost)
      text += fmt::format(
          "Warning: a counter of CPU {} was not available for some time: its counts are too low\n",
          row.cpu);
  return text + summary(sums.all) + "Per Thread Time Detail\n" + by_cpu(sums.cpus) +
         by_process(sums) + "End of reports\n";
}

std::string stats_json(const ptt_stats& stats, const pi_ptt_state& state) {
  Json json{{"active", state.active != 0}, {"ints", state.ints != 0}};
  json["metrics"] = Json::array();
  for (int i = 0; i < state.metrics; ++i)
    json["metrics"].push_back(metric_json(stats, state, static_cast<size_t>(i)));
  json["ended_threads"] = stats.forgotten_threads;
  return json.dump() + "\n";
}

}  // namespace pi::pttstats
