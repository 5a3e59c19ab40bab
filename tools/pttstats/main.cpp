// SPDX-License-Identifier: MIT
// pttstats: the statistics of PTT, the whole system by CPU and by process.
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "cli.h"
#include "stats.h"

namespace {

namespace cli = pi::cli;

cli::OptionTable option_table() {
  cli::OptionTable table(
      {"pttstats [OPTION]...",
       "Shows the counts of PTT (per-thread counters) since 'ptt init': sums of the whole system, "
       "of each CPU and of each process. After 'ptt term' it shows the counts up to that command.",
       {"pttstats", "pttstats -m 2"},
       "Exit status: 0 done, 1 failed, 255 wrong usage."});
  table.group("Options")("m", cli::text("N", "1"), "show the N-th metric; the first one is 1")(
      "json", cli::flag(), "print one JSON object with all metrics, for programs");
  return table;
}

int fail(const std::string& text) {
  cli::error(text);
  return cli::exit_failure;
}

int run(const std::vector<std::string>& arguments) {
  const auto outcome = option_table().parse(arguments);
  if (outcome.exit) return *outcome.exit;
  const auto& number = outcome.values.text("m");
  if (number.size() != 1 || number[0] < '1' || number[0] > '8') {
    cli::error(
        fmt::format("-m: '{}' is not the number of a metric. Give a number from 1 to 8.", number));
    return cli::exit_usage;
  }
  const auto metric = static_cast<size_t>(number[0] - '1');
  ptt_stats* taken = nullptr;
  if (PttGetStatistics(&taken) != PU_SUCCESS) return fail(PiErrorText());
  const std::unique_ptr<ptt_stats, void (*)(ptt_stats*)> stats(taken, PttFreeStats);
  pi_ptt_state state{};
  state.size = sizeof state;
  if (PttGetState(&state) != PU_SUCCESS) return fail(PiErrorText());
  if (metric >= static_cast<size_t>(state.metrics))
    return fail(fmt::format("-m: there is no metric {}: PTT counts {}. 'ptt info' lists them.",
                            metric + 1, state.metrics));
  const std::string text = outcome.values.flag("json")
                               ? pi::pttstats::stats_json(*stats, state)
                               : pi::pttstats::stats_text(*stats, state, metric, GetDLLVersionEx());
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return cli::exit_good;
  return fail(fmt::format("Cannot write the output: {}.", std::generic_category().message(errno)));
}

}  // namespace

int main(int count, char** words) {
  return cli::run_tool("pttstats", count, words, run);
}
