// SPDX-License-Identifier: MIT
// hdump: shows what is in the heap of a Java virtual machine, from a dump of it, and what is likely
// to be a leak.
#include <cli.h>
#include <pi/budget.h>
#include <pi/files.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "read/unpack.h"
#include "report/report.h"

namespace {

namespace cli = pi::cli;

cli::OptionTable option_table() {
  cli::OptionTable table(
      {"hdump [OPTION]... FILE...",
       "Shows what is in the heap of a Java virtual machine: classes, the objects that keep most "
       "others alive, and what is likely to be a leak. FILE is a heap dump (log-hd, .hprof, "
       ".hprof.gz); "
       "of several, the oldest first, it shows what has grown.",
       {"hdump heap.hprof", "hdump monday.hprof tuesday.hprof",
        "hdump --to-hprof=heap.hprof log-hd.1_4711", "hdump --paths='com.example.*' heap.hprof",
        "hdump --json heap.hprof"},
       "Exit status: 0 good; 1 the dump cannot be read; 3 a report was written, but the dump is "
       "damaged or incomplete; 255 wrong usage."});
  using cli::text;
  table.group("Report")("paths", text("CLASS"),
                        "also show the shortest paths from roots to the largest objects of "
                        "classes with this name; * and ? are wildcards")(
      "lines", text("NUMBER", "30"), "at most so many rows of each table")(
      "clip", text("PERCENT", "1"), "hide what retains less of the heap in the table by class")(
      "suspect", text("PERCENT", "10"), "a leak suspect retains at least so much of the heap")(
      "json", "everything as JSON");
  table.group("Conversion")("to-hprof", text("NEW"),
                            "no report: write the dump to the file NEW as .hprof, for other "
                            "programs");
  table.group("Work")("work", text("DIRECTORY"),
                      "where work files without a name are, of up to twice the dump's size; "
                      "default: $TMPDIR, else /var/tmp");
  table.positional("files", -1);
  return table;
}

int wrong(const std::string& text) {
  cli::error(text);
  cli::hint("hdump --help lists the options.");
  return cli::exit_usage;
}

std::optional<double> percent_from(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= 0 && value <= 100)) return std::nullopt;
  return value;
}

constexpr double clip_of_growth = 20;

// The error's message names the file.
pi::Result<pi::RegularFile> open_dump(const std::string& file) {
  auto opened = pi::open_regular(file);
  if (!opened)
    return pi::Error{-1, fmt::format("cannot read {}: {}.", file, opened.error().message)};
  const auto stored = pi::real_size(opened->fd.get(), opened->status);
  if (static_cast<uint64_t>(opened->status.st_size) > pi::sparse_file.of(stored))
    return pi::Error{-1, fmt::format("cannot analyse {}: it is a sparse file.", file)};
  return opened;
}

// A line on the terminal that shows how far the work is.
class Progress {
 public:
  ~Progress() {
    if (terminal_) cli::to_stderr("\r\033[K");
  }
  void show(const char* step, uint64_t position) const {
    if (terminal_) cli::to_stderr(fmt::format("\r{}, {} M\033[K", step, position >> 20));
  }

 private:
  const bool terminal_ = ::isatty(STDERR_FILENO) == 1;
};

// The error's message names the file.
pi::Result<hdump::Report> analyse(const std::string& file, const hdump::DiskSpace& space,
                                  const hdump::ReportOptions& options) {
  const auto opened = open_dump(file);
  if (!opened) return opened.error();
  const Progress progress;
  auto report = hdump::analyse(
      file, [&] { return hdump::open_stream(opened->fd.get()); }, space, options,
      [&](const char* step, uint64_t position) { progress.show(step, position); });
  if (!report)
    return pi::Error{-1, fmt::format("cannot analyse {}: {}", file, report.error().message)};
  return report;
}

int convert(const std::string& file, const std::string& path) {
  const auto fail = [](const std::string& message) {
    cli::error(message);
    return cli::exit_failure;
  };
  const auto opened = open_dump(file);
  if (!opened) return fail(opened.error().message);
  const auto stream = hdump::open_stream(opened->fd.get());
  if (!stream) return fail(fmt::format("cannot read {}: {}", file, stream.error().message));
  const auto unpacked = [&] {
    const Progress progress;
    return hdump::unpack(**stream, path,
                         [&](uint64_t position) { progress.show("converting", position); });
  }();
  if (!unpacked) return fail(unpacked.error().message);
  if (unpacked->error.empty()) return cli::exit_good;
  cli::warning(fmt::format("{}: {}. {} has the {} bytes before that.", file, unpacked->error, path,
                           unpacked->bytes));
  return cli::exit_damaged;
}

int run(const std::vector<std::string>& arguments) {
  const auto outcome = option_table().parse(arguments);
  if (outcome.exit) return *outcome.exit;
  const cli::Values& given = outcome.values;
  if (given.words("files").empty()) return wrong("which heap dump?");
  if (given.given("to-hprof")) {
    if (given.words("files").size() != 1) return wrong("--to-hprof converts one heap dump.");
    return convert(given.words("files")[0], given.text("to-hprof"));
  }
  hdump::ReportOptions options;
  for (const auto& [name, value] :
       {std::pair{"clip", &options.clip_percent}, std::pair{"suspect", &options.suspect_percent}}) {
    const auto percent = percent_from(given.text(name));
    if (!percent) return wrong(fmt::format("--{} takes a percentage from 0 to 100.", name));
    *value = *percent;
  }
  const std::string& lines = given.text("lines");
  if (lines.empty() || lines.size() > 9 || lines.find_first_not_of("0123456789") != lines.npos)
    return wrong("--lines takes a number.");
  options.lines = std::stoul(lines);
  options.paths_of = given.text("paths");

  const char* temporary = std::getenv("TMPDIR");
  std::string work = temporary != nullptr && *temporary != '\0' ? temporary : "/var/tmp";
  if (given.given("work")) work = given.text("work");

  const auto space = hdump::DiskSpace::in(work);
  if (!space) {
    cli::error(space.error().message);
    return cli::exit_failure;
  }
  const std::vector<std::string>& files = given.words("files");
  // Rows that one dump lacks and another has would look like growth.
  if (files.size() > 1) options.clip_percent /= clip_of_growth;
  std::vector<hdump::Report> reports;
  int status = cli::exit_good;
  for (const std::string& file : files) {
    auto report = analyse(file, *space, options);
    if (!report) {
      cli::error(report.error().message);
      return cli::exit_failure;
    }
    for (const std::string& message : report->damage.messages)
      cli::warning(fmt::format("{} {}.", file, message));
    if (report->damage.places != 0) status = cli::exit_damaged;
    reports.push_back(std::move(*report));
  }
  std::string text;
  if (given.flag("json"))
    text = (files.size() > 1 ? growth_json(reports) : json_of(reports[0])).dump(1) + "\n";
  else
    text = files.size() > 1 ? growth_text(reports, options) : text_of(reports[0], options);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return cli::printed(status);
}

}  // namespace

int main(int count, char** words) {
  return cli::run_tool("hdump", count, words, run);
}
