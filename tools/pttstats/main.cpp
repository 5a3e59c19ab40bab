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
       "Shows what PTT has counted since 'ptt init': of the whole system, by CPU and by process. "
       "After 'ptt term' what had been counted until then.",
       {"pttstats", "pttstats -m 2"},
       "Exit status: 0 good, 1 failed, 255 wrong use."});
  table.group("Options")("m", cli::text("N", "1"), "of the N-th metric, from 1 on")(
      "json", cli::flag(), "for programs: one object, all metrics");
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
    cli::error(fmt::format("-m: '{}' is not the number of a metric: 1 to 8.", number));
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
    return fail(fmt::format("-m: PTT counts {} metrics only.", state.metrics));
  const std::string text = outcome.values.flag("json")
                               ? pi::pttstats::stats_json(*stats, state)
                               : pi::pttstats::stats_text(*stats, state, metric, GetDLLVersionEx());
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return cli::exit_good;
  return fail(
      fmt::format("The output cannot be written: {}.", std::generic_category().message(errno)));
}

}  // namespace

int main(int count, char** words) {
  return cli::run_tool("pttstats", count, words, run);
}
