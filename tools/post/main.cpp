// SPDX-License-Identifier: MIT
// post: reads a trace file, writes tprof.out, post.show and tprof.json.
#include <cli.h>

#include <exception>
#include <new>

#include "analysis.h"
#include "extra_reports.h"
#include "messages.h"
#include "output_file.h"
#include "report_json.h"
#include "report_tprof.h"
#include "strict.h"
#include "text_file.h"

namespace {

using namespace post;
namespace cli = pi::cli;

int fail(const pi::Error& problem) {
  cli::error(problem.message);
  return cli::exit_failure;
}

template <class Write>
pi::Status write_file(const std::string& path, mode_t mode, Write write) {
  auto file = OutputFile::create(path, mode);
  if (!file) return file.error();
  write(**file);
  return (*file)->commit();
}

pi::Status write_reports(const Summary& summary, const Options& options) {
  pi::Status status = write_file(options.output("tprof.out"), 0644,
                                 [&](Sink& sink) { write_tprof(summary, sink); });
  if (status && options.json)
    status = write_file(options.output(*options.json), 0644,
                        [&](Sink& sink) { write_json(summary, sink); });
  return status;
}

// Facts on request, what is wrong with the trace always; both to post.msg where that is wanted.
pi::Status tell(const TraceRun& run, const Options& options, const std::string& more_facts = {}) {
  const std::string facts = trace_facts(run.file, run.totals) + more_facts;
  if (options.verbose) fmt::print(stderr, "{}", facts);
  std::string text = facts;
  for (const std::string& warning : trace_warnings(run.path, run.file, run.damage, run.losses)) {
    cli::warning(warning);
    text += "warning: " + warning + "\n";
  }
  if (!options.message_file) return {};
  return write_file(options.output("post.msg"), 0644, [&](Sink& sink) { sink.write(text); });
}

int report_no_ticks(const TraceRun& run, const Options& options) {
  const Selection& selection = options.report.selection;
  const uint64_t ticks = run.totals.by_major[PITRACE_MAJOR_TPROF];
  if (ticks != 0 && !selection_texts(selection).empty()) {
    cli::error(
        fmt::format("none of the {} ticks read from {} is among those wanted; there is "
                    "nothing to report.",
                    ticks, run.path));
    return cli::exit_failure;
  }
  cli::error(
      fmt::format("{} holds no ticks ({} records of other kinds); there is nothing to report.",
                  run.path, run.totals.records));
  if (run.losses.lost() != 0)
    cli::hint(fmt::format("{} records were lost ({}).", run.losses.lost(),
                          lost_reasons(run.losses.total)));
  cli::hint(
      "The majors must be enabled (swtrace enable tprof) and the trace be on for some ticks.");
  return cli::exit_failure;
}

// A file that ends early because the disk was full is in good order and yet incomplete.
int exit_status(const TraceRun& run, const Options& options) {
  const std::string& ended = run.file.info.ended;
  bool whole = !run.damage.any() && ended != "disk full" && ended != "running";
  if (!options.strict) return whole ? cli::exit_good : cli::exit_damaged;
  if (const std::string missing = what_is_missing(run.file, run.losses); !missing.empty()) {
    cli::error(fmt::format("{} is not complete (--strict): {}.", run.path, missing));
    whole = false;
  }
  return whole ? cli::exit_good : cli::exit_damaged;
}

int make_tprof(TraceRun& run, const Options& options) {
  TickAnalysis analysis(run, options);
  if (const pi::Status status = analysis.read(); !status) return fail(status.error());
  const Summary summary = analysis.summary();
  if (const pi::Status status = tell(run, options, inner_facts(summary.lives, summary.names));
      !status)
    return fail(status.error());
  if (summary.ticks.ticks == 0) return report_no_ticks(run, options);
  if (const pi::Status status = write_reports(summary, options); !status)
    return fail(status.error());
  return exit_status(run, options);
}

int make_show(TraceRun& run, const Options& options) {
  if (const pi::Status status = read_records(run, options, {}); !status)
    return fail(status.error());
  if (const pi::Status status = tell(run, options); !status) return fail(status.error());
  return exit_status(run, options);
}

// What the options name files for.
pi::Status read_wishes(Options& options) {
  if (options.extra_reports_file) {
    const auto text = read_text_file(*options.extra_reports_file, written_by_hand);
    if (!text) return text.error();
    auto extra = parse_extra_reports(*text, *options.extra_reports_file);
    if (!extra) return extra.error();
    options.report.extra = std::move(*extra);
  }
  return {};
}

int run_post(const std::vector<std::string>& arguments) {
  auto parsed = parse_options(arguments);
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  Options options = std::get<Options>(std::move(parsed));
  if (const pi::Status status = read_wishes(options); !status) return fail(status.error());
  remove_unfinished_on_signals();
  TraceRun run;
  run.path = options.trace_file;
  if (const pi::Status status = open_trace(run); !status) return fail(status.error());
  return options.tprof ? make_tprof(run, options) : make_show(run, options);
}

}  // namespace

int main(int argc, char** argv) {
  cli::set_tool("post");
  try {
    return run_post({argv + 1, argv + argc});
  } catch (const std::bad_alloc&) {
    cli::error("out of memory; -clip and -rsel do not help, a trace with fewer processes does.");
  } catch (const std::exception& problem) {
    cli::error(problem.what());
  }
  return cli::exit_failure;
}
