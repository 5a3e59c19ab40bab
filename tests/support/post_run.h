// SPDX-License-Identifier: MIT
// A whole run of post in memory: trace bytes in, reports and damage out.
#ifndef TESTS_SUPPORT_POST_RUN_H
#define TESTS_SUPPORT_POST_RUN_H

#include <analysis/call_tree.h>
#include <analysis/micro.h>
#include <analysis/off_cpu.h>
#include <analysis/tick_counter.h>
#include <arc/arc.h>
#include <compare/budget.h>
#include <compare/profile.h>
#include <options/options.h>
#include <pipeline.h>
#include <read/byte_source.h>
#include <read/kernel_code.h>
#include <report/report_arc.h>
#include <report/report_calls.h>
#include <report/report_json.h>
#include <report/report_micro.h>
#include <report/report_off_cpu.h>
#include <report/report_show.h>
#include <report/report_tprof.h>

#include <optional>
#include <string>

#include "fake_symbolizer.h"
#include "record_builder.h"

namespace test_support {

struct PostRun {
  std::string error;  // why the file cannot be read at all
  post::DamageLog damage;
  post::TraceFile file;
  post::RecordTotals records;
  post::TickTotals ticks;
  std::string tprof;
  std::string json;
  std::string show;
  std::string tree;  // these with the options that ask for them
  std::string folded;
  std::string off_cpu;
  std::string micro;
  std::string arc;
  post::Profile profile;
};

inline PostRun run_post(const Bytes& trace, FakeSymbolizer& symbolizer,
                        const post::Options& options = {},
                        const std::vector<post::Limit>& limits = {}) {
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
                          {options.report.labels, options.report.needs_offsets(),
                           options.symbols.module_width, options.symbols.inlined, 64});
  const post::Resolver::Options frames{options.symbols.module_width, options.symbols.inlined};
  std::optional<post::CallTree> calls;
  if (options.needs_calls())
    calls.emplace(processes, symbolizer, names,
                  post::CallTree::Options{options.report.labels, options.report.calls_by_thread,
                                          frames, stack_source(run.file.info), 64});
  std::optional<post::OffCpu> off_cpu;
  if (options.off_cpu)
    off_cpu.emplace(
        processes, symbolizer, names,
        post::OffCpu::Options{options.report.labels, frames, stack_source(run.file.info), 64});
  std::optional<post::Micro> micro;
  if (options.micro) micro.emplace(processes, symbolizer, names, frames, 64);
  post::KernelCode kernel_code;
  kernel_code.load(source, run.file.kernel_code, run.damage);
  post::StringSink arc_sink;
  std::optional<post::Arc> arc;
  if (options.arc) {
    post::ArcOptions form = options.arc_form;
    form.places = 64;
    arc.emplace(processes, symbolizer, names, kernel_code, arc_sink, form);
    arc->put_head(arc_head(run.file, form, {}));
  }
  post::StringSink show_sink;
  post::ShowReport show(show_sink, options.show_raw);
  collect_fallback_names(source, run.file, processes);
  post::Subscriptions subscriptions;
  ticks.subscribe(subscriptions);
  processes.subscribe(subscriptions);
  show.subscribe(subscriptions);
  if (calls) calls->subscribe(subscriptions);
  if (off_cpu) off_cpu->subscribe(subscriptions);
  if (micro) micro->subscribe(subscriptions);
  if (arc) arc->subscribe(subscriptions);
  run.records =
      run_pipeline(source, run.file, run.damage, options.report.selection, subscriptions, nullptr);
  show.finish();
  run.show = show_sink.text;
  run.ticks = ticks.totals();
  post::Summary summary{run.file,           run.records,      ticks.tree(), names,
                        run.damage,         options.report,   run.ticks,    sum_losses(run.file),
                        symbolizer.notes(), processes.lives()};
  run.profile = make_profile(summary, "trace");
  summary.budget = measure(limits, run.profile);
  summary.calls = calls ? &*calls : nullptr;
  summary.off_cpu = off_cpu ? &*off_cpu : nullptr;
  if (arc) {
    summary.arc = &arc->totals();
    arc_sink.write(arc_end(summary, arc->totals()));
    arc_sink.rewrite(0, arc_head(run.file, options.arc_form, arc->totals()));
    run.arc = arc_sink.text;
  }
  post::StringSink tprof;
  write_tprof(summary, tprof);
  run.tprof = tprof.text;
  post::StringSink json;
  write_json(summary, json);
  run.json = json.text;
  post::StringSink tree;
  if (options.tree) write_tree(summary, tree);
  run.tree = tree.text;
  post::StringSink folded;
  if (options.folded) write_folded(summary, folded);
  run.folded = folded.text;
  post::StringSink off_cpu_text;
  if (options.off_cpu) write_off_cpu(summary, off_cpu_text);
  run.off_cpu = off_cpu_text.text;
  summary.micro = micro ? &*micro : nullptr;
  post::StringSink micro_text;
  if (options.micro) write_micro(summary, micro_text);
  run.micro = micro_text.text;
  return run;
}

}  // namespace test_support

#endif  // TESTS_SUPPORT_POST_RUN_H
