// SPDX-License-Identifier: MIT
// Reads a trace file from end to end and counts its ticks by the names that liba2n returns.
#include "analysis.h"

#include <a2n.h>
#include <cli.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>

#include "read/trace_archive.h"
#include "report/subject.h"

namespace post {
namespace {

// Shows progress in one line of a terminal; prints nothing if the output is not a terminal.
class ProgressLine {
 public:
  ~ProgressLine() {
    if (shown_) pi::cli::to_stderr("\r\033[K");
  }
  void show(uint64_t records, double share) {
    if (!terminal_) return;
    pi::cli::to_stderr(
        fmt::format("\rpost: {} million records, {:.0f} %", records >> 20, 100 * share));
    shown_ = true;
  }

 private:
  const bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
};

// Kernel addresses in a trace are valid for one boot of one kernel.
void check_running_kernel(const TraceInfo& info) {
  utsname running{};
  if (::uname(&running) != 0 || info.kernel.empty() || info.kernel == running.release) return;
  pi::cli::warning(
      fmt::format("-kas takes the symbols of the running kernel {}, but the trace was made "
                  "on {}: names of the kernel will be wrong.",
                  running.release, info.kernel));
}

}  // namespace

pi::Status open_trace(TraceRun& run) {
  OutputFile::keep(run.path);
  pi::UniqueFd unpacked;
  if (is_archive(run.path)) {
    auto content = unpack_archive(run.path, run.scratch);
    if (!content) return content.error();
    unpacked = std::move(content->trace);
    run.saved_symbols = std::move(content->symbols);
    run.logs = std::move(content->logs);
    run.packages = std::move(content->packages);
    if (!content->damage.empty())
      run.damage.add("the archive is damaged or cut off: " + content->damage, 0);
  }
  auto source =
      unpacked ? FileSource::from_fd(std::move(unpacked), run.path) : FileSource::open(run.path);
  if (!source) return source.error();
  run.source = std::move(*source);
  auto file = read_layout(*run.source, run.damage);
  if (!file) return pi::Error{-1, run.path + ": " + file.error().message};
  run.file = std::move(*file);
  return {};
}

pi::Status open_growing_trace(TraceRun& run) {
  if (const pi::Status opened = open_trace(run); !opened) return opened;
  if (run.file.info.ended != "running" || !run.damage.any()) return {};
  const uint64_t end = end_of_whole_sections(*run.source);
  if (end == run.source->size() || end == 0) return {};
  run.source->shorten(end);
  run.damage = {};
  auto file = read_layout(*run.source, run.damage);
  if (!file) return pi::Error{-1, run.path + ": " + file.error().message};
  run.file = std::move(*file);
  return {};
}

TickAnalysis::TickAnalysis(TraceRun& run, const Options& options)
    : run_(run),
      options_(options),
      processes_(symbolizer_, names_),
      ticks_(processes_, symbolizer_, names_,
             {.labels = options.report.labels,
              .offsets = options.report.needs_offsets(),
              .module_width = options.symbols.module_width,
              .inlined = options.symbols.inlined,
              .totals_only = !options.counts_by_process()}),
      filter_(make_name_filter(options.report.selection, processes_, symbolizer_, names_,
                               {options.symbols.inlined})) {}

pi::Status TickAnalysis::use_symbols() {
  if (options_.symbols.running_kernel) check_running_kernel(run_.file.info);
  if (const auto status = symbolizer_.configure(run_.file, run_.path, options_.symbols,
                                                run_.saved_symbols ? run_.saved_symbols.get() : -1);
      !status)
    return status;
  if (run_.saved_symbols) symbolizer_.use_logs(run_.logs);
  if (!symbolizer_.damage().empty()) run_.damage.add(symbolizer_.damage(), 0);
  return {};
}

// Before the trace is read, so that an error is reported at once.
pi::Status TickAnalysis::read_tables() {
  if (!options_.html) return {};
  for (const std::string& path : options_.report.data_files) {
    OutputFile::keep(path);
    auto tables = read_html_tables(path);
    if (!tables) return tables.error();
    std::ranges::move(*tables, std::back_inserter(tables_));
  }
  return {};
}

pi::Status TickAnalysis::read(const std::function<bool()>& stop) {
  if (const pi::Status status = read_tables(); !status) return status;
  if (const pi::Status status = OutputFile::check(report_paths(options_)); !status) return status;
  if (options_.tprof)
    if (const pi::Status status = use_symbols(); !status) return status;
  const ReportContext context{options_,    *run_.source, run_.file, run_.damage,  processes_,
                              symbolizer_, names_,       SIZE_MAX,  filter_.get()};
  const auto open_file = [this](const Report& report) { return open(report); };
  if (const pi::Status made = subscribers_.make(context, open_file); !made) return made;
  Subscriptions subscriptions;
  if (options_.tprof) {
    collect_fallback_names(*run_.source, run_.file, processes_);
    if (!options_.looks_back()) processes_.release_ended();
    ticks_.subscribe(subscriptions);
    processes_.subscribe(subscriptions);
    if (filter_) filter_->subscribe(subscriptions);
  }
  subscribers_.subscribe(subscriptions);
  const pi::Status status = read_records(subscriptions, stop);
  if (!options_.tprof) return status;
  A2nSymbolizer::add_damage(run_.damage);
  for (const std::string& source : A2nSymbolizer::sources())
    pi::cli::to_stderr(fmt::format("post: {}\n", source));
  for (const std::string& text : symbolizer_.log_messages())
    pi::cli::to_stderr(fmt::format("post: {}\n", text));
  return status;
}

pi::Result<Sink*> TickAnalysis::open(const Report& report) {
  const std::string path = report.path(options_);
  auto created = report.in_folder ? OutputFile::create_in_folder(path, report.mode)
                                  : OutputFile::create(path, report.mode);
  if (!created) return created.error();
  return (files_[&report] = std::move(*created)).get();
}

pi::Status TickAnalysis::commit(const Report& report) {
  const std::unique_ptr<OutputFile> file = std::move(files_[&report]);
  files_.erase(&report);
  return file->commit();
}

// Ends early when a report that is streamed cannot be written.
pi::Status TickAnalysis::read_records(const Subscriptions& subscriptions,
                                      const std::function<bool()>& stop) {
  const auto all_good = [this] {
    return std::ranges::all_of(files_, [](const auto& file) { return file.second->good(); });
  };
  ProgressLine line;
  run_.totals = run_pipeline(*run_.source, run_.file, run_.damage, options_.report.selection,
                             subscriptions, [&](uint64_t records, double share) {
                               line.show(records, share);
                               return all_good() && !(stop && stop());
                             });
  run_.losses = sum_losses(run_.file);
  for (const Report& report : reports()) {
    const auto file = files_.find(&report);
    if (file == files_.end() || (report.write && file->second->good())) continue;
    if (const pi::Status status = commit(report); !status) return status;
  }
  return {};
}

// The files appear together: each is on the disk before the first has its name.
pi::Status TickAnalysis::write_reports(const Summary& summary) {
  std::vector<const Report*> written;
  for (const Report& report : reports()) {
    if (!report.write || !is_made(report, options_, summary)) continue;
    if (!report.streamed)
      if (const auto opened = open(report); !opened) return opened.error();
    report.write(summary, *files_.at(&report));
    const uint64_t bytes =
        report.text_bytes ? report.text_bytes(summary) : files_.at(&report)->size();
    if (const pi::Status status = files_.at(&report)->complete(); !status) return status;
    written.push_back(&report);
    if (const std::string text = report.viewer_warning(report.path(options_), bytes); !text.empty())
      pi::cli::warning(text);
  }
  const SignalsWait renamed_together;
  for (const Report* report : written)
    if (const pi::Status status = commit(*report); !status) return status;
  return {};
}

std::vector<Hint> TickAnalysis::hints(const Summary& summary) const {
  // On a busy machine other programs have more ticks without a name.
  const Subject subject(summary);
  std::set<std::string> own;
  for (const Leaf& leaf : summary.tree.leaves())
    if (leaf.ticks != 0 && subject.contains(leaf.origin)) own.insert(process_name(leaf, summary));
  return make_hints(
      summary.tree, summary.names, options_.report.labels, summary.symbol_notes,
      [this](const std::vector<std::string>& paths) {
        return run_.saved_symbols ? run_.packages : find_packages(paths);
      },
      own, summary.find<CallTree>());
}

Packages TickAnalysis::packages() const {
  return run_.saved_symbols ? run_.packages
                            : find_packages(files_without_names(ticks_.tree(), names_));
}

pi::Status TickAnalysis::save_symbols(int fd) {
  if (A2nSaveTraceSymbols(fd) == A2N_SUCCESS) return {};
  return pi::Error{-1, fmt::format("the symbols cannot be saved: {}.", A2nGetErrorText())};
}

std::vector<std::string> TickAnalysis::symbol_files() {
  std::vector<std::string> files;
  for (size_t i = 0; const char* path = A2nGetSymbolFile(i); ++i) files.emplace_back(path);
  return files;
}

pi::Result<pi::UniqueFd> TickAnalysis::open_symbol_file(size_t index) {
  int fd = -1;
  if (A2nOpenSymbolFile(index, &fd) == A2N_SUCCESS) return pi::UniqueFd(fd);
  return pi::Error{-1, fmt::format("cannot pack {}.", A2nGetErrorText())};
}

std::vector<std::string> TickAnalysis::selection_remarks() const {
  return filter_ ? filter_->remarks(leaves_all_records(options_.report.selection))
                 : std::vector<std::string>();
}

Summary TickAnalysis::summary() {
  Summary summary{run_.file,
                  run_.totals,
                  ticks_.tree(),
                  names_,
                  run_.damage,
                  options_.report,
                  ticks_.totals(),
                  run_.losses,
                  symbolizer_.notes(),
                  processes_.lifetimes(),
                  {},
                  subscribers_.all(),
                  selection_remarks(),
                  &symbolizer_};
  summary.tables = &tables_;
  return summary;
}

}  // namespace post
