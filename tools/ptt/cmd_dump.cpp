// SPDX-License-Identifier: MIT
// ptt dump: what each thread has had, once or at intervals.
#include <unistd.h>
#include <csignal>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <pi/jit_log.h>

#include "cli.h"
#include "commands.h"
#include "report.h"
#include "text_file.h"
#include "thread_log.h"

namespace pi::ptt {
namespace {

namespace po = boost::program_options;

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
       "Shows what each thread that has run since 'ptt init' has had of each metric, with its "
       "dispatches and interrupts; after 'ptt term' what it had until then.",
       {"ptt dump", "ptt dump -sm 1 -pl java,4711", "ptt dump -t 5 -r 60 -f ptt.out"},
       "Exit status: 0 done, also by SIGINT or SIGTERM, 1 failed, 255 wrong use."});
  table.group("What is shown")  //
      ("pl", po::value<std::string>()->value_name("LIST"),
       "only these processes: ids or names with commas in between")  //
      ("jtnm",
       po::value<std::string>()->implicit_value(jit_log::default_prefix)->value_name("PATH/PREFIX"),
       "names of Java threads from PATH/PREFIX-jtnm_PID, as -jtnm=PATH/PREFIX; prefix log "
       "where none is given")                                                   //
      ("allnames", po::bool_switch(), "the name of every thread")               //
      ("cpi", po::bool_switch(), "cycles per instruction; needs both metrics")  //
      ("x", po::bool_switch(), "numbers in hexadecimal")                        //
      ("json", po::bool_switch(), "for programs: one object for each dump");
  table.group("Order")                                                                    //
      ("sm", po::value<std::string>()->value_name("N"), "by the N-th metric, from 1 on")  //
      ("sp", po::bool_switch(), "by process, which is what is done without")              //
      ("st", po::bool_switch(), "by thread id")                                           //
      ("sd", po::bool_switch(), "by dispatches")                                          //
      ("si", po::bool_switch(), "by interrupts")                                          //
      ("a", po::bool_switch(), "ascending, as ids are without")                           //
      ("d", po::bool_switch(), "descending, as counts are without");
  table.group("Repetition")                                                             //
      ("s", po::value<std::string>()->value_name("SEC"), "begin after SEC seconds")     //
      ("t", po::value<std::string>()->value_name("SEC"), "one dump every SEC seconds")  //
      ("r", po::value<std::string>()->value_name("SEC"),
       "end after SEC seconds; with -t, which is 1 otherwise")  //
      ("f", po::value<std::string>()->value_name("FILE"), "write to FILE, which is made anew");
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

std::string read_seconds(const po::variables_map& values, const char* name, int& seconds) {
  if (values.count(name) == 0) return "";
  const auto& text = values[name].as<std::string>();
  constexpr size_t digits_most = 6;
  if (text.empty() || text.size() > digits_most ||
      text.find_first_not_of("0123456789") != std::string::npos || std::stoi(text) == 0)
    return fmt::format("-{}: '{}' is not a number of seconds from 1 to 999999.", name, text);
  seconds = std::stoi(text);
  return "";
}

std::string read_order(const po::variables_map& values, View& view) {
  const std::pair<const char*, SortKey> keys[] = {{"sp", SortKey::pid},
                                                  {"st", SortKey::tid},
                                                  {"sd", SortKey::dispatches},
                                                  {"si", SortKey::interrupts}};
  int given = 0;
  for (const auto& [name, key] : keys)
    if (values[name].as<bool>()) {
      view.key = key;
      ++given;
    }
  if (values.count("sm") != 0) {
    const auto& text = values["sm"].as<std::string>();
    if (text.size() != 1 || text[0] < '1' || text[0] > '8')
      return fmt::format("-sm: '{}' is not the number of a metric: 1 to 8.", text);
    view.key = SortKey::metric;
    view.metric = static_cast<size_t>(text[0] - '1');
    ++given;
  }
  if (given > 1) return "Sort by one thing: -sm, -sp, -st, -sd and -si exclude each other.";
  if (values["a"].as<bool>() && values["d"].as<bool>()) return "-a and -d exclude each other.";
  if (values["a"].as<bool>()) view.ascending = true;
  if (values["d"].as<bool>()) view.ascending = false;
  return "";
}

// What is wrong, or nothing.
std::string read_options(const po::variables_map& values, DumpOptions& wanted) {
  if (auto wrong = read_order(values, wanted.view); !wrong.empty()) return wrong;
  for (const auto& [name, seconds] :
       {std::pair{"s", &wanted.delay}, std::pair{"t", &wanted.interval},
        std::pair{"r", &wanted.run}})
    if (auto wrong = read_seconds(values, name, *seconds); !wrong.empty()) return wrong;
  if (wanted.run != 0 && wanted.interval == 0) wanted.interval = 1;
  if (values.count("pl") != 0) wanted.processes = split(values["pl"].as<std::string>());
  for (const auto& word : wanted.processes)
    if (word.empty()) return "-pl: between the commas stand ids or names of processes.";
  if (values.count("jtnm") != 0) wanted.jtnm = values["jtnm"].as<std::string>();
  if (values.count("f") != 0) wanted.file = values["f"].as<std::string>();
  if (values.count("f") != 0 && wanted.file.empty()) return "-f needs a name for the file.";
  wanted.view.hex = values["x"].as<bool>();
  wanted.view.cpi = values["cpi"].as<bool>();
  wanted.view.names = values["allnames"].as<bool>() || wanted.jtnm.has_value();
  wanted.json = values["json"].as<bool>();
  return "";
}

// From JProf's files, of the processes that have one; false when none has.
bool take_java_names(const std::string& prefix, Report& report) {
  constexpr size_t bytes_most = size_t{1} << 28;
  bool any = false;
  for (const auto& [pid, process] : report.processes) {
    const auto text =
        read_text_file(fmt::format("{}-{}_{}", prefix, jit_log::jtnm_kind, pid), bytes_most);
    if (!text) continue;
    any = true;
    // The newest name of each.
    std::map<uint32_t, std::string> names;
    for (auto& start : parse_thread_log(*text)) names[start.tid] = std::move(start.name);
    for (auto& thread : report.threads)
      if (const auto found = names.find(thread.tid); thread.pid == pid && found != names.end())
        thread.name = found->second;
  }
  return any;
}

std::string banner() {
  const auto pid = static_cast<unsigned>(::getpid());
  const uint32_t version = GetDLLVersionEx();
  return fmt::format(" ***** ptt v{}.{}.{} for x86_64 ***** pid={}/{:#x} *****\n", version >> 24,
                     version >> 16 & 0xff, version & 0xffff, pid, pid);
}

struct Closer {
  void operator()(std::FILE* file) const {
    if (file != stdout) std::fclose(file);
  }
};
using File = std::unique_ptr<std::FILE, Closer>;

// False when an error was told.
bool dump_once(const DumpOptions& wanted, std::FILE* out) {
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
    cli::error("-cpi: PTT must count CYCLES and INSTR: 'ptt init CYCLES INSTR'.");
    return false;
  }
  if (wanted.view.key == SortKey::metric && wanted.view.metric >= report.metrics.size()) {
    cli::error(fmt::format("-sm: PTT counts {} metrics only.", report.metrics.size()));
    return false;
  }
  if (wanted.jtnm && !take_java_names(*wanted.jtnm, report))
    cli::warning(fmt::format("-jtnm: there is no {}-jtnm_PID of any process shown.", *wanted.jtnm));
  sort_threads(report, wanted.view);
  const std::string text =
      wanted.json ? report_json(report, wanted.view) : report_text(report, wanted.view);
  if (std::fputs(text.c_str(), out) >= 0 && std::fflush(out) == 0) return true;
  if (errno != EPIPE)
    cli::error(
        fmt::format("The output cannot be written: {}.", std::generic_category().message(errno)));
  return false;
}

// False when told to end before.
bool sleep_for(int seconds, const sigset_t& ending) {
  const timespec left{seconds, 0};
  while (::sigtimedwait(&ending, nullptr, &left) < 0)
    if (errno == EAGAIN) return true;
  return false;
}

int dump_all(const DumpOptions& wanted, const sigset_t& ending, std::FILE* out) {
  const int most = wanted.interval == 0 ? 1
                   : wanted.run == 0    ? 0
                                        : 1 + wanted.run / wanted.interval;
  int done = 0;
  if (!wanted.json) std::fputs(banner().c_str(), out);
  bool go_on = wanted.delay == 0 || sleep_for(wanted.delay, ending);
  while (go_on) {
    if (!dump_once(wanted, out)) return cli::exit_failure;
    ++done;
    go_on = done != most && sleep_for(wanted.interval, ending);
  }
  if (!wanted.json) fmt::print(out, " Execution ended: {} iterations.\n", done);
  return std::fflush(out) == 0 ? cli::exit_good : cli::exit_failure;
}

sigset_t hold_signals() {
  sigset_t ending;
  sigemptyset(&ending);
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM}) sigaddset(&ending, signal);
  ::sigprocmask(SIG_BLOCK, &ending, nullptr);
  return ending;
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
  const File out(wanted.file.empty() ? stdout : std::fopen(wanted.file.c_str(), "w"));
  if (!out) {
    cli::error(fmt::format("-f: '{}' cannot be made: {}.", wanted.file,
                           std::generic_category().message(errno)));
    return cli::exit_failure;
  }
  ::signal(SIGPIPE, SIG_IGN);
  return dump_all(wanted, hold_signals(), out.get());
}

}  // namespace pi::ptt
