// SPDX-License-Identifier: MIT
// A trace made from text and counted as post top does; owns the Summary and all that it refers to.
#ifndef TESTS_UNIT_POST_TOP_COUNTED_TRACE_H
#define TESTS_UNIT_POST_TOP_COUNTED_TRACE_H

#include <gtest/gtest.h>
#include <analysis/tick_counter.h>
#include <options/top_options.h>
#include <pipeline.h>
#include <read/byte_source.h>
#include <report/reports.h>
#include <state/name_filter.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "fake_symbolizer.h"
#include "text_trace.h"

namespace test_support {

class CountedTrace {
 public:
  CountedTrace(std::string_view text, FakeSymbolizer& symbolizer,
               const std::vector<std::string>& words = {})
      : options_(std::get<post::TopOptions>(post::parse_top_options(words)).post),
        bytes_(*trace_from_text(text)),
        source_(bytes_),
        file_(*read_layout(source_, damage_)),
        processes_(symbolizer, names_),
        ticks_(processes_, symbolizer, names_, {.labels = options_.report.labels, .sets = 64}),
        filter_(make_name_filter(options_.report.selection, processes_, symbolizer, names_, {})) {
    const post::ReportContext context{options_,   source_, file_, damage_,      processes_,
                                      symbolizer, names_,  64,    filter_.get()};
    EXPECT_TRUE(subscribers_.make(
        context, [](const post::Report&) -> pi::Result<post::Sink*> { return nullptr; }));
    collect_fallback_names(source_, file_, processes_);
    post::Subscriptions subscriptions;
    ticks_.subscribe(subscriptions);
    processes_.subscribe(subscriptions);
    if (filter_) filter_->subscribe(subscriptions);
    subscribers_.subscribe(subscriptions);
    records_ =
        run_pipeline(source_, file_, damage_, options_.report.selection, subscriptions, nullptr);
    summary_.emplace(post::Summary{file_,
                                   records_,
                                   ticks_.tree(),
                                   names_,
                                   damage_,
                                   options_.report,
                                   ticks_.totals(),
                                   sum_losses(file_),
                                   {},
                                   processes_.lifetimes()});
    summary_->counts = subscribers_.all();
    summary_->symbolizer = &symbolizer;
  }
  CountedTrace(const CountedTrace&) = delete;
  CountedTrace& operator=(const CountedTrace&) = delete;

  const post::Summary& summary() const { return *summary_; }

 private:
  const post::Options options_;
  const Bytes bytes_;
  post::MemorySource source_;
  post::DamageLog damage_;
  post::TraceFile file_;
  post::StringTable names_;
  post::Processes processes_;
  post::TickCounter ticks_;
  std::unique_ptr<post::NameFilter> filter_;
  post::ReportSubscribers subscribers_;
  post::RecordTotals records_;
  std::optional<post::Summary> summary_;
};

// Process 32 (app) with two threads and stacks, a kernel function, and a process whose name and
// module contain a control sequence and wide characters.
constexpr std::string_view browsed_trace =
    "cpus 1\ninfo source=perf\ninfo stacks=user\ninfo tick_ns=1000000\n"
    "info cannot_see=Idle processors: the kernel throttles perf's clock there.\n"
    "section mte 0\n"
    "1 name 0x20 app\n1 module 0x20 0x1000 0x1000 0 /bin/app\n"
    "1 module 0x20 0x8000 0x1000 0 /usr/lib/libm.so\n"
    "1 thread 0x20 0x21 worker\n"
    "1 name 0x30 evil\\x1b[2J\n1 module 0x30 0x1000 0x1000 0 /bin/\\xe4\\xb8\\xad\\xe6\\x96\\x87\n"
    "section trace 0\n"
    "1000000 tick user 0x20 0x20 0x1140 stack user 0x1128 0x1110\n"
    "2000000 tick user 0x20 0x20 0x1144 stack user 0x1128 0x1110\n"
    "3000000 tick user 0x20 0x20 0x1124 stack user 0x1110\n"
    "4000000 tick user 0x20 0x21 0x1144 stack user 0x1168 0x1110\n"
    "5000000 tick user 0x20 0x21 0x8000 stack user 0x1168 0x1110\n"
    "6000000 tick kernel 0x20 0x20 0xffffffff81000000 stack user 0x1128 0x1110\n"
    "7000000 tick user 0x30 0x30 0x1144\n"
    "8000000 tick user 0x20 0x20 0x1150 stack user 0x1128 0x1110\n"
    "9000000 tick user 0x20 0x20 0x1150 stack user 0x1128 0x1110\n"
    "10000000 tick user 0x20 0x20 0x1150 stack user 0x1128 0x1110\n";

inline void add_browsed_symbols(FakeSymbolizer& symbolizer) {
  symbolizer.add_symbol("/bin/app", 0x100, 0x20, "main");
  symbolizer.add_symbol("/bin/app", 0x120, 0x20, "work");
  symbolizer.add_symbol("/bin/app", 0x140, 0x20, "_Z4leafi");
  symbolizer.add_symbol("/bin/app", 0x160, 0x20, "other");
  symbolizer.add_symbol("/usr/lib/libm.so", 0, 0x20, "sin");
  symbolizer.add_symbol("vmlinux", 0xffffffff81000000, 0x100, "sys_write");
}

}  // namespace test_support

#endif  // TESTS_UNIT_POST_TOP_COUNTED_TRACE_H
