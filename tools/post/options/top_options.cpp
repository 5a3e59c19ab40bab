// SPDX-License-Identifier: MIT
// The command line of post top.
#include "top_options.h"

#include <cli.h>

#include "selection_options.h"
#include "text/text.h"

namespace post {
namespace {

namespace cli = pi::cli;

constexpr uint64_t longest_interval = 3600;  // seconds

cli::OptionTable top_table() {
  cli::OptionTable table(
      {"post top [TRACE] [OPTION]...",
       "Shows a trace, also one that is being recorded, on the whole terminal: its processes, "
       "threads, modules and symbols by ticks (samples), the callers and callees of a symbol, its "
       "lines and instructions.",
       {"post top", "post top run1.nrm2 --command make", "post top run1.nrm2 --time 1.5-3",
        "swtrace init -t cont -f run.nrm2 && swtrace on && post top run.nrm2"},
       "Keys: Up, Down, PageUp, PageDown, Home and End move; Enter opens the row: of a process its "
       "modules, of a thread its modules, of a module its symbols, of a symbol its lines and "
       "instructions, of a caller or callee its own; Backspace goes back; Tab, or 1 to 4, shows "
       "processes, threads, modules or symbols, and behind a symbol lines, callers or callees; f "
       "selects the row, x excludes it; c shows callers; s sorts by ticks or by name; / searches, "
       "n and N repeat that; r reads the file again; ? explains the keys; q ends. "
       "A file that grows is read again while it does; a trace that is not continuous (swtrace "
       "init -t cont) can be seen only after 'swtrace get'. Exit status: 0 good; 1 the trace "
       "cannot be read, or has no ticks; 255 wrong usage, or no terminal."});
  table.group("Files")(",r", cli::text("FILE", "swtrace.nrm2"), "the trace file")(
      "interval", cli::text("SECONDS", "2"),
      "how often a file that grows is read again (1 to 3600)")(
      "source-path", cli::text("DIR[:DIR...]"),
      "directories in which a source file is looked for by its path and the ends of it: src/a.c, "
      "a.c");
  table.positional("trace", 1);
  add_selection_groups(table);
  return table;
}

int wrong_usage(const std::string& problem) {
  cli::error(problem);
  cli::hint("post top --help lists the options.");
  return cli::exit_usage;
}

}  // namespace

std::variant<TopOptions, int> parse_top_options(const std::vector<std::string>& words) {
  const cli::OptionTable::Outcome outcome = top_table().parse(words);
  if (outcome.exit) return *outcome.exit;
  const cli::Values& given = outcome.values;
  if (given.has("trace") && given.given("-r"))
    return wrong_usage("the trace is named twice: by -r and without it.");
  TopOptions options;
  options.post.trace_file = given.has("trace") ? given.words("trace").front() : given.text("-r");
  uint64_t seconds = 0;
  if (!parse_number(given.text("interval"), seconds) || seconds == 0 || seconds > longest_interval)
    return wrong_usage("--interval takes a number of seconds from 1 to 3600, not '" +
                       given.text("interval") + "'.");
  options.interval = std::chrono::seconds(seconds);
  if (const std::string problem =
          take_selection_options(given, options.post.report.selection, options.post.symbols);
      !problem.empty())
    return wrong_usage(problem);
  if (const std::string problem = take_source_path(given, options.post.report.source_path);
      !problem.empty())
    return wrong_usage(problem);
  options.post.tprof_out = false;
  options.post.tree = true;
  options.post.report.calls_by_thread = true;
  options.post.micro = true;
  options.post.report.micro_by_thread = true;
  options.post.symbols.code = true;
  return options;
}

}  // namespace post
