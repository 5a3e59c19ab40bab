// SPDX-License-Identifier: MIT
// swtrace ai: AboveIdle (CPU use). Shows at intervals how each CPU spent its time, until a signal
// ends it.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include "json.h"

#include "ai_lines.h"
#include "cli.h"
#include "commands.h"
#include "interval.h"

namespace pi::swtrace {
namespace {

using Json = pi::Json;

struct AiOptions {
  int interval = 1;  // seconds
  int samples = 0;   // 0: until stopped
  bool stamps = false;
  bool system = false;
  bool processors = true;
  bool json = false;
  std::string log_file;
};

cli::OptionTable options() {
  cli::OptionTable table(
      {"swtrace ai [INTERVAL [SAMPLES]] [OPTION]...",
       "AboveIdle (CPU use): prints every INTERVAL seconds (default 1) which part of the time each "
       "CPU was idle, was busy, and handled interrupts. The times are those of the pitrace module "
       "if "
       "its device can be opened, otherwise those of /proc/stat. It needs no recorder. It ends "
       "after SAMPLES intervals, or by Ctrl-C.",
       {"swtrace ai", "swtrace ai 5 12 -t", "swtrace ai 10 -r 2h -s -l /tmp/ai.log"},
       "Exit status: 0 done, also after SIGINT, SIGQUIT or SIGTERM, 1 failed, 255 wrong use."});
  table.group("AboveIdle")  //
      ("r", cli::text("RUN"),
       "run time instead of SAMPLES: seconds, or a number with unit: 90s, 15m, 2h, 1d")  //
      ("t", cli::flag(), "print the time at the start of each line")                     //
      ("s", cli::flag(), "one line for the system instead of one for each CPU")          //
      ("sp", cli::flag(), "one line for the system and one for each CPU")                //
      ("l", cli::text("FILE"),
       "also write the output to FILE; an existing FILE is replaced")  //
      ("json", cli::flag(), "print JSON, one object a line, for programs");
  table.positional("numbers", 2);
  return table;
}

// Returns the error, or "".
std::string read_options(const cli::Values& values, AiOptions& wanted) {
  const auto numbers = values.has("numbers") ? values.words("numbers") : std::vector<std::string>{};
  constexpr int max_interval = 86400;
  constexpr int max_samples = 1'000'000'000;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto number = parse_number(numbers[i], i == 0 ? max_interval : max_samples);
    if (!number || *number == 0)
      return fmt::format(
          "'{}' is not {}.", numbers[i],
          i == 0 ? "an interval of 1 to 86400 whole seconds" : "a number of samples");
    (i == 0 ? wanted.interval : wanted.samples) = *number;
  }
  if (values.has("r")) {
    const auto& text = values.text("r");
    const auto run = parse_duration(text);
    if (!run) return fmt::format("-r: '{}' is not a time such as 90, 15m, 2h or 1d.", text);
    if (wanted.samples != 0) return "SAMPLES and -r RUN exclude each other.";
    if (*run < wanted.interval) return "-r: the run time is shorter than the interval.";
    wanted.samples = *run / wanted.interval;
  }
  if (values.has("l")) wanted.log_file = values.text("l");
  if (values.has("l") && (wanted.log_file.empty() || wanted.log_file.front() == '-'))
    return fmt::format("-l: '{}' is not a file name.", wanted.log_file);
  wanted.stamps = values.flag("t");
  wanted.json = values.flag("json");
  wanted.system = values.flag("s") || values.flag("sp");
  wanted.processors = !values.flag("s") || values.flag("sp");
  return "";
}

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[64];
  return std::string(text, std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &local));
}

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

// Standard output and the log file.
class Output {
 public:
  // False when the log file cannot be made, with errno.
  bool open_log(const std::string& name) {
    if (::unlink(name.c_str()) != 0 && errno != ENOENT) return false;
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd >= 0) log_.reset(::fdopen(fd, "w"));
    return log_ != nullptr;
  }
  void line(const std::string& text) {
    for (std::FILE* file : {stdout, log_.get()})
      if (file != nullptr) std::fputs((text + "\n").c_str(), file);
  }
  // False if a reader has closed its pipe, or a disk is full.
  bool flush() { return std::fflush(stdout) == 0 && (!log_ || std::fflush(log_.get()) == 0); }

 private:
  File log_;
};

const char* source_text() {
  return PiAiSource() == PI_AI_HOOKS
             ? "the module's hooks"
             : "/proc/stat; interrupt time is sampled by the kernel's clock tick (tick-based)";
}

void print_header(const AiOptions& wanted, Output& out) {
  out.line("** AboveIdle instrumentation is enabled");
  out.line(fmt::format("** Source:     {}", source_text()));
  out.line(fmt::format("** Processors: {}", PiGetActiveProcessorCount()));
  if (!wanted.log_file.empty()) out.line(fmt::format("** Log file:   {}", wanted.log_file));
  out.line(fmt::format("** Interval:   {} seconds", wanted.interval));
  out.line(wanted.samples == 0 ? "** Samples:    infinite"
                               : fmt::format("** Samples:    {} ({} seconds)", wanted.samples,
                                             static_cast<long>(wanted.samples) * wanted.interval));
  out.line(fmt::format("** Started:    {}", now_text()));
}

// counted: dispatches and interrupts are counted, which only the module's hooks do.
Json shares_json(const AiTimes& times, bool counted) {
  const AiShares shares = ai_shares(times);
  Json json{{"idle", shares.idle / 100.0},
            {"busy", shares.busy / 100.0},
            {"intr", shares.interrupt / 100.0}};
  if (counted) json.update({{"dispatches", times.dispatches}, {"interrupts", times.interrupts}});
  return json;
}

void print_json(const AiOptions& wanted, const std::vector<std::optional<AiTimes>>& cpus,
                Output& out) {
  const bool hooks = PiAiSource() == PI_AI_HOOKS;
  Json sample{{"time", std::time(nullptr)},
              {"source", hooks ? "hooks" : "/proc/stat"},
              {"intr_is_tick_based", !hooks}};
  if (wanted.processors) {
    Json list = Json::array();
    for (size_t cpu = 0; cpu < cpus.size(); ++cpu) {
      if (!cpus[cpu]) continue;
      Json entry{{"cpu", cpu}};
      entry.update(shares_json(*cpus[cpu], hooks));
      list.push_back(std::move(entry));
    }
    sample["cpus"] = std::move(list);
  }
  if (wanted.system) sample["system"] = shares_json(ai_sum(cpus), hooks);
  out.line(sample.dump());
}

void print_sample(const AiOptions& wanted, const std::vector<std::optional<AiTimes>>& cpus,
                  Output& out) {
  if (wanted.json) return print_json(wanted, cpus, out);
  const std::string stamp = wanted.stamps ? now_text() + " " : "";
  for (size_t cpu = 0; wanted.processors && cpu < cpus.size(); ++cpu)
    if (cpus[cpu]) out.line(stamp + ai_line(fmt::format("CPU {}", cpu), *cpus[cpu]));
  if (wanted.system) out.line(stamp + ai_line("System", ai_sum(cpus)));
}

int failed() {
  cli::error(PiErrorText());
  return cli::exit_failure;
}

// Between AiInit() and AiTerminate().
int run(const AiOptions& wanted, const sigset_t& ending, Output& out) {
  int bytes = 0;
  const std::unique_ptr<ai_counters, void (*)(ai_counters*)> memory(AiAllocCounters(&bytes),
                                                                    AiFreeCounters);
  if (!memory) {
    cli::error("There is not enough memory for the counters.");
    return cli::exit_failure;
  }
  const std::span now(memory.get(), static_cast<size_t>(bytes) / sizeof(ai_counters));
  if (AiGetCounters(now.data()) != PU_SUCCESS) return failed();
  timespec next{};
  ::clock_gettime(CLOCK_MONOTONIC, &next);
  if (!wanted.json) print_header(wanted, out);
  int done = 0;
  for (; out.flush() && (wanted.samples == 0 || done < wanted.samples); ++done) {
    next.tv_sec += wanted.interval;
    if (!cli::sleep_until(next, ending)) break;
    const std::vector<ai_counters> before(now.begin(), now.end());
    if (AiGetCounters(now.data()) != PU_SUCCESS) return failed();
    print_sample(wanted, ai_times(before, now), out);
  }
  if (!wanted.json) out.line(fmt::format("** Ended after {} samples: {}", done, now_text()));
  if (out.flush()) return cli::exit_good;
  cli::error(fmt::format("Cannot write the output: {}.", std::generic_category().message(errno)));
  return cli::exit_failure;
}

}  // namespace

int cmd_ai(const Words& words) {
  const auto outcome = options().parse(words);
  if (outcome.exit) return *outcome.exit;
  AiOptions wanted;
  if (const auto wrong = read_options(outcome.values, wanted); !wrong.empty()) {
    cli::error(wrong);
    return cli::exit_usage;
  }
  const sigset_t ending = cli::hold_signals();
  Output out;
  if (!wanted.log_file.empty() && !out.open_log(wanted.log_file)) {
    cli::error(fmt::format("-l: cannot create '{}': {}.", wanted.log_file,
                           std::generic_category().message(errno)));
    return cli::exit_failure;
  }
  if (AiInit() != PU_SUCCESS) return failed();
  const int status = run(wanted, ending, out);
  (void)AiTerminate();
  return status;
}

}  // namespace pi::swtrace
