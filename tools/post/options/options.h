// SPDX-License-Identifier: MIT
// Parses post's command line.
#ifndef POST_OPTIONS_H
#define POST_OPTIONS_H

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/report_kind.h"
#include "arc/arc_options.h"
#include "read/selection.h"
#include "text/labels.h"
#include "text/private_names.h"

namespace post {

constexpr size_t report_count = 8;

// The values of --export.
constexpr std::array<std::string_view, 10> export_formats = {
    "callgrind", "chrome",      "ctf",      "firefox", "otlp",
    "parquet",   "perf-script", "perfetto", "pprof",   "speedscope"};

// The file of -verbmsg.
constexpr const char* message_file_name = "post.msg";

struct ReportOptions {
  double clip_percent = 0.1;
  LabelOptions labels = {};
  std::array<bool, report_count> selected = {true, true, true, true, true, true, true, true};
  bool offsets = false;                // -off
  std::vector<ReportKind> extra = {};  // described in the file of -x
  bool mode_line = true;               // not with -compat
  bool calls_by_thread = false;        // -threads
  bool micro_by_thread = false;        // post top
  bool disassembly = false;            // -disasm: in tprof.micro
  Selection selection = {};
  std::optional<uint32_t> subject = {};       // --of: the process that the page describes
  std::optional<size_t> page_rows = {};       // --lines
  std::string annotate = {};                  // the functions whose source is printed; empty: none
  std::vector<std::string> source_path = {};  // --source-path: directories
  bool with_source = false;                   // --with-source: in the HTML page
  std::vector<std::string> data_files = {};   // --with-data: for the HTML page
  Privacy privacy = {};                       // --omit, --hash: for --fleet, otlp and pprof

  // Whether a report needs to know where in a symbol a tick fell.
  bool needs_offsets() const;
};

struct SymbolRangeOption {
  std::string module;
  std::string first;
  std::string last;
  std::string name;
};

struct SymbolOptions {
  std::string kernel_image;      // -k; empty: none
  bool running_kernel = false;   // -kas
  bool plain_no_symbol = false;  // -nsf
  bool section_names = false;    // -compat: functions without symbols are not distinguished
  std::string search_path;       // -sympath; empty: none
  bool demangle = false;
  bool module_width = false;              // -tmod
  std::string kernel_map;                 // -kmap; empty: none
  std::string saved_symbols;              // -lmrg; empty: none
  bool validate = true;                   // not with -nv
  bool any_symbol = false;                // -anysym
  bool report_sources = false;            // -a2ndbg
  bool rename_duplicates = false;         // -a2nrdup
  std::vector<SymbolRangeOption> ranges;  // -a2nrng
  std::string range_file;                 // -a2nrfn; empty: none
  std::string log_prefix;                 // -jdir; empty: beside the trace
  bool report_logs = false;               // -jita2nmsg
  std::string dynamic_code_name;          // -a2nmmi; empty: each piece by its own
  bool inlined = false;                   // -inline
  bool code = false;                      // read bytes of code: -off, -disasm

  // Whether an option names a source of symbols; such options are not allowed with an archive.
  bool sources_given() const {
    return running_kernel || !validate || !kernel_image.empty() || !search_path.empty() ||
           !kernel_map.empty() || !saved_symbols.empty();
  }
};

struct Options {
  std::string trace_file = "swtrace.nrm2";
  std::string directory = ".";
  bool tprof = true;      // reports, and not -showx
  bool tprof_out = true;  // not with -m
  bool show = false;
  bool show_raw = false;
  bool show_seconds = false;            // -showt
  std::optional<std::string> json;      // path of the JSON file
  std::optional<std::string> html;      // path of the HTML page
  bool tree = false;                    // tprof.tree
  bool folded = false;                  // tprof.folded
  std::vector<std::string> exports;     // formats
  uint64_t bucket_ns = 1'000'000'000;   // --bucket
  std::optional<std::string> fleet;     // --fleet: a folder
  uint64_t rare_below = 1;              // --rare: ticks of a call path
  std::optional<std::string> hash_key;  // --hash-key: a file
  // The paths of its tables, once known.
  std::optional<std::string> fleet_records, fleet_paths, fleet_stacks, fleet_frames;
  bool off_cpu = false;  // tprof.offcpu
  bool micro = false;    // tprof.micro: -off, -disasm
  bool arc = false;      // the file arc
  ArcOptions arc_form;
  bool page = false;  // on the standard output
  bool verbose = false;
  bool message_file = false;  // -verbmsg
  bool strict = false;
  std::optional<std::string> extra_reports_file;  // -x
  std::optional<std::string> budget_file;
  std::optional<std::pair<std::string, std::string>> compared;  // the files of --diff
  std::optional<std::string> import;   // a recording of perf, to be converted first
  std::string import_event;            // --event; empty: the first one
  std::optional<std::string> archive;  // path of the archive to write; no reports then
  bool archive_files = false;
  ReportOptions report;
  SymbolOptions symbols;

  bool exports_to(std::string_view format) const;
  // Whether code and names are looked up when the trace has been read, of processes that have
  // ended.
  bool looks_back() const { return html || micro || arc || archive || !report.annotate.empty(); }
  // Whether ticks are counted by process and thread for reports, beside those that do it
  // themselves.
  bool counts_by_process() const {
    return !fleet || tprof_out || json || html || micro || page || budget_file || compared ||
           report.subject || !report.annotate.empty();
  }
  // The path of an output file: in the directory unless it is absolute.
  std::string output(const std::string& name) const;
};

// Returns the options, or the exit status after --help or wrong usage.
std::variant<Options, int> parse_options(const std::vector<std::string>& arguments);

}  // namespace post

#endif  // POST_OPTIONS_H
