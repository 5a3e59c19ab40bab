// SPDX-License-Identifier: MIT
// post: reads a trace file and writes tprof.out and the other reports; or compares two traces.
#include <cli.h>
#include <langinfo.h>
#include <locale.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <span>
#include <string_view>

#include "analysis.h"
#include "compare/budget.h"
#include "compare/profile_json.h"
#include "compare/report_diff.h"
#include "import_recording.h"
#include "own_name.h"
#include "options/extra_reports.h"
#include "read/trace_archive.h"
#include "report/messages.h"
#include "report/completeness.h"
#include "report/fleet_files.h"
#include "report/html_base.h"
#include "report/report_annotate.h"
#include "report/report_html.h"
#include "report/report_page.h"
#include "report/reports.h"
#include "stacks/table_child.h"
#include "text/output_file.h"
#include "text/text.h"
#include "text_file.h"
#include "top_tool.h"

namespace {

using namespace post;
namespace cli = pi::cli;
constexpr int exit_over_budget = 4;

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

void print_facts(const std::string& lines) {
  for (size_t at = 0; at < lines.size();) {
    const size_t end = lines.find('\n', at);
    pi::cli::to_stderr(fmt::format("post: {}\n", lines.substr(at, end - at)));
    at = end == std::string::npos ? lines.size() : end + 1;
  }
}

pi::Status print_text(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return {};
  return pi::Error{errno,
                   fmt::format("cannot write to the standard output: {}.", std::strerror(errno))};
}

// Prints facts (-verbose) and always the warnings on the trace; writes both to post.msg (-verbmsg).
pi::Status report_messages(const TraceRun& run, const Options& options,
                           const std::string& more_facts = {}) {
  const std::string facts = trace_facts(run.file, run.totals) + more_facts;
  if (options.verbose) print_facts(facts);
  std::string text = facts;
  for (const std::string& warning : trace_warnings(run.path, run.file, run.damage, run.losses)) {
    cli::warning(warning);
    text += "warning: " + warning + "\n";
  }
  if (!options.message_file) return {};
  return write_file(options.output(message_file_name), 0644, [&](Sink& sink) { sink.write(text); });
}

// Why a selection leaves nothing.
void hint_at_selection(const TraceRun& run, const Options& options, const Summary& summary) {
  const Selection& selection = options.report.selection;
  for (const std::string& remark : summary.selection_remarks) cli::hint(remark);
  if (selection.cpus.any())
    cli::hint(fmt::format("The trace has CPUs 0 to {}.", std::max(run.file.cpus, 1u) - 1));
  if (selection.times.any() && run.totals.by_major[PITRACE_MAJOR_TPROF] != 0)
    cli::hint(fmt::format("The trace has ticks until {} after its first one.",
                          duration_text(run.totals.last_tick - run.totals.first_tick)));
  if (selection_texts(selection).size() > 1 && summary.selection_remarks.empty() &&
      !selection.cpus.any() && !selection.times.any())
    cli::hint("Each of the options matches something, but no tick matches all of them.");
}

int report_no_ticks(const TraceRun& run, const Options& options, const Summary& summary) {
  const Selection& selection = options.report.selection;
  const uint64_t ticks = run.totals.by_major[PITRACE_MAJOR_TPROF];
  if (ticks != 0 && !selection_texts(selection).empty()) {
    cli::error(fmt::format("none of the {} ticks in {} is selected; there is nothing to report.",
                           ticks, run.path));
    hint_at_selection(run, options, summary);
    return cli::exit_failure;
  }
  if (selection.records.last != NumberRange{}.last) {
    cli::error(fmt::format(
        "the first {} records of {} contain no ticks (-p, -pp); there is nothing to report.",
        selection.records.last, run.path));
    return cli::exit_failure;
  }
  cli::error(
      fmt::format("{} contains no ticks ({} records of other kinds); there is nothing to report.",
                  run.path, run.totals.records));
  if (run.losses.lost() != 0)
    cli::hint(fmt::format("{} records were lost ({}).", run.losses.lost(),
                          lost_reasons(run.losses.total)));
  cli::hint(run.file.info.is_of_perf_record()
                ? "perf record had no sample in that time."
                : "Enable the major (swtrace enable tprof) and keep the trace on for some ticks.");
  return cli::exit_failure;
}

// Prints which data requested reports need and the trace does not contain: with a page as warnings,
// since the other reports are made; otherwise the first one as an error. Returns whether any is
// missing.
bool print_lack(const TraceRun& run, const Options& options, const Summary& summary,
                bool of_ticks) {
  bool any = false;
  for (const Report& report : reports()) {
    if (!report.lack || report.of_ticks != of_ticks || !report.wanted(options)) continue;
    const std::optional<Lack> lack = report.lack(summary);
    if (!lack || (any && !options.page)) continue;
    any = true;
    const std::string text = fmt::format("{} {}", run.path, lack->what);
    if (options.page) {
      cli::warning(fmt::format("{} {} is not written.{}{}", text, report.file,
                               lack->hint.empty() ? "" : " ", lack->hint));
      continue;
    }
    cli::error(text);
    if (!lack->hint.empty()) cli::hint(lack->hint);
    hint_at_selection(run, options, summary);
  }
  return any;
}

// With a page, which is made of a trace without ticks, too: warns of each file that is not. Returns
// whether any was requested.
bool warn_of_ticks(const TraceRun& run, const Options& options) {
  bool any = false;
  for (const Report& report : reports()) {
    if (!report.of_ticks || !report.file || !*report.options || !report.wanted(options)) continue;
    any = true;
    cli::warning(fmt::format("{} contains no ticks: {} is not written.", run.path, report.file));
  }
  return any;
}

// Whether a requested report cannot be made; returns the exit status if none can be made.
std::optional<int> report_lacking(const TraceRun& run, const Options& options,
                                  const Summary& summary, bool& lacking) {
  const auto is_requested = [&](bool of_ticks) {
    return std::ranges::any_of(reports(), [&](const Report& report) {
      return report.lack && report.of_ticks == of_ticks && report.wanted(options);
    });
  };
  lacking = print_lack(run, options, summary, false);
  if (lacking && !options.page) return cli::exit_failure;
  const bool none_selected = run.totals.by_major[PITRACE_MAJOR_TPROF] != 0;
  if (summary.ticks.ticks == 0 && options.page && !options.budget_file && !none_selected) {
    lacking = warn_of_ticks(run, options) || lacking;
    return {};
  }
  const bool html = options.html && !none_selected && html_shows_without_ticks(summary);
  const bool without_ticks =
      (is_requested(false) || html) && !is_requested(true) && !options.budget_file;
  if (summary.ticks.ticks == 0 && !without_ticks) return report_no_ticks(run, options, summary);
  const bool lacks_stacks = print_lack(run, options, summary, true);
  if (lacks_stacks && !options.page) return cli::exit_failure;
  lacking = lacking || lacks_stacks;
  return {};
}

// The trace has no ticks, its records were to be shown, and no report was requested by name.
bool only_shown(const TraceRun& run, const Options& options, const Summary& summary) {
  if (!options.show || summary.ticks.ticks != 0 || run.totals.by_major[PITRACE_MAJOR_TPROF] != 0 ||
      options.budget_file)
    return false;
  return std::ranges::none_of(reports(), [&](const Report& report) {
    return *report.options && report.write && report.wanted(options);
  });
}

// damaged and missing: see completeness.h.
int exit_status(const std::string& path, bool damaged, const std::string& missing,
                const Options& options) {
  const bool lacking = options.strict && !missing.empty();
  if (lacking) cli::error(fmt::format("{} is not complete (--strict): {}.", path, missing));
  return damaged || lacking ? cli::exit_damaged : cli::exit_good;
}

// lacking: a requested report was left out.
int exit_status(const TraceRun& run, const Options& options, bool lacking = false) {
  std::string missing = what_is_missing(run.file, run.losses);
  if (lacking) missing += fmt::format("{}data for a report", missing.empty() ? "" : ", ");
  return exit_status(run.path, is_damaged(run.file, run.damage), missing, options);
}

// Prints the limits and what was measured; returns whether one is exceeded.
bool report_budget(const Summary& summary, const std::string& path) {
  bool exceeded = false;
  for (const LimitResult& result : summary.budget) {
    const std::string text =
        fmt::format("{}:{}: {}", path, result.limit.line, limit_text(result, summary.ticks.ticks));
    if (result.exceeded()) {
      exceeded = true;
      cli::error(text);
    } else if (!result.occurs()) {
      cli::warning(text + "; is it written as in tprof.out?");
    }
  }
  return exceeded;
}

bool shows_utf8() {
  const locale_t locale = ::newlocale(LC_CTYPE_MASK, "", nullptr);
  if (!locale) return false;
  const bool utf8 = std::string_view(::nl_langinfo_l(CODESET, locale)) == "UTF-8";
  ::freelocale(locale);
  return utf8;
}

bool shows_colour() {
  const char* const none = std::getenv("NO_COLOR");
  const char* const kind = std::getenv("TERM");
  return !(none && *none) && kind && std::string_view(kind) != "dumb";
}

bool colours_stdout() {
  return ::isatty(STDOUT_FILENO) == 1 && shows_colour();
}

pi::Status print_annotation(const Summary& summary) {
  AnnotationStyle style{.colour = colours_stdout(), .utf8 = shows_utf8()};
  if (::isatty(STDOUT_FILENO) == 1) style.width = style.line_width = cli::columns(STDOUT_FILENO);
  const auto text = annotation(summary, style);
  return text ? print_text(*text) : text.error();
}

pi::Status print_page(const TraceRun& run, const Options& options, const Summary& summary) {
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  PageStyle style{.rows = options.report.page_rows, .utf8 = shows_utf8()};
  if (terminal) style.width = cli::columns(STDOUT_FILENO);
  style.colour = colours_stdout();
  PageEnd end{short_path(run.path),
              {},
              short_path(options.directory),
              own_name(),
              options.report.selection.options};
  for (const Report& report : reports())
    if (report.file && is_made(report, options, summary))
      end.files.push_back(short_path(report.path(options)));
  return print_text(page_text(summary, style, &end));
}

// Whether a process had this id: it started, ran or was named in the trace.
bool occurs(uint32_t pid, const Summary& summary) {
  return std::ranges::any_of(
             summary.lifetimes,
             [&](const ProcessLifetime& lifetime) { return lifetime.pid == pid; }) ||
         std::ranges::any_of(summary.tree.leaves(),
                             [&](const Leaf& leaf) { return leaf.origin.pid == pid; });
}

int make_tprof(TraceRun& run, const Options& options, const std::vector<Limit>& limits) {
  TickAnalysis analysis(run, options);
  if (const pi::Status status = analysis.read(); !status) return fail(status.error());
  if (options.fleet && !fits_fleet(run.totals))
    return fail({-1, run.path + " is longer than a day; --fleet takes shorter traces."});
  Summary summary = analysis.summary();
  if (const pi::Status status =
          report_messages(run, options, inner_facts(summary.lifetimes, summary.names));
      !status)
    return fail(status.error());
  if (only_shown(run, options, summary)) {
    cli::warning(
        fmt::format("{} contains no ticks: post.show is written, but no report.", run.path));
    return exit_status(run, options);
  }
  bool lacking = false;
  if (const auto status = report_lacking(run, options, summary, lacking)) return *status;
  summary.hints = analysis.hints(summary);
  for (const std::string& remark : summary.selection_remarks) cli::warning(remark);
  if (options.report.subject && !occurs(*options.report.subject, summary)) {
    cli::error(
        fmt::format("no process of {} has the id {} (--of).", run.path, *options.report.subject));
    cli::hint(
        "The id is decimal, as on the page and in tprof.json; the tables of tprof.out have "
        "hexadecimal ids.");
    return cli::exit_failure;
  }
  if (!limits.empty()) summary.budget = measure(limits, make_profile(summary, run.path));
  // Tables are large when they are written.
  if (!options.looks_back() && !options.counts_by_process()) A2nSymbolizer::release_symbols();
  if (const pi::Status status = analysis.write_reports(summary); !status)
    return fail(status.error());
  if (options.fleet &&
      run.totals.by_major[PITRACE_MAJOR_TPROF] + run.totals.by_major[PITRACE_MAJOR_DISPATCH] == 0)
    cli::warning(fmt::format(
        "{} contains neither ticks nor context switches: its tables have only what was lost.",
        run.path));
  if (options.page)
    if (const pi::Status status = print_page(run, options, summary); !status)
      return fail(status.error());
  if (!options.report.annotate.empty() && summary.ticks.ticks != 0)
    if (const pi::Status status = print_annotation(summary); !status) return fail(status.error());
  const bool exceeded = !limits.empty() && report_budget(summary, *options.budget_file);
  // A measurement of a part of a trace does not prove that a limit is kept or exceeded.
  const int status = exit_status(run, options, lacking);
  return status == cli::exit_good && exceeded ? exit_over_budget : status;
}

// Looks up the symbols that any report on the trace may need, with any options.
int make_archive(TraceRun& run, const Options& options) {
  if (options.archive_files && run.saved_symbols)
    return fail({-1, run.path +
                         " is an archive already, and the files its symbols came from may not "
                         "be here; make one with --archive-files where the trace was made."});
  Options whole;
  whole.symbols = options.symbols;
  whole.archive = options.archive;
  whole.tree = true;
  whole.off_cpu = true;
  TickAnalysis analysis(run, whole);
  if (const pi::Status status = analysis.read(); !status) return fail(status.error());
  if (const pi::Status status = report_messages(run, options); !status) return fail(status.error());
  auto symbols = unnamed_file(options.directory);
  if (!symbols) return fail(symbols.error());
  const std::string path = options.output(*options.archive);
  if (const pi::Status status = TickAnalysis::save_symbols(symbols->get()); !status)
    return fail(
        {status.error().code, fmt::format("cannot write {}: {}", path, status.error().message)});
  ArchiveSources sources{run.source->fd(), symbols->get(),     {}, TickAnalysis::open_symbol_file,
                         analysis.logs(),  analysis.packages()};
  if (options.archive_files) sources.files = TickAnalysis::symbol_files();
  // The archive gets the mode of the trace: it contains the activity of all users of the machine.
  auto file = OutputFile::create(path, 0600);
  if (!file) return fail(file.error());
  pi::Status written = pack_archive(sources, **file);
  // The file object has the reason why libarchive could not write.
  if (written || !(*file)->good()) written = (*file)->commit();
  if (!written) return fail(written.error());
  return exit_status(run, options);
}

int make_show(TraceRun& run, const Options& options) {
  TickAnalysis analysis(run, options);
  if (const pi::Status status = analysis.read(); !status) return fail(status.error());
  if (const pi::Status status = report_messages(run, options); !status) return fail(status.error());
  return exit_status(run, options);
}

// Of the two traces of --diff with --html: the first becomes `base`, and the page is about the
// second.
struct DiffPage {
  std::optional<HtmlBase> base;
};

pi::Status add_to_page(TickAnalysis& analysis, const std::string& path, DiffPage& page) {
  Summary summary = analysis.summary();
  if (!page.base) {
    page.base = make_html_base(summary, path);
    return {};
  }
  summary.base = &*page.base;
  return analysis.write_reports(summary);
}

// A trace or a tprof.json.
pi::Result<Profile> read_profile(const std::string& path, const Options& given, DiffPage& page) {
  Options options = given;
  options.tprof_out = false;
  options.json.reset();
  if (options.html && !page.base) {
    options.html.reset();
    options.tree = true;
  }
  constexpr size_t largest_json = size_t{1} << 30;
  TraceRun run;
  run.path = path;
  OutputFile::keep(path);
  auto source = FileSource::open(path);
  if (!source) return source.error();
  char beginning[64];
  const size_t size = (*source)->read(0, std::as_writable_bytes(std::span(beginning)));
  if (looks_like_json({beginning, size})) {
    if (!selection_texts(options.report.selection).empty())
      return pi::Error{-1, path +
                               " is a report: its ticks cannot be selected. Select with the "
                               "traces, not with the output of post --json."};
    if (given.html)
      return pi::Error{
          -1, path + " is a report: a page compares traces, not the output of post --json."};
    const auto text = pi::read_text_file(path, largest_json);
    return text ? profile_from_json(*text, path) : text.error();
  }
  if (const pi::Status status = open_trace(run); !status) return status.error();
  TickAnalysis analysis(run, options);
  if (const pi::Status status = analysis.read(); !status) return status.error();
  if (options.verbose) print_facts(trace_facts(run.file, run.totals));
  for (const std::string& remark : analysis.selection_remarks()) cli::warning(path + ": " + remark);
  if (given.html)
    if (const pi::Status status = add_to_page(analysis, path, page); !status) return status.error();
  return make_profile(analysis.summary(), path);
}

int make_diff(const Options& options) {
  std::vector<Profile> profiles;
  DiffPage page;
  for (const std::string& path : {options.compared->first, options.compared->second}) {
    auto profile = read_profile(path, options, page);
    if (!profile) return fail(profile.error());
    if (profile->ticks == 0)
      return fail(
          {-1, path + " contains no ticks, or none is selected; there is nothing to compare."});
    for (const auto& [lead, text] : profile->lacks)
      cli::warning(fmt::format("{}: {}: {}", path, lead, text));
    profiles.push_back(std::move(*profile));
  }
  if (std::string why = incomparable(profiles[0], profiles[1]); !why.empty())
    return fail({-1, std::move(why)});
  const Diff diff = compare(profiles[0], profiles[1], options.report.clip_percent);
  if (options.json)
    if (const pi::Status status = write_file(options.output(*options.json), 0644,
                                             [&](Sink& sink) { write_diff_json(diff, sink); });
        !status)
      return fail(status.error());
  StringSink text;
  write_diff(diff, text);
  if (const pi::Status status = print_text(text.text); !status) return fail(status.error());
  int result = cli::exit_good;
  for (const Profile& profile : profiles)
    result = std::max(result, exit_status(profile.path, profile.damaged, profile.missing, options));
  return result;
}

// Parses a file that an option names.
template <class Parse>
auto parse_file(const std::string& path, Parse parse) -> decltype(parse(path, path)) {
  const auto text = pi::read_text_file(path, pi::written_by_hand);
  if (!text) return text.error();
  return parse(*text, path);
}

// No output replaces a file that is read. Traces are added when they are opened.
void keep_inputs(const Options& options) {
  for (const auto* path : {&options.hash_key, &options.budget_file, &options.extra_reports_file})
    if (*path) OutputFile::keep(**path);
  const SymbolOptions& symbols = options.symbols;
  for (const std::string* path :
       {&symbols.kernel_image, &symbols.kernel_map, &symbols.saved_symbols, &symbols.range_file})
    if (!path->empty()) OutputFile::keep(*path);
}

int run_post(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments.front() == "top")
    return run_top({arguments.begin() + 1, arguments.end()});
  auto parsed = parse_options(arguments);
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  Options options = std::get<Options>(std::move(parsed));
  remove_unfinished_on_signals();
  // Before the trace is read, so that an error of the output directory is reported at once.
  std::error_code problem;
  std::filesystem::create_directories(options.directory, problem);
  if (problem)
    return fail({-1, fmt::format("cannot create the directory {}: {}; name another one with -o.",
                                 options.directory, problem.message())});
  keep_inputs(options);
  if (options.compared) return make_diff(options);
  if (options.import)
    if (const pi::Status status = import_recording(options); !status) return fail(status.error());
  if (options.extra_reports_file) {
    auto extra = parse_file(*options.extra_reports_file, parse_extra_reports);
    if (!extra) return fail(extra.error());
    options.report.extra = std::move(*extra);
  }
  std::vector<Limit> limits;
  if (options.budget_file) {
    auto parsed_limits = parse_file(*options.budget_file, parse_budget);
    if (!parsed_limits) return fail(parsed_limits.error());
    limits = std::move(*parsed_limits);
  }
  TraceRun run;
  run.path = options.trace_file;
  run.scratch = options.directory;
  if (const pi::Status status = open_trace(run); !status) return fail(status.error());
  if (options.archive) return make_archive(run, options);
  if (options.hash_key) {
    auto key = read_hash_key(*options.hash_key);
    if (!key) return fail(key.error());
    options.report.privacy.key = std::move(*key);
  }
  if (const pi::Status status = set_fleet_files(options, *run.source, run.file); !status)
    return fail(status.error());
  return options.tprof ? make_tprof(run, options, limits) : make_show(run, options);
}

int run_within_memory(const std::vector<std::string>& arguments) {
  try {
    return run_post(arguments);
  } catch (const std::bad_alloc&) {
    cli::error(
        "out of memory; -clip and -rsel do not reduce memory, a trace with fewer processes does.");
    return cli::exit_failure;
  }
}

}  // namespace

int main(int count, char** words) {
  if (count == 2 && std::string_view(words[1]) == pi::swtrace::table_child_word)
    ::_exit(pi::swtrace::table_child_main());
  return cli::run_tool("post", count, words, run_within_memory);
}
