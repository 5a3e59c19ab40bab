// SPDX-License-Identifier: MIT
// ptt dump: the counts of each thread, once or at intervals.
#include <unistd.h>
#include <csignal>

#include <cerrno>
#include <ctime>
#include <map>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <pi/jit_log.h>
#include <pi/printable.h>

#include "cli.h"
#include "commands.h"
#include "dump_file.h"
#include "interval.h"
#include "report.h"
#include "text_file.h"
#include "thread_log.h"

namespace pi::ptt {
namespace {

struct DumpOptions {
  View view;
  std::vector<std::string> processes;
  std::optional<std::string> jtnm;  // PATH/PREFIX
  std::string file;
  int delay = 0;     // seconds
  int interval = 0;  // 0: once
  int run = 0;       // 0: until stopped
  bool json = false;
};

cli::OptionTable dump_table() {
  cli::OptionTable table(
      {"ptt dump [OPTION]...",
       "Shows the counts of each thread that has run since 'ptt init', with its dispatches "
       "(context switches) and interrupts. After 'ptt term' it shows the counts up to that "
       "command.",
       {"ptt dump", "ptt dump -sm 1 -pl java,4711", "ptt dump -t 5 -r 60 -f ptt.out"},
       "Exit status: 0 done, also after SIGINT or SIGTERM, 1 failed, 255 wrong usage."});
  table.group("Output")  //
      ("pl", cli::text("LIST"),
       "show only these processes: ids or names, separated by commas")  //
      ("jtnm", cli::optional_text("PATH/PREFIX", jit_log::default_prefix, jit_log::default_prefix),
       "take names of Java threads from the files PATH/PREFIX-jtnm_PID; give the value as "
       "-jtnm=PATH/PREFIX; the default prefix is log")                          //
      ("allnames", cli::flag(), "show the name of every thread")                //
      ("cpi", cli::flag(), "show cycles per instruction; PTT must count both")  //
      ("x", cli::flag(), "show numbers in hexadecimal")                         //
      ("json", cli::flag(), "print one JSON object for each dump, for programs");
  table.group("Order")                                                       //
      ("sm", cli::text("N"), "sort by the N-th metric; the first one is 1")  //
      ("sp", cli::flag(), "sort by process id (default)")                    //
      ("st", cli::flag(), "sort by thread id")                               //
      ("sd", cli::flag(), "sort by dispatches")                              //
      ("si", cli::flag(), "sort by interrupts")                              //
      ("a", cli::flag(), "ascending order (default for ids)")                //
      ("d", cli::flag(), "descending order (default for counts)");
  table.group("Repetition")                                              //
      ("s", cli::text("SEC"), "wait SEC seconds before the first dump")  //
      ("t", cli::text("SEC"), "dump every SEC seconds")                  //
      ("r", cli::text("SEC"),
       "end after SEC seconds; -t is then 1 by default")  //
      ("f", cli::text("FILE"), "write to FILE; an existing file is replaced");
  return table;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text)
    if (c == ',')
      words.emplace_back();
    else
      words.back() += c;
  return words;
}

std::string read_seconds(const cli::Values& values, const char* name, int& seconds) {
  if (!values.has(name)) return "";
  const auto& text = values.text(name);
  constexpr size_t max_digits = 6;
  if (text.empty() || text.size() > max_digits ||
      text.find_first_not_of("0123456789") != std::string::npos || std::stoi(text) == 0)
    return fmt::format("-{}: '{}' is not a number of seconds from 1 to 999999.", name, text);
  seconds = std::stoi(text);
  return "";
}

std::string read_order(const cli::Values& values, View& view) {
  const std::pair<const char*, SortKey> keys[] = {{"sp", SortKey::pid},
                                                  {"st", SortKey::tid},
                                                  {"sd", SortKey::dispatches},
                                                  {"si", SortKey::interrupts}};
  int given = 0;
  for (const auto& [name, key] : keys)
    if (values.flag(name)) {
      view.key = key;
      ++given;
    }
  if (values.has("sm")) {
    const auto& text = values.text("sm");
    if (text.size() != 1 || text[0] < '1' || text[0] > '8')
      return fmt::format("-sm: '{}' is not the number of a metric. Give a number from 1 to 8.",
                         text);
    view.key = SortKey::metric;
    view.metric = static_cast<size_t>(text[0] - '1');
    ++given;
  }
  if (given > 1) return "Give only one of -sm, -sp, -st, -sd and -si.";
  if (values.flag("a") && values.flag("d")) return "Give only one of -a and -d.";
  if (values.flag("a")) view.ascending = true;
  if (values.flag("d")) view.ascending = false;
  return "";
}

// Returns the error, or "".
std::string read_options(const cli::Values& values, DumpOptions& wanted) {
  if (auto wrong = read_order(values, wanted.view); !wrong.empty()) return wrong;
  for (const auto& [name, seconds] :
       {std::pair{"s", &wanted.delay}, std::pair{"t", &wanted.interval},
        std::pair{"r", &wanted.run}})
    if (auto wrong = read_seconds(values, name, *seconds); !wrong.empty()) return wrong;
  if (wanted.run != 0 && wanted.interval == 0) wanted.interval = 1;
  if (values.has("pl")) wanted.processes = split(values.text("pl"));
  for (const auto& word : wanted.processes)
    if (word.empty())
      return "-pl: an entry of the list is empty. Give ids or names, separated by commas.";
  if (values.has("jtnm")) wanted.jtnm = values.text("jtnm");
  if (values.has("f")) wanted.file = values.text("f");
  if (values.has("f") && wanted.file.empty()) return "-f: the file name is empty.";
  wanted.view.hex = values.flag("x");
  wanted.view.cpi = values.flag("cpi");
  wanted.view.names = values.flag("allnames") || wanted.jtnm.has_value();
  wanted.json = values.flag("json");
  return "";
}

// Reads names from JProf's files; false if no process has one.
bool take_java_names(const std::string& prefix, Report& report) {
  constexpr size_t max_bytes = size_t{1} << 28;
  bool any = false;
  for (const auto& [pid, process] : report.processes) {
    const auto text =
        read_text_file(fmt::format("{}-{}_{}", prefix, jit_log::jtnm_kind, pid), max_bytes);
    if (!text) continue;
    any = true;
    // The newest name of each thread.
    std::map<uint32_t, std::string> names;
    for (auto& start : parse_thread_log(*text, VirtualThreads::ignored))
      names[start.tid] = std::move(start.name);
    for (auto& thread : report.threads)
      if (const auto found = names.find(thread.tid); thread.pid == pid && found != names.end())
        thread.name = printable(found->second);
  }
  return any;
}

std::string banner() {
  const auto pid = static_cast<unsigned>(::getpid());
  const uint32_t version = GetDLLVersionEx();
  return fmt::format(" ***** ptt v{}.{}.{} for x86_64 ***** pid={}/{:#x} *****\n", version >> 24,
                     version >> 16 & 0xff, version & 0xffff, pid, pid);
}

// Returns whether the text was written; after an error, with a message unless a pipe's reader has
// ended.
bool write(DumpFile& out, const DumpOptions& wanted, std::string_view text) {
  const int error = out.add(text);
  if (error != 0 && error != EPIPE)
    cli::error(fmt::format("Cannot write {}: {}.",
                           wanted.file.empty() ? "to the standard output" : wanted.file,
                           std::generic_category().message(error)));
  return error == 0;
}

// False after an error message.
bool dump_once(const DumpOptions& wanted, std::string_view head, DumpFile& out) {
  pi_ptt_state state{};
  state.size = sizeof state;
  ptt_stats* stats = nullptr;
  if (PttGetStatistics(&stats) != PU_SUCCESS || PttGetState(&state) != PU_SUCCESS) {
    PttFreeStats(stats);
    (void)failed();
    return false;
  }
  const std::unique_ptr<ptt_stats, void (*)(ptt_stats*)> owner(stats, PttFreeStats);
  Report report = make_report(*stats, state, wanted.processes);
  if (wanted.view.cpi && !cpi_metrics(report)) {
    cli::error("-cpi: PTT does not count CYCLES and INSTR. Start it with 'ptt init CYCLES INSTR'.");
    return false;
  }
  if (wanted.view.key == SortKey::metric && wanted.view.metric >= report.metrics.size()) {
    cli::error(fmt::format("-sm: there is no metric {}: PTT counts {}. 'ptt info' lists them.",
                           wanted.view.metric + 1, report.metrics.size()));
    return false;
  }
  if (wanted.jtnm && !take_java_names(*wanted.jtnm, report))
    cli::warning(fmt::format("-jtnm: there is no file {}-jtnm_PID for any process of this dump.",
                             *wanted.jtnm));
  sort_threads(report, wanted.view);
  std::string text(head);
  text += wanted.json ? report_json(report, wanted.view) : report_text(report, wanted.view);
  return write(out, wanted, text);
}

// False if a signal ends the wait before.
bool sleep_for(int seconds, const sigset_t& ending) {
  timespec end{};
  ::clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_sec += seconds;
  return cli::sleep_until(end, ending);
}

int dump_all(const DumpOptions& wanted, const sigset_t& ending, DumpFile& out) {
  const int most = wanted.interval == 0 ? 1
                   : wanted.run == 0    ? 0
                                        : 1 + wanted.run / wanted.interval;
  int done = 0;
  std::string head = wanted.json ? "" : banner();
  bool go_on = wanted.delay == 0 || sleep_for(wanted.delay, ending);
  while (go_on) {
    if (!dump_once(wanted, head, out)) return cli::exit_failure;
    head.clear();
    ++done;
    go_on = done != most && sleep_for(wanted.interval, ending);
  }
  const std::string tail =
      wanted.json ? "" : head + fmt::format(" Execution ended: {} iterations.\n", done);
  if (!write(out, wanted, tail)) return cli::exit_failure;
  if (const int error = out.finish(); error != 0) {
    cli::error(
        fmt::format("Cannot write {}: {}.", wanted.file, std::generic_category().message(error)));
    return cli::exit_failure;
  }
  return cli::exit_good;
}

}  // namespace

int cmd_dump(const Words& words) {
  const auto outcome = dump_table().parse(words);
  if (outcome.exit) return *outcome.exit;
  DumpOptions wanted;
  if (const auto wrong = read_options(outcome.values, wanted); !wrong.empty()) {
    cli::error(wrong);
    return cli::exit_usage;
  }
  auto out = DumpFile::create(wanted.file);
  if (!out) {
    cli::error(fmt::format("-f: cannot create '{}': {}.", wanted.file, out.error().message));
    return cli::exit_failure;
  }
  ::signal(SIGPIPE, SIG_IGN);
  return dump_all(wanted, cli::hold_signals(), *out);
}

}  // namespace pi::ptt
