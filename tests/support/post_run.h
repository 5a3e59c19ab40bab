// SPDX-License-Identifier: MIT
// A complete run of post in memory: trace bytes in, reports and damage out.
#ifndef TESTS_SUPPORT_POST_RUN_H
#define TESTS_SUPPORT_POST_RUN_H

#include <analysis/tick_counter.h>
#include <compare/budget.h>
#include <compare/profile.h>
#include <options/options.h>
#include <pipeline.h>
#include <read/byte_source.h>
#include <report/html_data.h>
#include <report/report_annotate.h>
#include <report/report_page.h>
#include <report/reports.h>

#include <map>
#include <string>
#include <vector>

#include "fake_symbolizer.h"
#include "record_builder.h"

namespace test_support {

struct PostRun {
  std::string error;  // why the file cannot be read
  post::DamageLog damage;
  post::TraceFile file;
  post::RecordTotals records;
  post::TickTotals ticks;
  std::string tprof;
  std::string json;
  std::string show;
  std::string tree;  // tree to arc: only with their options
  std::string folded;
  std::string callgrind, chrome, firefox, otlp, perf_script, perfetto, pprof, speedscope;
  std::string off_cpu;
  std::string micro;
  std::string arc;
  std::string html;                // the data of the page
  std::vector<std::string> pages;  // one for each PageStyle of the arguments
  std::string annotation;          // or why there is none; only with --annotate
  post::Profile profile;
};

inline PostRun run_post(
    const Bytes& trace, FakeSymbolizer& symbolizer, const post::Options& options = {},
    const std::vector<post::Limit>& limits = {}, const std::vector<post::PageStyle>& styles = {},
    const post::PageEnd* end = nullptr, const post::AnnotationStyle& annotation_style = {},
    const std::vector<post::Hint>& hints = {}, size_t html_paths = post::html_paths) {
  PostRun run;
  post::MemorySource source(trace);
  auto file = read_layout(source, run.damage);
  if (!file) {
    run.error = file.error().message;
    return run;
  }
  run.file = std::move(*file);
  post::StringTable names;
  post::Processes processes(symbolizer, names);
  post::TickCounter ticks(processes, symbolizer, names,
                          {.labels = options.report.labels,
                           .offsets = options.report.needs_offsets(),
                           .module_width = options.symbols.module_width,
                           .inlined = options.symbols.inlined,
                           .sets = 64});
  const auto filter = make_name_filter(options.report.selection, processes, symbolizer, names,
                                       {options.symbols.inlined, 64});
  // All reports without a subscriber, post.show, and the reports selected by the options.
  post::Options wanted = options;
  wanted.show = true;
  wanted.json = "tprof.json";
  wanted.tprof = wanted.tprof_out = true;
  wanted.directory = ".";
  std::map<std::string, post::StringSink> files;
  post::ReportSubscribers subscribers;
  const post::ReportContext context{wanted,     source, run.file, run.damage,  processes,
                                    symbolizer, names,  64,       filter.get()};
  const auto open = [&](const post::Report& report) -> pi::Result<post::Sink*> {
    return &files[report.path(wanted)];
  };
  if (const pi::Status status = subscribers.make(context, open); !status) {
    run.error = status.error().message;
    return run;
  }
  collect_fallback_names(source, run.file, processes);
  post::Subscriptions subscriptions;
  ticks.subscribe(subscriptions);
  processes.subscribe(subscriptions);
  if (filter) filter->subscribe(subscriptions);
  subscribers.subscribe(subscriptions);
  run.records =
      run_pipeline(source, run.file, run.damage, options.report.selection, subscriptions, nullptr);
  run.ticks = ticks.totals();
  post::Summary summary{
      run.file,           run.records,          ticks.tree(), names,
      run.damage,         options.report,       run.ticks,    sum_losses(run.file),
      symbolizer.notes(), processes.lifetimes()};
  run.profile = make_profile(summary, "trace");
  summary.budget = measure(limits, run.profile);
  summary.counts = subscribers.all();
  if (filter)
    summary.selection_remarks = filter->remarks(leaves_all_records(options.report.selection));
  summary.symbolizer = &symbolizer;
  summary.hints = hints;
  for (const post::PageStyle& style : styles) run.pages.push_back(page_text(summary, style, end));
  if (!options.report.annotate.empty()) {
    const auto text = annotation(summary, annotation_style);
    run.annotation = text ? *text : text.error().message;
  }
  for (const post::Report& report : post::reports())
    if (report.wanted(wanted) && report.write) report.write(summary, files[report.path(wanted)]);
  run.tprof = files["tprof.out"].text;
  run.json = files["tprof.json"].text;
  run.show = files["post.show"].text;
  run.tree = files["tprof.tree"].text;
  run.folded = files["tprof.folded"].text;
  run.callgrind = files["tprof.callgrind"].text;
  run.chrome = files["tprof.trace.json"].text;
  run.firefox = files["tprof.firefox.json.gz"].text;
  run.perfetto = files["tprof.perfetto-trace"].text;
  run.perf_script = files["tprof.linux-perf.txt"].text;
  run.otlp = files["tprof.otlp.gz"].text;
  run.pprof = files["tprof.pb.gz"].text;
  run.speedscope = files["tprof.speedscope.json"].text;
  run.off_cpu = files["tprof.offcpu"].text;
  run.micro = files["tprof.micro"].text;
  run.arc = files["arc"].text;
  if (wanted.html) {
    post::StringSink data;
    write_html_data(summary, data, html_paths);
    run.html = data.text;
  }
  return run;
}

// The damage messages, one on each line.
inline std::string damage_lines(const PostRun& run) {
  std::string text;
  for (const std::string& message : run.damage.messages()) text += message + "\n";
  return text;
}

}  // namespace test_support

#endif  // TESTS_SUPPORT_POST_RUN_H
