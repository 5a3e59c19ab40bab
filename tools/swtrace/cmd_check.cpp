// SPDX-License-Identifier: MIT
// swtrace check: examines everything that profiling needs, with the command that fixes each
// problem.
#include <fmt/format.h>

#include "check.h"
#include "cli.h"
#include "commands.h"

namespace pi::swtrace {

int cmd_check(const Words& words) {
  cli::OptionTable table(
      {"swtrace check [--json]",
       "Checks the module, signing, capabilities, perf events and kernel symbols. It prints one "
       "line for each check, and the command that fixes each problem.",
       {"swtrace check"},
       "Exit status: 0 if a source of records works, 1 if none works, 255 wrong use."});
  table.group("Output")("json", cli::flag(), "print JSON, for programs");
  const auto outcome = table.parse(words);
  if (outcome.exit) return *outcome.exit;
  const CheckReport report = check_everything({});
  fmt::print("{}", outcome.values.flag("json") ? report_json(report) : report_text(report));
  const bool works = report.driver_works || report.perf_system_works || report.perf_process_works;
  return works ? cli::exit_good : cli::exit_failure;
}

}  // namespace pi::swtrace
