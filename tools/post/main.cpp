// SPDX-License-Identifier: MIT
// post: reads a trace file, writes tprof.out, post.show and tprof.json.
#include <cli.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <exception>
#include <new>
#include <optional>

#include "a2n_symbolizer.h"
#include "file_source.h"
#include "labels.h"
#include "options.h"
#include "output_file.h"
#include "pipeline.h"
#include "report_json.h"
#include "report_tprof.h"

namespace {

using namespace post;
namespace cli = pi::cli;

int fail(const pi::Error& problem) {
  cli::error(problem.message);
  return cli::exit_failure;
}

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
  cli::warning(
      fmt::format("-kas takes the symbols of the running kernel {}, but the trace was made "
                  "on {}: names of the kernel will be wrong.",
                  running.release, info.kernel));
}

void report_verbose(const TraceFile& file, const RecordTotals& totals) {
  for (const StreamLayout& layout : file.streams)
    fmt::print(stderr, "post: {}: {} sections, {} bytes\n", buffer_name(layout.key),
               layout.extents.size(), layout.size());
  for (size_t major = 0; major < totals.by_major.size(); ++major)
    if (totals.by_major[major] != 0)
      fmt::print(stderr, "post: major {:02X}: {} records\n", major, totals.by_major[major]);
}

// For someone inside a container, who knows its processes by other ids.
void report_inner(const std::deque<Life>& lives, const StringTable& names) {
  for (const Life& life : lives) {
    if (life.pid_namespace == 0 && life.inner_pid == 0) continue;
    const std::string inside =
        life.inner_pid == 0 ? "an id not known" : fmt::format("process {}", life.inner_pid);
    fmt::print(stderr, "post: {} is {} in pid namespace {}\n",
               process_label(life.pid, names.text(life.name), 0, {}), inside, life.pid_namespace);
  }
}

void report_damage(const std::string& path, const DamageLog& damage) {
  for (const std::string& message : damage.messages()) cli::warning(path + ": " + message + ".");
  if (const uint64_t more = damage.places() - damage.messages().size(); more != 0)
    cli::warning(fmt::format("{}: and {} more places are damaged.", path, more));
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

int report_no_ticks(const std::string& path, const Losses& losses, const RecordTotals& totals) {
  cli::error(
      fmt::format("{} holds no ticks ({} records of other kinds); there is nothing to report.",
                  path, totals.records));
  if (losses.lost() != 0)
    cli::hint(fmt::format("{} records were lost ({}).", losses.lost(), lost_reasons(losses.total)));
  cli::hint(
      "The majors must be enabled (swtrace enable tprof) and the trace be on for some ticks.");
  return cli::exit_failure;
}

// The trace file and what is made of it, in the order of main().
struct Run {
  Options options;
  std::unique_ptr<FileSource> source;
  DamageLog damage;
  TraceFile file;
};

pi::Status open_trace(Run& run) {
  auto source = FileSource::open(run.options.trace_file);
  if (!source) return source.error();
  run.source = std::move(*source);
  auto file = read_layout(*run.source, run.damage);
  if (!file) return pi::Error{-1, run.options.trace_file + ": " + file.error().message};
  run.file = std::move(*file);
  return {};
}

// post.show is written while the records are read.
pi::Result<RecordTotals> read_records(Run& run, Consumers consumers) {
  const Options& options = run.options;
  std::unique_ptr<OutputFile> show_file;
  std::optional<ShowReport> show;
  if (options.show) {
    auto created = OutputFile::create(options.output("post.show"), 0600);
    if (!created) return created.error();
    show_file = std::move(*created);
    consumers.show = &show.emplace(*show_file, options.show_raw);
  }
  ProgressLine line;
  const RecordTotals totals = run_pipeline(*run.source, run.file, run.damage, consumers,
                                           [&](uint64_t records, double share) {
                                             line.show(records, share);
                                             return !show || show->good();
                                           });
  if (!show) return totals;
  show->finish();
  if (const pi::Status status = show_file->commit(); !status) return status.error();
  return totals;
}

// A file that ends early because the disk was full is in good order and yet incomplete.
int exit_status(const Run& run) {
  const std::string& ended = run.file.info.ended;
  const bool whole = !run.damage.any() && ended != "disk full" && ended != "running";
  return whole ? cli::exit_good : cli::exit_damaged;
}

int make_tprof(Run& run) {
  const Options& options = run.options;
  A2nSymbolizer symbolizer;
  if (options.symbols.running_kernel) check_running_kernel(run.file.info);
  if (const auto status = symbolizer.configure(run.file, options.trace_file, options.symbols);
      !status)
    return fail(status.error());
  StringTable names;
  Processes processes(symbolizer, names);
  TickCounter ticks(processes, symbolizer, names, {options.report.labels, options.report.offsets});
  const auto totals = read_records(run, {&processes, &ticks, nullptr});
  if (!totals) return fail(totals.error());
  if (options.verbose) {
    report_verbose(run.file, *totals);
    report_inner(processes.lives(), names);
  }
  report_damage(options.trace_file, run.damage);
  const Summary summary{run.file,           *totals,          ticks.tree(),   names,
                        run.damage,         options.report,   ticks.totals(), sum_losses(run.file),
                        symbolizer.notes(), processes.lives()};
  if (summary.ticks.ticks == 0) return report_no_ticks(options.trace_file, summary.losses, *totals);
  for (const auto& [lead, text] : loss_sentences(run.file, summary.losses))
    cli::warning(lead + ": " + text);
  if (const pi::Status status = write_reports(summary, options); !status)
    return fail(status.error());
  return exit_status(run);
}

int make_show(Run& run) {
  const auto totals = read_records(run, {});
  if (!totals) return fail(totals.error());
  if (run.options.verbose) report_verbose(run.file, *totals);
  report_damage(run.options.trace_file, run.damage);
  return exit_status(run);
}

int run_post(const std::vector<std::string>& arguments) {
  auto parsed = parse_options(arguments);
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  Run run{std::get<Options>(std::move(parsed)), nullptr, {}, {}};
  if (const pi::Status status = open_trace(run); !status) return fail(status.error());
  remove_unfinished_on_signals();
  return run.options.tprof ? make_tprof(run) : make_show(run);
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
