// SPDX-License-Identifier: MIT
// post top: the browser of a trace on the terminal.
#include "top_tool.h"

#include <cli.h>
#include <langinfo.h>
#include <locale.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "analysis.h"
#include "options/top_options.h"
#include "top/run_browser.h"

namespace post {
namespace {

namespace cli = pi::cli;

// The trace at a path, read with liba2n.
class TraceFeed final : public top::Feed {
 public:
  explicit TraceFeed(const Options& options) : options_(options) {}

  const std::string& path() const override { return options_.trace_file; }
  bool changed() override { return stamp_of(options_.trace_file) != stamp_; }
  const Summary& summary() const override { return *summary_; }
  bool recording() const override { return run_->file.info.ended == "running"; }

  pi::Status read(const std::function<bool()>& stop) override {
    const std::optional<Stamp> stamp = stamp_of(options_.trace_file);
    auto run = std::make_unique<TraceRun>();
    run->path = options_.trace_file;
    if (const pi::Status opened = open_growing_trace(*run); !opened) return opened;
    // liba2n's default context is global: end the previous analysis first.
    summary_.reset();
    analysis_.reset();
    run_ = std::move(run);
    analysis_ = std::make_unique<TickAnalysis>(*run_, options_);
    if (const pi::Status status = analysis_->read(stop); !status)
      throw std::runtime_error(status.error().message);
    summary_.emplace(analysis_->summary());
    stamp_ = stamp;
    return {};
  }

 private:
  struct Stamp {
    uint64_t device, inode, size;
    int64_t seconds, nanoseconds;
    bool operator==(const Stamp&) const = default;
  };

  static std::optional<Stamp> stamp_of(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return {};
    return Stamp{status.st_dev, status.st_ino, static_cast<uint64_t>(status.st_size),
                 status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
  }

  const Options& options_;
  std::optional<Stamp> stamp_;  // of the file as it was read
  std::unique_ptr<TraceRun> run_;
  std::unique_ptr<TickAnalysis> analysis_;
  std::optional<Summary> summary_;
};

// Why the trace cannot be shown; empty if it can.
std::optional<int> nothing_to_show(const TraceFeed& feed) {
  const Summary& summary = feed.summary();
  if (summary.ticks.ticks != 0 || feed.recording()) {
    for (const std::string& remark : summary.selection_remarks) cli::warning(remark);
    return {};
  }
  const uint64_t all = summary.records.by_major[PITRACE_MAJOR_TPROF];
  cli::error(all == 0 ? fmt::format("{} contains no ticks; there is nothing to show.", feed.path())
                      : fmt::format("none of the {} ticks in {} is selected; there is nothing to "
                                    "show.",
                                    all, feed.path()));
  for (const std::string& remark : summary.selection_remarks) cli::hint(remark);
  return cli::exit_failure;
}

bool wants_colour() {
  const char* const none = std::getenv("NO_COLOR");
  return !(none && *none);
}

}  // namespace

int run_top(const std::vector<std::string>& words) {
  auto parsed = parse_top_options(words);
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  const TopOptions options = std::get<TopOptions>(std::move(parsed));
  ::setlocale(LC_CTYPE, "");
  const bool utf8 = std::string_view(::nl_langinfo(CODESET)) == "UTF-8";
  if (const pi::Status usable = top::Terminal::check(); !usable) {
    cli::error(usable.error().message);
    return cli::exit_usage;
  }
  TraceFeed feed(options.post);
  if (const pi::Status status = feed.read({}); !status) {
    cli::error(status.error().message);
    return cli::exit_failure;
  }
  if (const auto nothing = nothing_to_show(feed)) return *nothing;
  {
    auto terminal = top::Terminal::open(wants_colour());
    if (!terminal) {
      cli::error(terminal.error().message);
      return cli::exit_usage;
    }
    top::run_browser(**terminal, feed, utf8, options.interval);
  }
  // End by the signal, so that the caller sees the usual exit status.
  if (const int signal = top::Terminal::ending_signal(); signal != 0) std::raise(signal);
  return cli::exit_good;
}

}  // namespace post
