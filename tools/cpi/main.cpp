// SPDX-License-Identifier: MIT
// cpi: measures cycles per instruction of a command, or of all CPUs for a time.
#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "cli.h"
#include "command.h"
#include "interval.h"
#include "report.h"

namespace pi::cpi {
namespace {

using Words = std::vector<std::string>;

struct Wanted {
  Words command;
  double interval = 0;  // seconds
  int samples = 1;      // 0: until stopped
  bool all_cpus = false, system_only = false, json = false;
  int privilege = PI_PRIV_BOTH;
};

cli::OptionTable options() {
  cli::OptionTable table(
      {"cpi [OPTION]... -- COMMAND [ARGUMENT]...\n       cpi [OPTION]... -i SECONDS [-n SAMPLES]",
       "Measures cycles per instruction (CPI) with hardware counters: of COMMAND and all processes "
       "that it starts, or with -i of all CPUs. Raw CPI is elapsed cycles divided by instructions. "
       "Scaled CPI uses only cycles outside the idle task. CPI uses only cycles in which the "
       "processor was not halted.",
       {"cpi -- make -j8", "cpi -i 5", "cpi -i 1 -n 60 -s --json", "cpi -a -priv user -- ./server"},
       "Exit status: that of COMMAND, or 0 with -i; 1 the measurement failed, 255 wrong usage."});
  table.group("Measuring")  //
      ("i", cli::text("SECONDS"),
       "measure all CPUs for SECONDS, 0.1 to 86400")  //
      ("n", cli::text("SAMPLES"),
       "number of measurements, one after the other (default 1; 0: until SIGINT or SIGTERM)")  //
      ("a", cli::flag(), "measure all CPUs, with all their processes, while COMMAND runs")     //
      ("priv", cli::text("user|kernel|both", "both"),
       "count in user mode, in kernel mode, or in both");
  table.group("Output")                                    //
      ("s", cli::flag(), "show only the sum of all CPUs")  //
      ("json", cli::flag(), "print one JSON object in each line, for programs");
  return table;
}

template <class Number>
bool parse(const std::string& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// Returns the error, or "".
std::string read_numbers(const cli::Values& values, Wanted& wanted) {
  constexpr double min_interval = 0.1, max_interval = 86400;
  constexpr int max_samples = 1'000'000'000;
  if (values.has("i")) {
    const auto& text = values.text("i");
    if (!parse(text, wanted.interval) || !std::isfinite(wanted.interval) ||
        wanted.interval < min_interval || wanted.interval > max_interval)
      return fmt::format("-i: '{}' is not a number of seconds from 0.1 to 86400.", text);
  }
  if (values.has("n")) {
    const auto& text = values.text("n");
    if (!parse(text, wanted.samples) || wanted.samples < 0 || wanted.samples > max_samples)
      return fmt::format("-n: '{}' is not a number of samples from 0 to {}.", text, max_samples);
  }
  return "";
}

// Returns the error, or "".
std::string read_options(const cli::Values& values, Wanted& wanted) {
  if (auto wrong = read_numbers(values, wanted); !wrong.empty()) return wrong;
  const bool timed = values.has("i");
  if (timed && !wanted.command.empty()) return "Give either -i SECONDS or a COMMAND, not both.";
  if (!timed && wanted.command.empty())
    return "Nothing to measure is given. Give a command after --, as in 'cpi -- make', or -i "
           "SECONDS.";
  if (!timed && values.has("n")) return "-n can be used with -i only.";
  wanted.all_cpus = values.flag("a");
  wanted.system_only = values.flag("s");
  wanted.json = values.flag("json");
  if (timed && wanted.all_cpus)
    return "-a can be used with a COMMAND only; -i always measures all CPUs.";
  if (!timed && !wanted.all_cpus && wanted.system_only) return "-s can be used with -a or -i only.";
  constexpr const char* names[] = {"kernel", "user", "both"};  // from PI_PRIV_KERNEL on
  const auto& priv = values.text("priv");
  const auto* const found = std::find(std::begin(names), std::end(names), priv);
  if (found == std::end(names))
    return fmt::format("-priv: '{}' is not one of user, kernel, both.", priv);
  wanted.privilege = PI_PRIV_KERNEL + static_cast<int>(found - std::begin(names));
  return "";
}

// Ends the measurement.
struct Closer {
  void operator()(void* handle) const { (void)CpiTerminate(handle); }
};
using Handle = std::unique_ptr<void, Closer>;

int failed(const std::string& text) {
  cli::error(text);
  return cli::exit_failure;
}

int failed() {
  return failed(PiErrorText());
}

void print(const pi::Json& report) {
  fmt::print("{}\n", report.dump());
}

// False if nothing could be measured or the output cannot be written.
bool print_system(const Wanted& wanted, void* handle) {
  const cpi_data* data = nullptr;
  if (CpiGet(handle, &data) != PU_SUCCESS) {
    (void)failed();
    return false;
  }
  if (wanted.json)
    print(system_json(*data, wanted.system_only));
  else
    fmt::print("{}", system_text(*data, wanted.system_only));
  return cli::printed(cli::exit_good) == cli::exit_good;
}

Handle open_system(const Wanted& wanted) {
  void* handle = nullptr;
  (void)PiCpiInit(PI_CPI_SCALED, wanted.privilege, &handle);
  return Handle(handle);
}

int measure_times(const Wanted& wanted) {
  const sigset_t ending = cli::hold_signals();
  const Handle handle = open_system(wanted);
  if (!handle) return failed();
  timespec next{};
  ::clock_gettime(CLOCK_MONOTONIC, &next);
  const auto step = static_cast<long>(std::llround(wanted.interval * 1e9));
  for (int done = 0; wanted.samples == 0 || done < wanted.samples; ++done) {
    if (CpiStart(handle.get()) != PU_SUCCESS) return failed();
    const long ns = next.tv_nsec + step;
    next = {next.tv_sec + ns / 1'000'000'000, ns % 1'000'000'000};
    const bool whole = cli::sleep_until(next, ending);
    if (!print_system(wanted, handle.get())) return cli::exit_failure;
    if (!whole) break;
  }
  return cli::exit_good;
}

int measure_command(const Wanted& wanted) {
  auto command = Command::make(wanted.command);
  if (!command) return failed(command.error().message);
  void* opened = nullptr;
  if (!wanted.all_cpus) (void)PiCpiInitProcess(command->pid(), wanted.privilege, &opened);
  const Handle handle = wanted.all_cpus ? open_system(wanted) : Handle(opened);
  if (!handle) return failed();
  if (wanted.all_cpus && CpiStart(handle.get()) != PU_SUCCESS) return failed();
  if (auto gone = command->release(); !gone) return failed(gone.error().message);
  const int status = command->wait();
  if (wanted.all_cpus) return print_system(wanted, handle.get()) ? status : cli::exit_failure;
  const cpi_data* data = nullptr;
  if (CpiGet(handle.get(), &data) != PU_SUCCESS) return failed();
  const std::string& name = wanted.command.front();
  if (wanted.json)
    print(command_json(*data, name));
  else
    fmt::print("{}", command_text(*data, name));
  return cli::printed(status);
}

int run(const Words& words) {
  const auto separator = std::find(words.begin(), words.end(), "--");
  const auto outcome = options().parse({words.begin(), separator});
  if (outcome.exit) return *outcome.exit;
  Wanted wanted;
  if (separator != words.end()) wanted.command.assign(separator + 1, words.end());
  if (const auto wrong = read_options(outcome.values, wanted); !wrong.empty()) {
    cli::error(wrong);
    return cli::exit_usage;
  }
  return wanted.command.empty() ? measure_times(wanted) : measure_command(wanted);
}

}  // namespace
}  // namespace pi::cpi

int main(int count, char** words) {
  return pi::cli::run_tool("cpi", count, words, pi::cpi::run);
}
