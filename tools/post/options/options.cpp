// SPDX-License-Identifier: MIT
// Parses post's command line.
#include "options.h"

#include <cli.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "selection_options.h"
#include "unsupported_options.h"
#include "text/text.h"

namespace post {
namespace {

namespace cli = pi::cli;

// The value of --json without a file; the default name depends on what is written.
const std::string usual_json = "\n";
// The value of --html without a file.
const std::string usual_html = "\n";
// The value of --archive without a file: the trace's name, with another suffix.
const std::string usual_archive = "\n";

using Words = std::vector<std::string>;

cli::OptionTable option_table() {
  cli::OptionTable table(
      {"post [OPTION]... [TRACE]\n       post top [TRACE] [OPTION]...\n       post --diff A B "
       "[OPTION]...",
       "Reports where the time went in a trace that run.tprof or swtrace has recorded: writes to "
       "tprof.out how many ticks (samples) fell on each process, thread, module (program or "
       "library) and symbol (function). Or compares two traces. 'post top' shows a trace on the "
       "whole terminal (post top --help). Every option can have one dash or "
       "two.",
       {"post", "post --page run1.nrm2", "post -r run1.nrm2 -o run1 -demangle --json",
        "post -clip 1 -pnm -rsel 00100001", "post -tree -folded", "post -offcpu", "post -showx",
        "post --budget limits.txt --strict", "post --diff old.nrm2 new.nrm2",
        "post --archive -r run1.nrm2 && post -r run1.tar.zst", "post --import perf.data --page"},
       "Exit status: 0 good; 1 nothing to report, or a file cannot be read or written; 3 the trace "
       "is damaged or incomplete, and the reports cover its good part; 4 a limit of the budget is "
       "exceeded; 255 wrong usage."});
  using cli::text, cli::words, cli::optional_text, cli::repeated;
  table.group("Files")(",r", text("FILE", "swtrace.nrm2"), "the trace file")(
      "import", text("FILE"),
      "first convert FILE, which perf record has written (perf.data), to a trace file of its name "
      "and .nrm2 in the directory for output files; the reports are on it")(
      "event", text("NAME"),
      "the event of that file whose samples become ticks, with wildcards (default: the first one)")(
      ",o", text("DIR", "."), "the directory for output files")(
      "json", optional_text("FILE", usual_json, "tprof.json"),
      "also write the tprof reports as JSON (to tprof.json, with --diff to tprof.diff.json)")(
      "html", optional_text("FILE", usual_html, "tprof.html"),
      "also write an HTML page that shows the trace in a browser: processes, functions, a flame "
      "graph "
      "and what ran when; with --diff, to tprof.diff.html, about B with a flame graph of what "
      "changed since A")("with-source",
                         "the HTML page also has the text of source lines with ticks, from files "
                         "that you may read")(
      "with-data", repeated("FILE"),
      "the HTML page also has the tables of FILE: a log-rt or log-jlm with JSON, or what ptt dump "
      "-json, swtrace ai -json or hdump --json has printed")(
      "show", "also write every record of the trace as a line to post.show")(
      "showx", "write post.show only, without looking up symbols")(
      "showxx", "as --showx, with the words of each record in hexadecimal")(
      "showt", "as --show, with a column of seconds; can be combined with --showx and --showxx")(
      "archive", optional_text("FILE", usual_archive, "TRACE.tar.zst"),
      "instead of reports write an archive for other machines: the trace and the symbols it "
      "needs")("archive-files", "also add the files that contain the symbols to the archive");
  table.positional("trace", 1);
  table.group("The page")(
      "page", "also print the page with which tprof.out begins: the answer on one screen")(
      "of", text("PID"),
      "the page is about this process (decimal) and its descendants; else about the process for "
      "which the trace was made, or the system")(
      "lines", text("N"),
      "functions on the page (default: as many as fit into 23 lines), or with --annotate (5)");
  table.group("Reports")("clip", text("PERCENT", "0.1"),
                         "hide rows with less than PERCENT of all ticks")(
      "tree",
      "also write tprof.tree: which function called which (needs a trace with call stacks, as by "
      "run.tprof -g)")(
      "folded",
      "also write tprof.folded: the call stacks, one a line, for tools that draw flame graphs")(
      "export", repeated("FORMAT", fmt::format("{}", fmt::join(export_formats, " "))),
      "also write the ticks by call stack for another viewer. FORMAT is callgrind "
      "(tprof.callgrind, for KCachegrind), pprof (tprof.pb.gz), speedscope "
      "(tprof.speedscope.json), perfetto (tprof.perfetto-trace, a timeline), firefox "
      "(tprof.firefox.json.gz, for the Firefox Profiler), ctf "
      "(tprof.ctf, a folder for babeltrace2 and Trace Compass), chrome "
      "(tprof.trace.json, a timeline), perf-script "
      "(tprof.linux-perf.txt, each tick as perf script prints it), otlp (tprof.otlp.gz, "
      "OpenTelemetry profiles) or parquet (tprof.parquet and tprof.stacks.parquet, tables for "
      "DuckDB, Spark and others)")(
      "bucket", text("SECONDS", "1"),
      "in tprof.parquet, add up what has the same stack in each stretch of SECONDS; 0: a row for "
      "each record")(
      "fleet", text("FOLDER"),
      "instead of other reports add these tables to FOLDER, below a folder for each day and host, "
      "for pitrace-fleet and others; then --bucket is 600 unless given")(
      "rare", text("TICKS", "1"),
      "in the call paths of --fleet, put [rare] in place of the calls that have fewer TICKS than "
      "that in the trace; 1: keep all")(
      "omit", text("KINDS"),
      "leave out names of these KINDS in the tables of --fleet and in --export otlp and pprof: "
      "command (processes and threads), path, user (of users, in paths and control groups), "
      "cgroup, function")(
      "hash", text("KINDS"),
      "replace names of these KINDS, also of host, by hashes that are the same on all hosts with "
      "the same key")("hash-key", text("FILE"),
                      "the key for --hash: 16 to 1024 random bytes, readable by you alone")(
      "threads", "in tprof.tree, tprof.folded and exports, divide processes by threads")(
      "offcpu",
      "also write tprof.offcpu: how long threads waited, where, and what woke them (needs "
      "context switches: swtrace enable dispatch)")(
      "rsel", text("DIGITS"),
      "which of the eight reports to write: eight digits, 1 (yes) or 0 (no), in their order in "
      "tprof.out, from Process to Module_Symbol")(
      "off",
      "add a report by offset in each function, and write tprof.micro: ticks by source line and "
      "instruction")("disasm", "write tprof.micro with the instructions as text")(
      "annotate", text("SYMBOL"),
      "print the source lines of functions SYMBOL (with wildcards) with their ticks and "
      "instructions")("source-path", text("DIR[:DIR...]"),
                      "directories in which --annotate and --with-source look for a source file by "
                      "its path and the "
                      "ends of it: src/a.c, "
                      "a.c")(
      ",x", text("FILE"),
      "add reports of your own: each line of FILE has digits for the levels of one, outermost "
      "first: "
      "1 process, 2 thread, 3 module, 4 symbol, 5 offset; 41 shows which processes use a symbol")(
      "pnm", "name processes without their ids: one row for all of a name")(
      "tnm", "the same for threads")("cpu", "add the number of the CPU to the names of processes")(
      "tmod", "add _64 to the names of 64-bit modules")(
      "compat",
      "write tprof.out for programs that read its oldest form: without the page and newer lines");
  table.group("Instruction traces, with --arc")(
      "arc",
      "also write arc: what was executed, one line for each basic block, that is up to the next "
      "branch (needs a trace of run.itrace)")(",c",
                                              "one line for consecutive blocks of one function")(
      "ck", "one line for consecutive blocks of the kernel")(
      "cp", "add jumps into libraries (<plt>) to the line before")(
      "ss", "write the instructions of each line before it")("ssi", "as --ss, with their bytes")(
      "dcnt", "count instructions by disassembling the code, not by the records")(
      ",m", "write only arc, not the reports on ticks");
  add_selection_groups(table);
  table.group("Comparing and checking")(
      "diff", words("A B"),
      "print what takes more and what takes less of the time in B than in A, by process, "
      "module and symbol; A and B are traces, or tprof.json files of post --clip 0 "
      "--json")("budget", text("FILE"),
                "exit with 4 if a process, module or symbol has more ticks than FILE permits; a "
                "line of it is "
                "for example: symbol parse 5%")(
      "strict", "exit with 3 if the trace may be incomplete, for example if records were lost");
  table.group("Messages")("verbose", "print what the trace contains")(
      "verbmsg", "write that and all warnings to post.msg");
  return table;
}

int wrong(const std::string& text) {
  cli::error(text);
  cli::hint("post --help lists the options.");
  return cli::exit_usage;
}

bool parse_selection(const std::string& text, std::array<bool, report_count>& selected) {
  if (text.size() != report_count || text.find_first_not_of("01") != std::string::npos ||
      text.find('1') == std::string::npos)
    return false;
  for (size_t i = 0; i < report_count; ++i) selected[i] = text[i] == '1';
  return true;
}

// What --annotate prints; what is wrong, or nothing.
std::string take_annotation(const cli::Values& given, ReportOptions& options) {
  if (given.has("annotate") && given.text("annotate").empty())
    return "--annotate takes the name of a function.";
  return take_source_path(given, options.source_path);
}

// Parses --bucket: up to a day, in microseconds at least. Returns an error message, or "".
std::string take_bucket(const cli::Values& given, uint64_t& bucket_ns) {
  constexpr double longest = 86400, shortest = 1e-6;
  const std::string text = given.text("bucket");
  double seconds = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (problem != std::errc() || end != text.data() + text.size() ||
      !(seconds == 0 || (seconds >= shortest && seconds <= longest)))
    return "--bucket takes 0 or a number of seconds from 0.000001 to 86400, not '" + text + "'.";
  bucket_ns = static_cast<uint64_t>(std::llround(seconds * 1e9));
  return {};
}

// Parses the options of the page; returns an error message, or "".
std::string take_page(const cli::Values& given, ReportOptions& options) {
  uint64_t number = 0;
  if (given.has("of")) {
    if (!parse_number(given.text("of"), number) || number == 0 || number > INT32_MAX)
      return "--of takes the decimal number of a process, not '" + given.text("of") + "'.";
    options.subject = static_cast<uint32_t>(number);
  }
  if (given.has("lines")) {
    if (!parse_number(given.text("lines"), number) || number > 1'000'000)
      return "--lines takes a whole number from 0 to 1000000, not '" + given.text("lines") + "'.";
    options.page_rows = number;
  }
  return {};
}

// Returns a message on the first report that the selection cannot apply to, or "".
std::string find_misfit(const Options& options) {
  const Selection& selection = options.report.selection;
  const auto first_name = [&](size_t from) -> std::string {
    for (size_t i = from; i < name_kinds; ++i)
      if (selection.names[i].any())
        return (selection.names[i].only.empty() ? "no-" : "") +
               std::string(option_of(static_cast<NameKind>(i)));
    return {};
  };
  const std::string name = first_name(0);
  const std::string code = first_name(static_cast<size_t>(NameKind::module));
  if (options.show && !name.empty())
    return fmt::format(
        "-show writes records of all kinds, of which most belong to no process or code: --{} does "
        "not go with it, --time and --cpus do.",
        name);
  if (options.off_cpu && !code.empty())
    return fmt::format("-offcpu is about threads: --{} does not go with it.", code);
  if (options.off_cpu && selection.cpus.any())
    return "-offcpu is about threads, which wait on no CPU: --cpus does not go with it.";
  if (options.off_cpu && (selection.times.only.size() > 1 || !selection.times.without.empty()))
    return "-offcpu follows threads through one stretch of time: give it one --time, and no "
           "--no-time.";
  if (options.arc && !code.empty())
    return fmt::format(
        "-arc shows the flow from one function to the next: --{} does not go with it.", code);
  if (options.archive && (!name.empty() || selection.cpus.any() || selection.times.any()))
    return "--archive packs the whole trace: select when you make a report from the archive.";
  return {};
}

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// A recording can be a directory.
std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

// "dir/run1.nrm2" -> "run1.tar.zst"
std::string archive_name(std::string trace) {
  if (trace.ends_with(".nrm2")) trace.resize(trace.size() - 5);
  return last_part(trace) + ".tar.zst";
}

// Returns an error message, or "".
std::string take_privacy(const cli::Values& given, Options& options) {
  if (given.has("hash-key")) options.hash_key = given.text("hash-key");
  for (const auto& [name, kinds] : {std::pair("omit", &options.report.privacy.omitted),
                                    std::pair("hash", &options.report.privacy.hashed)}) {
    if (!given.has(name)) continue;
    auto parsed = parse_private_kinds(given.text(name));
    if (!parsed) return fmt::format("--{}: {}", name, parsed.error().message);
    *kinds = std::move(*parsed);
  }
  const Privacy& privacy = options.report.privacy;
  if (privacy.omitted.contains(PrivateKind::host))
    return "--omit does not go with host, which tells the tables of hosts apart: --hash does.";
  for (const PrivateKind kind : privacy.omitted)
    if (privacy.hashed.contains(kind)) return "a kind of names is left out or hashed, not both.";
  return "";
}

// Returns an error message, or "".
std::string take_fleet(const cli::Values& given, Options& options) {
  constexpr uint64_t fleet_bucket = 600'000'000'000;
  if (options.fleet && !given.given("bucket")) options.bucket_ns = fleet_bucket;
  const std::string& rare = given.text("rare");
  if (!parse_number(rare, options.rare_below) || options.rare_below == 0)
    return "--rare takes a number of ticks from 1, not '" + rare + "'.";
  if (options.fleet && options.fleet->empty()) return "--fleet takes the name of a folder.";
  // As names that are found later.
  if (options.fleet) options.symbols.demangle = true;
  return take_privacy(given, options);
}

bool exports_to(const cli::Values& given, std::string_view format) {
  return std::ranges::find(given.words("export"), format) != given.words("export").end();
}

// Returns a message on the first pair of options that contradict each other, or "".
std::string find_conflict(const cli::Values& given) {
  const auto has = [&](const char* name) { return given.given(name); };
  if (given.has("diff"))
    for (const char* other :
         {"-r",   "show",   "showx",  "showxx",  "showt",  "rsel",   "off",    "disasm",
          "-x",   "pnm",    "tnm",    "cpu",     "tmod",   "compat", "budget", "verbmsg",
          "tree", "folded", "export", "threads", "offcpu", "arc",    "page",   "annotate"})
      if (has(other))
        return fmt::format("--diff does not go with -{}.", other + (other[0] == '-' ? 1 : 0));
  if (given.has("archive"))
    for (const char* other :
         {"json", "show", "showx", "showxx", "showt", "-x", "budget", "diff", "tree", "folded",
          "export", "offcpu", "disasm", "arc", "page", "annotate", "html"})
      if (has(other))
        return fmt::format("--archive writes no reports and does not go with -{}.",
                           other + (other[0] == '-' ? 1 : 0));
  if (given.has("archive-files") && !given.has("archive"))
    return "--archive-files goes with --archive.";
  if (given.has("import") && (given.has("trace") || has("-r") || has("diff")))
    return "--import makes the trace file: name no other.";
  if (given.has("event") && !given.has("import")) return "--event goes with --import.";
  if (given.has("trace") && has("-r")) return "the trace is named twice: by -r and without it.";
  if (given.has("trace") && has("diff")) return "--diff takes two files, and no other.";
  if (given.has("threads") && !given.has("tree") && !given.has("folded") && !given.has("export"))
    return "-threads goes with -tree, -folded or --export.";
  if (given.has("with-source") && !given.has("html")) return "--with-source goes with --html.";
  if (given.has("with-data") && !given.has("html")) return "--with-data goes with --html.";
  if (given.has("source-path") && !given.has("annotate") && !given.has("with-source"))
    return "--source-path goes with --annotate or --with-source.";
  if (has("fleet"))
    for (const char* other : {"diff", "archive", "showx", "showxx", "arc"})
      if (has(other)) return fmt::format("--fleet does not go with --{}.", other);
  if (has("fleet") && exports_to(given, "parquet"))
    return "--fleet does not go with --export parquet.";
  if (given.given("bucket") && !exports_to(given, "parquet") && !has("fleet"))
    return "--bucket goes with --export parquet or --fleet.";
  for (const char* option : {"omit", "hash", "hash-key"})
    if (has(option) && !has("fleet") && !exports_to(given, "otlp") && !exports_to(given, "pprof"))
      return fmt::format("--{} goes with --fleet, --export otlp or --export pprof.", option);
  if (has("omit") || has("hash"))
    for (const std::string& format : given.words("export"))
      if (format != "otlp" && format != "pprof")
        return fmt::format("--export {} keeps all names: --omit and --hash do not go with it.",
                           format);
  if (given.given("rare") && !has("fleet")) return "--rare goes with --fleet.";
  if (has("hash") != has("hash-key")) return "--hash and --hash-key go together.";
  for (const char* form : {"-c", "ck", "cp", "ss", "ssi", "dcnt", "-m"})
    if (has(form) && !has("arc"))
      return fmt::format("-{} goes with -arc.", form + (form[0] == '-' ? 1 : 0));
  if (given.has("showx") || given.has("showxx"))
    for (const char* other : {"json", "-x", "budget", "tree", "folded", "export", "offcpu",
                              "disasm", "arc", "page", "annotate", "html"})
      if (has(other))
        return fmt::format("-{} needs the reports, which -showx and -showxx leave out.",
                           other[0] == '-' ? other + 1 : fmt::format("-{}", other));
  return {};
}

Options take_options(const cli::Values& given) {
  const auto has = [&](const char* name) { return given.has(name); };
  const auto text = [&](const char* name) { return has(name) ? given.text(name) : std::string(); };
  Options options;
  options.trace_file = has("trace") ? given.words("trace").front() : text("-r");
  options.directory = text("-o");
  if (has("import")) {
    options.import = without_slashes(text("import"));
    options.import_event = text("event");
    options.trace_file = options.output(last_part(*options.import) + ".nrm2");
  }
  options.show_seconds = has("showt");
  options.show = has("show") || has("showx") || has("showxx") || options.show_seconds;
  options.show_raw = has("showxx");
  options.tprof = !has("showx") && !has("showxx");
  if (has("json")) options.json = text("json");
  if (options.json == usual_json) options.json = has("diff") ? "tprof.diff.json" : "tprof.json";
  if (has("html")) options.html = text("html");
  if (options.html == usual_html) options.html = has("diff") ? "tprof.diff.html" : "tprof.html";
  options.page = has("page");
  options.tree = has("tree");
  options.folded = has("folded");
  options.exports = given.words("export");
  options.off_cpu = has("offcpu");
  options.report.calls_by_thread = has("threads");
  options.verbose = has("verbose");
  options.message_file = has("verbmsg");
  options.strict = has("strict");
  if (has("-x")) options.extra_reports_file = text("-x");
  if (has("budget")) options.budget_file = text("budget");
  options.report.offsets = has("off");
  options.report.disassembly = has("disasm");
  options.micro = has("off") || has("disasm");
  options.arc = has("arc");
  options.arc_form = {has("-c"),  has("ck"),   has("cp"),  has("ss") || has("ssi"),
                      has("ssi"), has("dcnt"), has("tmod")};
  if (has("fleet")) options.fleet = text("fleet");
  if (has("-m") || has("fleet")) options.tprof_out = false;
  options.report.annotate = text("annotate");
  options.report.with_source = has("with-source");
  options.report.data_files = given.words("with-data");
  options.symbols.code = options.micro || options.arc || has("annotate") || has("html");
  options.report.mode_line = !has("compat");
  options.report.labels = {has("pnm"), has("tnm"), has("cpu")};
  options.symbols.section_names = has("compat");
  options.symbols.module_width = has("tmod");
  options.archive_files = has("archive-files");
  if (has("archive")) options.archive = text("archive");
  if (options.archive == usual_archive) options.archive = archive_name(options.trace_file);
  return options;
}

}  // namespace

bool ReportOptions::needs_offsets() const {
  return offsets || std::ranges::any_of(extra, [](const ReportKind& kind) {
           return std::ranges::find(kind.levels, Level::offset) != kind.levels.end();
         });
}

std::string Options::output(const std::string& name) const {
  return name.starts_with('/') || directory == "." ? name : directory + "/" + name;
}

bool Options::exports_to(std::string_view format) const {
  return std::ranges::find(exports, format) != exports.end();
}

std::variant<Options, int> parse_options(const std::vector<std::string>& arguments) {
  for (const std::string& word : arguments) {
    if (word == "--") break;
    if (const UnsupportedOption* option = find_unsupported(word))
      return wrong(fmt::format("-{} is not supported: {}; {}.", option->name, option->reason,
                               option->instead));
  }
  const cli::OptionTable::Outcome outcome = option_table().parse(arguments);
  if (outcome.exit) return *outcome.exit;
  const cli::Values& given = outcome.values;
  if (const std::string conflict = find_conflict(given); !conflict.empty()) return wrong(conflict);
  Options options = take_options(given);
  const std::string& clip = given.text("clip");
  const std::optional<double> percent = percent_from(clip);
  if (!percent) return wrong("-clip takes a percentage from 0 to 100, not '" + clip + "'.");
  options.report.clip_percent = *percent;
  if (given.has("rsel") && !parse_selection(given.text("rsel"), options.report.selected))
    return wrong("-rsel takes eight digits, 0 or 1 and at least one 1, not '" + given.text("rsel") +
                 "'.");
  if (const std::string problem =
          take_selection_options(given, options.report.selection, options.symbols);
      !problem.empty())
    return wrong(problem);
  if (const std::string problem = find_misfit(options); !problem.empty()) return wrong(problem);
  if (const std::string problem = take_bucket(given, options.bucket_ns); !problem.empty())
    return wrong(problem);
  if (const std::string problem = take_page(given, options.report); !problem.empty())
    return wrong(problem);
  if (const std::string problem = take_annotation(given, options.report); !problem.empty())
    return wrong(problem);
  for (const std::string& format : options.exports)
    if (std::ranges::find(export_formats, format) == export_formats.end())
      return wrong(fmt::format("--export takes one of {}, not '{}'.",
                               fmt::join(export_formats, ", "), printable(format)));
  if (given.has("diff")) {
    const Words& files = given.words("diff");
    if (files.size() != 2) return wrong("--diff takes two files: the old and the new one.");
    options.compared = {files[0], files[1]};
  }
  if (const std::string problem = take_fleet(given, options); !problem.empty())
    return wrong(problem);
  if (options.archive && options.archive->empty())
    return wrong("--archive= takes the name of a file.");
  if (options.import && last_part(*options.import).empty())
    return wrong("--import takes the name of a file.");
  if (options.directory.empty()) return wrong("-o takes the name of a directory.");
  if (options.json && options.json->empty()) return wrong("--json= takes the name of a file.");
  if (options.html && options.html->empty()) return wrong("--html= takes the name of a file.");
  return options;
}

}  // namespace post
