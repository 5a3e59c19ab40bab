// SPDX-License-Identifier: MIT
// Profiles from traces and from tprof.json are equal; hostile JSON is refused with a reason.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "compare/profile_json.h"
#include "post_run.h"
#include "text_trace.h"

namespace {

using namespace test_support;
using Json = nlohmann::json;

constexpr char trace_text[] = R"(
cpus 2
info source=perf
info scope=system
info tick_ns=1000000
info missed.task_rename=2
info count.0.trace.produced=9
info count.0.trace.written=6
info count.0.trace.full=3
info count.0.mte.produced=4
info count.0.mte.written=4
section mte 0
1 name 0x20 app
1 module 0x20 0x1000 0x100 0 /bin/a
1 name 0x2345 app
1 module 0x2345 0x1000 0x100 0 /bin/a
section trace 0
1000000000 tick user 0x20 0x20 0x1001
2000000000 tick user 0x2345 0x2345 0x1002
3000000000 tick user 0x20 0x20 0x1080
4000000000 tick user 0x20 0x20 0x9000
5000000000 tick user 0x99 0x99 0x9000
6000000000 tick kernel 0 0 0xffffffff81000000
)";

PostRun run(const post::ReportOptions& report = {.clip_percent = 0}) {
  FakeSymbolizer symbolizer;
  symbolizer.add_symbol("/bin/a", 0, 0x10, "main");
  symbolizer.add_note("a note");
  const auto trace = trace_from_text(trace_text);
  EXPECT_TRUE(trace) << trace.error().message;
  post::Options options;
  options.report = report;
  return run_post(*trace, symbolizer, options);
}

using ProfileRows = std::vector<post::ProfileRow>;
const ProfileRows expected_rows = {{"(no name)", "NoModule", "NoSymbols", 1},
                                   {"SystemProcess", "vmlinux", "NoSymbolFound", 1},
                                   {"app", "/bin/a", "NoSymbolFound", 1},
                                   {"app", "/bin/a", "main", 2},
                                   {"app", "NoModule", "NoSymbols", 1}};

TEST(Profile, ProcessesWithOneNameAreSummed) {
  const post::Profile profile = run().profile;
  EXPECT_EQ(profile.rows, expected_rows);
  EXPECT_EQ(profile.ticks, 6u);
  EXPECT_EQ(profile.rate(5), 1.0);
  EXPECT_EQ(profile.missing, "3 records were lost; 2 hits of hooks were missed");
  EXPECT_FALSE(profile.damaged);
}

TEST(Profile, JsonRoundTripKeepsTheProfile) {
  for (const post::LabelOptions& labels : {post::LabelOptions{},
                                           {.process_names_only = true},
                                           {.per_cpu = true},
                                           {.process_names_only = true, .per_cpu = true}}) {
    const auto profile =
        post::profile_from_json(run({.clip_percent = 0, .labels = labels}).json, "x");
    ASSERT_TRUE(profile) << profile.error().message;
    EXPECT_EQ(profile->rows, expected_rows);
    EXPECT_EQ(profile->time_ns, 5'000'000'000u);
    EXPECT_EQ(profile->tick_ns, 1'000'000u);
    EXPECT_EQ(profile->no_module, 2u);
    EXPECT_EQ(profile->no_symbol, 2u);
    EXPECT_EQ(profile->missing, "3 records were lost; 2 hits of hooks were missed");
    EXPECT_EQ(profile->symbol_notes, std::vector<std::string>{"a note"});
    EXPECT_EQ(profile->lacks.size(), 2u);
  }
}

std::string problem_of_profile(const std::string& text) {
  const auto profile = post::profile_from_json(text, "x");
  return profile ? "" : profile.error().message;
}

TEST(Profile, ClippedProfilesAreRefused) {
  EXPECT_NE(problem_of_profile(run({.clip_percent = 34}).json).find("0 of 6 ticks"),
            std::string::npos)
      << problem_of_profile(run({.clip_percent = 34}).json);
  EXPECT_NE(problem_of_profile(run({.clip_percent = 0, .selected = {true}}).json).find("-rsel"),
            std::string::npos);
}

TEST(Profile, AnyMissingOrWrongMemberIsRefused) {
  const std::string whole = run().json;
  ASSERT_EQ(problem_of_profile(whole), "");
  const Json good = Json::parse(whole);
  for (const char* member : {"schema", "schema_version", "trace", "names", "ticks", "losses",
                             "unresolved", "damage", "symbol_notes", "reports"}) {
    Json bad = good;
    bad.erase(member);
    EXPECT_NE(problem_of_profile(bad.dump()), "") << member;
    for (const Json& value : {Json(-1), Json("text"), Json::array({1}), Json(nullptr), Json(1.5)}) {
      bad = good;
      bad[member] = value;
      EXPECT_NE(problem_of_profile(bad.dump()), "") << member << " = " << value;
    }
  }
}

TEST(Profile, TruncatedAndHostileTextsAreRefused) {
  const std::string whole = run().json;
  for (size_t size = 0; size < whole.size() - 2; size += 7)
    EXPECT_NE(problem_of_profile(whole.substr(0, size)), "") << size;
  EXPECT_NE(problem_of_profile(std::string(100'000, '[')), "");
  EXPECT_NE(problem_of_profile("[]"), "");
  EXPECT_NE(problem_of_profile("{}"), "");
}

TEST(Profile, RowsWithMoreTicksThanTheTotalAreRefused) {
  Json json = Json::parse(run().json);
  auto& symbol = json["reports"][2]["rows"][0]["children"][0]["children"][0];
  ASSERT_EQ(symbol["kind"], "symbol");
  for (const uint64_t ticks : {uint64_t{7}, UINT64_MAX}) {
    symbol["ticks"] = ticks;
    EXPECT_NE(problem_of_profile(json.dump()).find("more ticks than there are"), std::string::npos);
  }
}

TEST(Profile, JsonIsDistinguishedFromATrace) {
  EXPECT_TRUE(post::looks_like_json(" \n{"));
  EXPECT_FALSE(post::looks_like_json("NRM2{"));
  EXPECT_FALSE(post::looks_like_json(""));
}

}  // namespace
