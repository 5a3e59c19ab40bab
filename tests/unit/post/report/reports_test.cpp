// SPDX-License-Identifier: MIT
// The table of reports: which subscribers and files the options create.
#include <analysis/call_tree.h>
#include <analysis/micro.h>
#include <analysis/off_cpu.h>
#include <analysis/waiting.h>
#include <arc/arc.h>
#include <gtest/gtest.h>
#include <report/reports.h>

#include <set>
#include <string>

#include "fake_symbolizer.h"

namespace {

using namespace test_support;

struct Made {
  std::vector<const post::Subscriber*> subscribers;
  std::vector<std::string> opened;

  template <class T>
  size_t count() const {
    return static_cast<size_t>(std::ranges::count_if(subscribers, [](const auto* subscriber) {
      return dynamic_cast<const T*>(subscriber) != nullptr;
    }));
  }
};

class Reports : public testing::Test {
 protected:
  Made make(const post::Options& options) {
    Made made;
    const post::ReportContext context{options,    source_,     file_,  damage_,
                                      processes_, symbolizer_, names_, 64};
    const auto open = [&](const post::Report& report) {
      made.opened.push_back(report.path(options));
      return &sink_;
    };
    subscribers_ = {};
    EXPECT_TRUE(subscribers_.make(context, open));
    made.subscribers = subscribers_.all();
    return made;
  }

 private:
  FakeSymbolizer symbolizer_;
  post::StringTable names_;
  post::Processes processes_{symbolizer_, names_};
  post::MemorySource source_{{}};
  post::TraceFile file_;
  post::DamageLog damage_;
  post::StringSink sink_;
  post::ReportSubscribers subscribers_;
};

TEST_F(Reports, TickReportsNeedOnlyTheSubscriberOfThePagesTimes) {
  EXPECT_EQ(make({}).subscribers.size(), 1u);
  EXPECT_EQ(make({}).count<post::Waiting>(), 1u);
  post::Options options;
  options.tprof_out = false;
  options.json = "tprof.json";
  options.fleet_records = "records.parquet";
  options.fleet_paths = "paths.parquet";
  options.fleet_stacks = "stacks.parquet";
  options.fleet_frames = "frames.parquet";
  const Made made = make(options);
  EXPECT_TRUE(made.subscribers.empty());
  EXPECT_TRUE(made.opened.empty());
}

TEST_F(Reports, OnlySubscribersOfWantedReportsAreCreated) {
  post::Options options;
  options.off_cpu = true;
  options.tprof_out = false;
  EXPECT_EQ(make(options).subscribers.size(), 1u);
  EXPECT_EQ(make(options).count<post::OffCpu>(), 1u);
  options.micro = true;
  EXPECT_EQ(make(options).subscribers.size(), 2u);
  EXPECT_EQ(make(options).count<post::Micro>(), 1u);
}

TEST_F(Reports, TreeAndFoldedShareOneCallTree) {
  post::Options options;
  options.tprof_out = false;
  options.tree = options.folded = true;
  EXPECT_EQ(make(options).subscribers.size(), 1u);
  EXPECT_EQ(make(options).count<post::CallTree>(), 1u);
}

TEST_F(Reports, FilesOfStreamedReportsAreOpenedBeforeTheTraceIsRead) {
  post::Options options;
  options.directory = "/somewhere";
  options.show = options.arc = true;
  const Made made = make(options);
  EXPECT_EQ(made.opened, (std::vector<std::string>{"/somewhere/post.show", "/somewhere/arc"}));
  EXPECT_EQ(made.count<post::Arc>(), 1u);
}

TEST(ReportTable, EveryEntryHasItsOwnFileAndWriter) {
  std::set<std::string> files;
  post::Options options;
  options.json = "tprof.json";
  options.fleet_records = "records.parquet";
  options.fleet_paths = "paths.parquet";
  options.fleet_stacks = "stacks.parquet";
  options.fleet_frames = "frames.parquet";
  for (const post::Report& report : post::reports()) {
    if (!report.file) {  // main prints it
      EXPECT_TRUE(report.make && !report.write && !report.streamed) << report.options;
      continue;
    }
    EXPECT_TRUE(files.insert(report.path(options)).second) << report.file;
    EXPECT_TRUE(report.write || report.streamed) << report.file;
    EXPECT_TRUE(report.make || !report.streamed) << report.file;
  }
}

TEST_F(Reports, AFileThatItsViewersCannotReadIsNamed) {
  const auto warning = [](std::string_view file, uint64_t bytes) {
    for (const post::Report& report : post::reports())
      if (report.file && report.file == file) return report.viewer_warning("dir/file", bytes);
    return std::string("no such report");
  };
  constexpr uint64_t mib = 1 << 20, chrome = 512 * mib - 24;
  EXPECT_EQ(warning("tprof.trace.json", chrome), "");
  EXPECT_EQ(warning("tprof.trace.json", chrome + 1),
            "dir/file has 511 MiB. Many programs for Chrome's JSON may not read more than 512 MiB. "
            "Select a part of the trace: --time, --process.");
  EXPECT_NE(warning("tprof.firefox.json.gz", 600 * mib).find("600 MiB when it is unpacked"),
            std::string::npos);
  EXPECT_EQ(warning("tprof.speedscope.json", 2047 * mib), "");
  EXPECT_NE(warning("tprof.speedscope.json", 2048 * mib), "");
  EXPECT_EQ(warning("tprof.callgrind", uint64_t{1} << 40), "");
}

}  // namespace
