// SPDX-License-Identifier: MIT
// ptt init, term, info, ints, noints.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <pi/module_advice.h>
#include <pi/uninterrupted.h>
#include "json.h"

#include "cli.h"
#include "commands.h"
#include "perfutil_ptt.h"

namespace pi::ptt {
namespace {

using Json = pi::Json;

constexpr char exit_codes[] = "Exit status: 0 done, 1 failed, 255 wrong usage.";

int without_arguments(const Words& words, const char* name, const char* summary, int (*work)()) {
  const std::string synopsis = fmt::format("ptt {}", name);
  const auto outcome = cli::OptionTable({synopsis, summary, {synopsis}, exit_codes}).parse(words);
  if (outcome.exit) return *outcome.exit;
  return work() == PU_SUCCESS ? cli::exit_good : failed();
}

struct InitOptions {
  std::vector<std::string> metrics;
  int priv = PI_PRIV_BOTH;
  unsigned int threads = 0;
  bool force = false;
  bool calibrate = false;
};

cli::OptionTable init_table() {
  cli::OptionTable table(
      {"ptt init [METRIC]... [priv_kernel|priv_user|priv_any] [OPTION]...\n                "
       "[-- COMMAND [ARG]...]",
       "Starts PTT (per-thread counters): it counts each METRIC for each thread, each CPU and all "
       "interrupts. PTT runs until 'ptt term', or, with COMMAND, until COMMAND ends. METRIC is "
       "CYCLES, an event of 'swtrace event list' such as INSTR, page-faults, context-switches or "
       "cpu-migrations. CYCLES is the default and needs no hardware counter. At most 8 metrics are "
       "possible; a processor has few hardware counters. With priv_kernel or priv_user events are "
       "counted in that mode only.",
       {"ptt init", "ptt init CYCLES INSTR priv_user", "ptt init -- make"},
       "Exit status: 0 done, 1 failed, 255 wrong usage. With COMMAND: the exit status of COMMAND, "
       "or 128 plus the number of the signal that ended it."});
  table.group("Init")("force", cli::flag(), "stop an active PTT first")(
      "calibrate", cli::flag(),
      "measure for two seconds the residue (residual overhead) of interrupts and of dispatches "
      "(context switches) on a thread; subtract the residue of interrupts from all threads; only "
      "show the residue of dispatches, which varies")(
      "threads", cli::text("N"),
      "maximum number of accounts, one for each thread: 1024 to 1048576, or default (131072), "
      "large (524288), max");
  constexpr int max_words = 16;
  table.positional("words", max_words);
  return table;
}

std::optional<unsigned int> parse_threads(const std::string& text) {
  constexpr unsigned int least = 1024, large = 524288, most = 1048576;
  if (text == "default") return 0;
  if (text == "large") return large;
  if (text == "max") return most;
  if (text.empty() || text.size() > 7 || text.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  const auto number = static_cast<unsigned int>(std::stoul(text));
  if (number < least || number > most) return std::nullopt;
  return number;
}

// Returns the error, or "".
std::string read_init(const cli::Values& values, InitOptions& wanted) {
  if (values.has("words"))
    for (const auto& word : values.words("words")) {
      if (word == "priv_kernel")
        wanted.priv = PI_PRIV_KERNEL;
      else if (word == "priv_user")
        wanted.priv = PI_PRIV_USER;
      else if (word == "priv_any")
        wanted.priv = PI_PRIV_BOTH;
      else
        wanted.metrics.push_back(word);
    }
  if (wanted.metrics.empty()) wanted.metrics.emplace_back("CYCLES");
  if (wanted.metrics.size() > MAX_PTT_METRICS)
    return fmt::format("{} metrics are given; at most {} are possible.", wanted.metrics.size(),
                       MAX_PTT_METRICS);
  wanted.force = values.flag("force");
  wanted.calibrate = values.flag("calibrate");
  if (!values.has("threads")) return "";
  const auto& text = values.text("threads");
  const auto threads = parse_threads(text);
  if (!threads)
    return fmt::format("-threads: '{}' is not valid. Give 1024 to 1048576, default, large or max.",
                       text);
  wanted.threads = *threads;
  return "";
}

bool begin(const InitOptions& wanted, bool keep) {
  std::vector<const char*> names;
  for (const auto& metric : wanted.metrics) names.push_back(metric.c_str());
  pi_ptt_options options{};
  options.size = sizeof options;
  options.flags = PI_PTT_MODULE | (keep ? PI_PTT_KEEP : 0u) | (wanted.force ? PI_PTT_FORCE : 0u);
  options.threads = wanted.threads;
  return PiPttInit(static_cast<int>(names.size()), names.data(), wanted.priv, &options) ==
         PU_SUCCESS;
}

std::string vector_name(size_t vector) {
  return vector == PITRACE_PTT_DEVICE ? "of a device" : fmt::format("of vector {:#x}", vector);
}

void print_residue(const pitrace_ptt_residue& residue) {
  for (size_t vector = 0; vector <= PITRACE_PTT_DEVICE; ++vector)
    if (residue.hard[vector] != 0)
      fmt::print("Subtracted from threads: {} cycles for each interrupt {}\n", residue.hard[vector],
                 vector_name(vector));
  if (residue.first_soft != 0)
    fmt::print(
        "Subtracted from threads: {} more cycles for the first softirq in irq_exit(), {} for each "
        "further one\n",
        residue.first_soft, residue.next_soft);
  if (residue.dispatch_most != 0)
    fmt::print("Not subtracted: {} to {} cycles for each dispatch, median {}\n",
               residue.dispatch_least, residue.dispatch_most, residue.dispatch_median);
}

bool calibrate() {
  pitrace_ptt_residue residue{};
  if (PttInitThread(0) != PU_SUCCESS || PiPttCalibrate(&residue) != PU_SUCCESS) return false;
  print_residue(residue);
  return true;
}

// The command's exit status as a shell reports it.
int run_command(const Words& command) {
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execvp(arguments[0], arguments.data());
    cli::error(fmt::format("Cannot run '{}': {}.", command.front(),
                           std::generic_category().message(errno)));
    constexpr int not_found = 127;
    ::_exit(not_found);
  }
  if (child < 0) {
    cli::error(fmt::format("Cannot create a process: {}.", std::generic_category().message(errno)));
    return cli::exit_failure;
  }
  // Ctrl-C is for the command: this process must outlive it to end PTT.
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGQUIT, SIG_IGN);
  int status = 0;
  (void)uninterrupted([&] { return ::waitpid(child, &status, 0); });
  constexpr int signalled = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : signalled + WTERMSIG(status);
}

Json residue_json(const pitrace_ptt_residue& residue) {
  Json vectors = Json::object();
  for (size_t vector = 0; vector <= PITRACE_PTT_DEVICE; ++vector)
    if (residue.hard[vector] != 0)
      vectors[vector == PITRACE_PTT_DEVICE ? "device" : std::to_string(vector)] =
          residue.hard[vector];
  return {{"vectors", std::move(vectors)},
          {"first_soft", residue.first_soft},
          {"next_soft", residue.next_soft},
          {"dispatch",
           {{"least", residue.dispatch_least},
            {"median", residue.dispatch_median},
            {"most", residue.dispatch_most}}}};
}

Json state_json(const pi_ptt_state& state) {
  Json metrics = Json::array();
  for (int i = 0; i < state.metrics; ++i)
    metrics.push_back({{"name", state.name[i]}, {"unit", state.unit[i]}});
  return {{"active", state.active != 0},
          {"metrics", std::move(metrics)},
          {"ints", state.ints != 0},
          {"keep", state.keep != 0},
          {"owner", state.owner},
          {"threads", state.threads},
          {"threads_used", state.threads_used},
          {"residue", residue_json(state.residue)}};
}

void print_state(const pi_ptt_state& state) {
  fmt::print("PTT:         {}\n", state.active != 0 ? "active" : "not active");
  std::string metrics;
  for (int i = 0; i < state.metrics; ++i)
    metrics += fmt::format("{}{}", i == 0 ? "" : ", ", state.name[i]);
  fmt::print("Metrics:     {}\n", state.metrics == 0 ? "none yet" : metrics);
  fmt::print("Interrupts:  {}\n", state.ints != 0 ? "in their own account (ints)"
                                                  : "charged to the interrupted thread (noints)");
  if (state.active == 0) return;
  fmt::print("Until:       {}\n",
             state.keep != 0 ? "'ptt term'" : fmt::format("process {} ends", state.owner));
  print_residue(state.residue);
  fmt::print("Threads:     {} of {} accounts in use\n", state.threads_used, state.threads);
}

}  // namespace

int failed() {
  cli::error(PiErrorText());
  return cli::exit_failure;
}

int cmd_init(const Words& words) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  const bool has_command = dashes != words.end();
  const auto outcome = init_table().parse({words.begin(), dashes});
  if (outcome.exit) return *outcome.exit;
  InitOptions wanted;
  std::string wrong = read_init(outcome.values, wanted);
  if (has_command && dashes + 1 == words.end()) wrong = "There is no command after --.";
  if (!wrong.empty()) {
    cli::error(wrong);
    return cli::exit_usage;
  }
  if (!begin(wanted, !has_command)) return failed();
  if (wanted.calibrate && !calibrate()) {
    const int status = failed();
    // PTT does not run without the calibration that was requested.
    (void)PiPttEnd();
    return status;
  }
  if (!has_command) return cli::exit_good;
  const int status = run_command({dashes + 1, words.end()});
  (void)PttTerminate();
  return status;
}

int cmd_term(const Words& words) {
  return without_arguments(
      words, "term",
      "Stops PTT, also if another process started it. 'ptt dump' and pttstats show the counts "
      "until the next init.",
      PiPttEnd);
}

int cmd_ints(const Words& words) {
  return without_arguments(
      words, "ints",
      "Interrupts get an account of their own, which is the default. This takes effect at the next "
      "init and holds until the module is unloaded.",
      [] { return PiPttInterrupts(1); });
}

int cmd_noints(const Words& words) {
  return without_arguments(words, "noints",
                           "Interrupts are charged to the interrupted thread. This takes effect at "
                           "the next init and holds until the module is unloaded.",
                           [] { return PiPttInterrupts(0); });
}

int cmd_info(const Words& words) {
  cli::OptionTable table({"ptt info [--json]",
                          "Shows whether PTT is active, its metrics, and when it ends.",
                          {"ptt info"},
                          exit_codes});
  table.group("Info")("json", cli::flag(), "print one JSON object, for programs");
  const auto outcome = table.parse(words);
  if (outcome.exit) return *outcome.exit;
  pi_ptt_state state{};
  state.size = sizeof state;
  if (PttGetState(&state) != PU_SUCCESS) return failed();
  if (state.source == PI_PTT_SOURCE_NONE) {
    cli::error(
        "The pitrace module is not loaded. Without it a program can count only its own threads. " +
        load_module_advice());
    return cli::exit_failure;
  }
  if (outcome.values.flag("json"))
    fmt::print("{}\n", state_json(state).dump());
  else
    print_state(state);
  return cli::exit_good;
}

}  // namespace pi::ptt
