// SPDX-License-Identifier: MIT
// The table of all reports. A new report is one entry here, and one file in this folder with the
// functions that the entry names.
#include "reports.h"

#include <fmt/format.h>

#include "html_flow.h"
#include "report_arc.h"
#include "report_calls.h"
#include "report_export.h"
#include "report_fleet.h"
#include "report_otlp.h"
#include "report_html.h"
#include "report_json.h"
#include "report_micro.h"
#include "report_page.h"
#include "report_parquet.h"
#include "report_timed.h"
#include "report_off_cpu.h"
#include "report_show.h"
#include "report_tprof.h"

namespace post {
namespace {

// post.show and arc contain everything that the traced threads did: they have the trace's mode.
constexpr mode_t as_private_as_the_trace = 0600;

// The tables of --fleet share what the trace is read for.
constexpr Report fleet_table(decltype(Report::write) write, decltype(Report::named) named) {
  return {.options = "--fleet",
          .file = "",
          .wanted = [](const Options& given) { return given.fleet.has_value(); },
          .make = make_fleet,
          .in_folder = true,
          .lack = lack_of_fleet,
          .write = write,
          .named = named};
}

// Limits of viewers. Chromium's texts have at most 2^29 - 24 characters; the Firefox Profiler reads
// a profile as one (firefox-devtools/profiler#6016), as do programs for Chrome's JSON. speedscope
// does not, but reads files of 2 GiB and more not at all (jlfwong/speedscope#372). Perfetto's page
// has 2 to 4 GiB of memory and needs up to four times a file's size
// (perfetto.dev/docs/visualization/large-traces).
constexpr uint64_t browser_text = (uint64_t{1} << 29) - 24, gib = uint64_t{1} << 30;
constexpr const char* select_less = "Select a part of the trace: --time, --process.";
constexpr ViewerLimit chrome_viewers{browser_text, "Many programs for Chrome's JSON", select_less};
constexpr ViewerLimit firefox_viewers{browser_text, "The Firefox Profiler in some browsers",
                                      select_less};
constexpr ViewerLimit perf_script_viewers{browser_text, "The Firefox Profiler in some browsers",
                                          select_less};
constexpr ViewerLimit perfetto_viewers{
    gib, "ui.perfetto.dev",
    "'trace_processor --httpd FILE' reads it for that page, without a limit."};
constexpr ViewerLimit speedscope_viewers{2 * gib - 1, "speedscope", select_less};

const Report table[] = {
    {.options = "-show, -showx, -showxx",
     .file = "post.show",
     .wanted = [](const Options& given) { return given.show; },
     .make = make_show,
     .streamed = true,
     .mode = as_private_as_the_trace},
    {.options = "-offcpu",
     .file = "tprof.offcpu",
     .wanted = [](const Options& given) { return given.off_cpu; },
     .make = make_off_cpu,
     .lack = lack_of_dispatches,
     .write = write_off_cpu},
    {.options = "-arc",
     .file = "arc",
     .wanted = [](const Options& given) { return given.arc; },
     .make = make_arc,
     .streamed = true,
     .lack = lack_of_branches,
     .write = write_arc_frame,
     .mode = as_private_as_the_trace},
    {.options = "",
     .file = "tprof.out",
     .wanted = [](const Options& given) { return given.tprof && given.tprof_out; },
     .make = make_waiting,
     .of_ticks = true,
     .write = write_tprof},
    {.options = "--json",
     .file = "",
     .wanted = [](const Options& given) { return given.json.has_value(); },
     .write = write_json,
     .named = &Options::json},
    {.options = "--html",
     .file = "",
     .wanted = [](const Options& given) { return given.html.has_value(); },
     .make = make_paths_by_time,
     .write = write_html,
     .make_more = {make_states_by_time, make_html_flow},
     .named = &Options::html},
    {.options = "-tree",
     .file = "tprof.tree",
     .wanted = [](const Options& given) { return given.tree; },
     .make = make_call_tree,
     .of_ticks = true,
     .lack = lack_of_stacks,
     .write = write_tree},
    {.options = "-folded",
     .file = "tprof.folded",
     .wanted = [](const Options& given) { return given.folded; },
     .make = make_call_tree,
     .of_ticks = true,
     .lack = lack_of_stacks,
     .write = write_folded},
    {.options = "--export callgrind",
     .file = "tprof.callgrind",
     .wanted = [](const Options& given) { return given.exports_to("callgrind"); },
     .make = make_call_tree,
     .of_ticks = true,
     .write = export_callgrind},
    {.options = "--export chrome",
     .file = "tprof.trace.json",
     .wanted = [](const Options& given) { return given.exports_to("chrome"); },
     .make = chrome_report.make,
     .streamed = true,
     .lack = chrome_report.lack,
     .write = chrome_report.write,
     .viewer_limit = chrome_viewers},
    {.options = "--export ctf",
     .file = "tprof.ctf/metadata",
     .wanted = [](const Options& given) { return given.exports_to("ctf"); },
     .make = ctf_report.make,
     .streamed = true,
     .in_folder = true,
     .lack = ctf_report.lack,
     .write = ctf_report.write},
    {.options = "--export firefox",
     .file = "tprof.firefox.json.gz",
     .wanted = [](const Options& given) { return given.exports_to("firefox"); },
     .make = firefox_report.make,
     .streamed = true,
     .lack = firefox_report.lack,
     .write = firefox_report.write,
     .viewer_limit = firefox_viewers,
     .text_bytes = firefox_report.text_bytes},
    {.options = "--export otlp",
     .file = "tprof.otlp.gz",
     .wanted = [](const Options& given) { return given.exports_to("otlp"); },
     .make = make_otlp,
     .of_ticks = true,
     .write = write_otlp_report},
    {.options = "--export perfetto",
     .file = "tprof.perfetto-trace",
     .wanted = [](const Options& given) { return given.exports_to("perfetto"); },
     .make = perfetto_report.make,
     .streamed = true,
     .lack = perfetto_report.lack,
     .write = perfetto_report.write,
     .viewer_limit = perfetto_viewers},
    {.options = "--export perf-script",
     .file = "tprof.linux-perf.txt",
     .wanted = [](const Options& given) { return given.exports_to("perf-script"); },
     .make = perf_script_report.make,
     .streamed = true,
     .of_ticks = true,
     .write = perf_script_report.write,
     .viewer_limit = perf_script_viewers},
    {.options = "--export pprof",
     .file = "tprof.pb.gz",
     .wanted = [](const Options& given) { return given.exports_to("pprof"); },
     .make = make_call_tree,
     .of_ticks = true,
     .write = export_pprof},
    {.options = "--export speedscope",
     .file = "tprof.speedscope.json",
     .wanted = [](const Options& given) { return given.exports_to("speedscope"); },
     .make = make_call_tree,
     .of_ticks = true,
     .write = export_speedscope,
     .viewer_limit = speedscope_viewers},
    {.options = "--export parquet",
     .file = "tprof.parquet",
     .wanted = [](const Options& given) { return given.exports_to("parquet"); },
     .make = make_parquet,
     .streamed = true,
     .lack = lack_of_rows,
     .write = end_parquet},
    {.options = "--export parquet",
     .file = "tprof.stacks.parquet",
     .wanted = [](const Options& given) { return given.exports_to("parquet"); },
     .lack = lack_of_rows,
     .write = write_parquet_stacks},
    // Each table after those that its rows refer to.
    fleet_table(write_fleet_frames, &Options::fleet_frames),
    fleet_table(write_fleet_stacks, &Options::fleet_stacks),
    fleet_table(write_fleet_paths, &Options::fleet_paths),
    fleet_table(write_fleet_records, &Options::fleet_records),
    {.options = "-off, -disasm",
     .file = "tprof.micro",
     .wanted = [](const Options& given) { return given.micro; },
     .make = make_micro,
     .of_ticks = true,
     .write = write_micro},
    {.options = "--annotate",
     .file = nullptr,
     .wanted = [](const Options& given) { return !given.report.annotate.empty(); },
     .make = make_micro,
     .of_ticks = true},
};

}  // namespace

std::span<const Report> reports() {
  return table;
}

std::vector<std::string> report_paths(const Options& options) {
  std::vector<std::string> paths;
  for (const Report& report : reports())
    if (report.file && report.wanted(options)) paths.push_back(report.path(options));
  if (options.message_file) paths.push_back(options.output(message_file_name));
  return paths;
}

bool is_made(const Report& report, const Options& options, const Summary& summary) {
  if (!report.wanted(options) || (report.of_ticks && summary.ticks.ticks == 0)) return false;
  return !(options.page && report.lack && report.lack(summary));
}

std::string Report::path(const Options& given) const {
  return given.output(*file ? file : (given.*named).value_or(""));
}

std::string Report::viewer_warning(const std::string& file_path, uint64_t bytes) const {
  if (viewer_limit.bytes == 0 || bytes <= viewer_limit.bytes) return {};
  constexpr uint64_t mib = 1 << 20;
  return fmt::format("{} has {} MiB{}. {} may not read more than {} MiB. {}", file_path,
                     bytes / mib, text_bytes ? " when it is unpacked" : "", viewer_limit.viewer,
                     (viewer_limit.bytes + mib - 1) / mib, viewer_limit.remedy);
}

pi::Status ReportSubscribers::make(const ReportContext& context, const OpenSink& open) {
  for (const Report& report : reports()) {
    if (!report.wanted(context.options)) continue;
    for (const MakeSubscriber make : {report.make, report.make_more[0], report.make_more[1]}) {
      if (!make || std::ranges::find(made_, make, &Made::by) != made_.end()) continue;
      Sink* sink = nullptr;
      if (report.streamed) {
        const auto opened = open(report);
        if (!opened) return opened.error();
        sink = *opened;
      }
      if (auto subscriber = make(context, sink)) made_.push_back({make, std::move(subscriber)});
    }
  }
  return {};
}

void ReportSubscribers::subscribe(Subscriptions& to) const {
  for (const Made& made : made_) made.subscriber->subscribe(to);
}

std::vector<const Subscriber*> ReportSubscribers::all() const {
  std::vector<const Subscriber*> subscribers;
  for (const Made& made : made_) subscribers.push_back(made.subscriber.get());
  return subscribers;
}

}  // namespace post
