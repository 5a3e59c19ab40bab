// SPDX-License-Identifier: MIT
// A trace file read from end to end, and its ticks with the names that liba2n has for them.
#include "analysis.h"

#include <a2n.h>
#include <cli.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <optional>

#include "read/trace_archive.h"
#include "report/report_arc.h"
#include "report/report_show.h"

namespace post {
namespace {

// One line on the terminal, overwritten; silent elsewhere.
class ProgressLine {
 public:
  ~ProgressLine() {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }
  void show(uint64_t records, double share) {
    if (!terminal_) return;
    fmt::print(stderr, "\rpost: {} million records, {:.0f} %", records >> 20, 100 * share);
    shown_ = true;
  }

 private:
  const bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
};

// A trace's addresses of the kernel hold for one boot of one kernel.
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
  pi::UniqueFd unpacked;
  if (is_archive(run.path)) {
    auto content = unpack_archive(run.path, run.scratch);
    if (!content) return content.error();
    unpacked = std::move(content->trace);
    run.saved_symbols = std::move(content->symbols);
    run.logs = std::move(content->logs);
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

pi::Status read_records(TraceRun& run, const Options& options, Subscriptions subscriptions) {
  std::unique_ptr<OutputFile> show_file;
  std::optional<ShowReport> show;
  if (options.show) {
    auto created = OutputFile::create(options.output("post.show"), 0600);
    if (!created) return created.error();
    show_file = std::move(*created);
    show.emplace(*show_file, options.show_raw).subscribe(subscriptions);
  }
  ProgressLine line;
  run.totals = run_pipeline(*run.source, run.file, run.damage, options.report.selection,
                            subscriptions, [&](uint64_t records, double share) {
                              line.show(records, share);
                              return !show || show->good();
                            });
  run.losses = sum_losses(run.file);
  if (!show) return {};
  show->finish();
  return show_file->commit();
}

TickAnalysis::TickAnalysis(TraceRun& run, const Options& options)
    : run_(run),
      options_(options),
      processes_(symbolizer_, names_),
      ticks_(processes_, symbolizer_, names_,
             {options.report.labels, options.report.needs_offsets(), options.symbols.module_width,
              options.symbols.inlined}) {
  const Resolver::Options frames{options.symbols.module_width, options.symbols.inlined};
  const StackSource stacks = stack_source(run.file.info);
  if (options.needs_calls())
    calls_.emplace(
        processes_, symbolizer_, names_,
        CallTree::Options{options.report.labels, options.report.calls_by_thread, frames, stacks});
  if (options.off_cpu)
    off_cpu_.emplace(processes_, symbolizer_, names_,
                     OffCpu::Options{options.report.labels, frames, stacks});
  if (options.micro) micro_.emplace(processes_, symbolizer_, names_, frames);
}

pi::Status TickAnalysis::read() {
  if (options_.symbols.running_kernel) check_running_kernel(run_.file.info);
  if (const auto status = symbolizer_.configure(run_.file, run_.path, options_.symbols,
                                                run_.saved_symbols ? run_.saved_symbols.get() : -1);
      !status)
    return status;
  if (run_.saved_symbols) symbolizer_.use_logs(run_.logs);
  if (!symbolizer_.damage().empty()) run_.damage.add(symbolizer_.damage(), 0);
  if (const pi::Status begun = begin_arc(); !begun) return begun;
  collect_fallback_names(*run_.source, run_.file, processes_);
  Subscriptions subscriptions;
  ticks_.subscribe(subscriptions);
  processes_.subscribe(subscriptions);
  if (calls_) calls_->subscribe(subscriptions);
  if (off_cpu_) off_cpu_->subscribe(subscriptions);
  if (micro_) micro_->subscribe(subscriptions);
  if (arc_) arc_->subscribe(subscriptions);
  const pi::Status status = read_records(run_, options_, std::move(subscriptions));
  A2nSymbolizer::add_damage(run_.damage);
  for (const std::string& source : A2nSymbolizer::sources())
    fmt::print(stderr, "post: {}\n", source);
  for (const std::string& text : symbolizer_.log_messages()) fmt::print(stderr, "post: {}\n", text);
  return status;
}

// It is as private as the trace: it tells all that a thread did.
pi::Status TickAnalysis::begin_arc() {
  if (!options_.arc) return {};
  auto created = OutputFile::create(options_.output("arc"), 0600);
  if (!created) return created.error();
  arc_file_ = std::move(*created);
  kernel_code_.load(*run_.source, run_.file.kernel_code, run_.damage);
  arc_.emplace(processes_, symbolizer_, names_, kernel_code_, *arc_file_, options_.arc_form);
  arc_->put_head(arc_head(run_.file, options_.arc_form, {}));
  return {};
}

pi::Status TickAnalysis::finish_arc(const Summary& summary) {
  arc_file_->write(arc_end(summary, arc_->totals()));
  arc_file_->rewrite(0, arc_head(run_.file, options_.arc_form, arc_->totals()));
  return arc_file_->commit();
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

Summary TickAnalysis::summary() {
  return {run_.file,
          run_.totals,
          ticks_.tree(),
          names_,
          run_.damage,
          options_.report,
          ticks_.totals(),
          run_.losses,
          symbolizer_.notes(),
          processes_.lives(),
          {},
          calls(),
          off_cpu(),
          micro(),
          arc_ ? &arc_->totals() : nullptr};
}

}  // namespace post
