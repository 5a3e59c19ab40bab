// SPDX-License-Identifier: MIT
// JProf's options: words, values, options files, and refused options.
#include "options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "option_table.h"

namespace pi::jprof {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<std::string> no_config(const std::string& path) {
  return Error{1, "no " + path};
}

ParsedOptions parse(std::string_view text, const ReadConfig& read = no_config) {
  return parse_options({text}, read);
}

Options good(std::string_view text) {
  auto parsed = parse(text);
  EXPECT_THAT(parsed.errors, IsEmpty()) << text;
  return parsed.options;
}

TEST(Options, NothingIsRecordedByDefault) {
  const Options options = good("");
  EXPECT_FALSE(options.records());
  EXPECT_TRUE(options.pid_in_names);
  EXPECT_EQ(options.log_path, ".");
  EXPECT_EQ(options.log_prefix, "log");
  EXPECT_EQ(options.log_suffix, "");
}

TEST(Options, TprofAndItraceEnableAllThreeOptions) {
  for (const auto word :
       {"tprof", "TPROF", "ITrace", "+tprof", "allitrace", "jita2n,threadinfo,jinsts"}) {
    const Options options = good(word);
    EXPECT_TRUE(options.jita2n && options.thread_names && options.code_bytes) << word;
  }
}

TEST(Options, VirtualThreadsBelongToTprofAndNeedThreadNames) {
  EXPECT_TRUE(good("tprof").virtual_threads);
  EXPECT_FALSE(good("threadinfo").virtual_threads);
  EXPECT_FALSE(good("tprof,novthreads").virtual_threads);
  EXPECT_TRUE(good("tprof,novthreads").thread_names);
  EXPECT_TRUE(good("vthreads").thread_names);
  EXPECT_FALSE(good("tprof,nothreadinfo").virtual_threads);
}

TEST(Options, ASwitchCanBeNegated) {
  const Options options = good("tprof,nojinsts,-threadinfo,nopidx,noverbose");
  EXPECT_TRUE(options.jita2n);
  EXPECT_FALSE(options.code_bytes || options.thread_names || options.pid_in_names ||
               options.verbose);
  EXPECT_FALSE(good("tprof,notprof").records());
}

TEST(Options, CodeBytesRequireTheCodeLog) {
  EXPECT_TRUE(good("jinsts").jita2n);
  EXPECT_FALSE(good("jinsts,nojita2n").code_bytes);
}

TEST(Options, SamplingHasARateAndContradictsProbes) {
  const Options options = good("scs,start,scs_rate=100,scs_frames=64,scs_walk=safepoint");
  EXPECT_TRUE(options.samples() && options.sampling.at_safepoints);
  EXPECT_EQ(options.sampling.rate, 100U);
  EXPECT_EQ(options.sampling.frames, 64U);
  EXPECT_EQ(good("sampling").sampling.rate, 32U);
  EXPECT_FALSE(good("scs,noscs").records());
  EXPECT_TRUE(good("scs_a2n,scs").sampling.with_native);
  EXPECT_FALSE(good("scs_a2n,scs,noscs_a2n").sampling.with_native);
  for (const char* wrong : {"scs_a2n", "scs,scs_a2n,scs_walk=safepoint", "scs=class_load,scs_a2n"})
    EXPECT_THAT(parse(wrong).errors, ElementsAre(HasSubstr("needs SCS by time"))) << wrong;
  EXPECT_THAT(parse("scs,calltree").errors, ElementsAre(HasSubstr("SCS cannot be used with")));
  EXPECT_THAT(parse("scs,noserver").errors,
              ElementsAre(HasSubstr("records nothing without START")));
  EXPECT_THAT(parse("scs_rate=0").errors, ElementsAre(HasSubstr("a number from 1 to 1000")));
}

TEST(Options, SamplingByEventsHasThresholds) {
  const auto sampling = [](std::string_view text) { return good(text).sampling; };
  EXPECT_EQ(sampling("scs").event, SampleEvent::time);
  const auto waits = sampling("scs=monitor_wait=20+");
  EXPECT_EQ(waits.event, SampleEvent::monitor_wait);
  EXPECT_EQ(waits.every, 20U);
  EXPECT_TRUE(waits.with_class);
  const auto allocations = sampling("SCS=ALLOCATIONS=3:4096");
  EXPECT_TRUE(allocations.is_allocation() && !allocations.with_class);
  EXPECT_EQ(allocations.every, 3U);
  EXPECT_EQ(allocations.every_bytes, 4096U);
  EXPECT_EQ(sampling("scs=class_load").every, 1U);
  EXPECT_FALSE(good("scs=class_load,noscs").records());
  EXPECT_THAT(parse("scs=allocations=3").errors, ElementsAre(HasSubstr("needs two numbers")));
  for (const char* wrong : {"scs=monitor_wait=", "scs=monitor_wait=0", "scs=class_load=1:2",
                            "scs=allocations=1:2:3", "scs=allocations=:", "scs=allocated_bytes=-1"})
    EXPECT_THAT(parse(wrong).errors, testing::SizeIs(1)) << wrong;
}

TEST(Options, ObjectInfoIsAMetricOfCalls) {
  EXPECT_TRUE(good("calltree,objectinfo").object_info);
  EXPECT_TRUE(good("callflow,objectinfo").object_info);
  EXPECT_FALSE(good("calltree,objectinfo,noobjectinfo").object_info);
  EXPECT_TRUE(good("calltree,liveobjects").object_info);
  EXPECT_TRUE(good("calltree,liveobjects").live_objects);
  EXPECT_FALSE(good("calltree,liveobjects,noobjectinfo").live_objects);
  EXPECT_TRUE(good("calltree,liveobjects,noliveobjects").object_info);
  EXPECT_THAT(parse("liveobjects").errors, ElementsAre(HasSubstr("needs CALLTREE")));
  EXPECT_THAT(parse("calltree,calltrace,liveobjects").errors,
              ElementsAre(HasSubstr("only log-rt has objects")));
  EXPECT_THAT(parse("objectinfo").errors, ElementsAre(HasSubstr("needs CALLTREE")));
  EXPECT_THAT(parse("calltree,objectinfo,metrics=cpi").errors,
              ElementsAre(HasSubstr("cannot be used with METRICS")));
}

TEST(Options, TheLastOptionWinsAcrossTexts) {
  const auto parsed = parse_options({"logpath=/a,tprof", "LOGPATH=/b,NOTHREADINFO"}, no_config);
  EXPECT_THAT(parsed.errors, IsEmpty());
  EXPECT_EQ(parsed.options.log_path, "/b");
  EXPECT_FALSE(parsed.options.thread_names);
}

TEST(Options, ValuesKeepTheirCaseAndTheirEqualsSigns) {
  const Options options = good("LogPath=/Dir/a=b,logprefix=P,LOGSUFFIX=.X");
  EXPECT_EQ(options.log_path, "/Dir/a=b");
  EXPECT_EQ(options.log_prefix, "P");
  EXPECT_EQ(options.log_suffix, ".X");
}

TEST(Options, FnmSetsPathAndPrefix) {
  EXPECT_EQ(good("fnm=/tmp/run/p").log_path, "/tmp/run");
  EXPECT_EQ(good("fnm=/tmp/run/p").log_prefix, "p");
  EXPECT_EQ(good("fnm=/p").log_path, "/");
  EXPECT_EQ(good("fnm=p").log_path, ".");
  EXPECT_THAT(parse("fnm=/tmp/").errors, ElementsAre(HasSubstr("FNM=/tmp/")));
}

TEST(Options, UnknownOptionsAreReportedAndTheOthersApply) {
  const auto parsed = parse("foo,tprof,Bar=1,nofoo,-,no,,all,?");
  EXPECT_TRUE(parsed.options.jita2n);
  EXPECT_THAT(parsed.errors, ElementsAre(HasSubstr("'foo'"), HasSubstr("'Bar=1'"),
                                         HasSubstr("'nofoo'"), HasSubstr("'-'"), HasSubstr("'no'"),
                                         HasSubstr("'all'"), HasSubstr("'?'")));
}

TEST(Options, CommandsCannotBeNegatedAndTakeNoValue) {
  EXPECT_THAT(parse("nohelp").errors, ElementsAre(HasSubstr("'nohelp'")));
  EXPECT_THAT(parse("help=1").errors, ElementsAre(HasSubstr("takes no value")));
  EXPECT_THAT(parse("tprof=1").errors, ElementsAre(HasSubstr("takes no value")));
  EXPECT_TRUE(good("allhelp").all_help);
  EXPECT_FALSE(good("allhelp").help);
}

TEST(Options, MissingAndInvalidValuesAreRefused) {
  EXPECT_THAT(parse("logpath").errors, ElementsAre(HasSubstr("LOGPATH=DIR")));
  EXPECT_THAT(parse("logpath=").errors, ElementsAre(HasSubstr("LOGPATH=DIR")));
  EXPECT_THAT(parse("logprefix=a/b").errors, ElementsAre(HasSubstr("'/'")));
  EXPECT_THAT(parse("logsuffix=" + std::string(201, 'x')).errors, ElementsAre(HasSubstr("200")));
  EXPECT_THAT(parse("nologpath=/x").errors, ElementsAre(HasSubstr("'nologpath=/x'")));
}

TEST(Options, DetachExcludesRecordingOptions) {
  EXPECT_TRUE(good("detach,verbose").detach);
  EXPECT_THAT(parse("detach,tprof").errors, ElementsAre(HasSubstr("DETACH")));
}

TEST(Options, AnOptionsFileIsRead) {
  const auto read = [](const std::string& path) -> Result<std::string> {
    EXPECT_EQ(path, "/c");
    return std::string("// tprof\n  //jinsts\nthreadinfo verbose\r\n\n\tlogpath=/x,LOGPREFIX=y");
  };
  const auto parsed = parse("config=/c,logprefix=z", read);
  EXPECT_THAT(parsed.errors, IsEmpty());
  EXPECT_TRUE(parsed.options.thread_names && parsed.options.verbose);
  EXPECT_FALSE(parsed.options.jita2n);
  EXPECT_EQ(parsed.options.log_path, "/x");
  EXPECT_EQ(parsed.options.log_prefix, "z");
}

TEST(Options, NestedAndMissingOptionsFilesAreRefused) {
  const auto nested = [](const std::string&) -> Result<std::string> {
    return std::string("config=/d");
  };
  EXPECT_THAT(parse("config=/c", nested).errors, ElementsAre(HasSubstr("CONFIG=/d")));
  EXPECT_THAT(parse("config=/c").errors, ElementsAre("no /c"));
}

std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const size_t end = std::min(list.find(' '), list.size());
    words.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return words;
}

TEST(Options, TheLockMonitorHasCommandsAndExcludesCalls) {
  EXPECT_EQ(good("jlm").locks, Locks::counts_and_times);
  EXPECT_EQ(good("JLMSTARTLITE,port=8888").locks, Locks::counts);
  EXPECT_EQ(good("jlm,nojlm,tprof").locks, Locks::none);
  EXPECT_FALSE(good("jlml,noserver").no_start);
  EXPECT_TRUE(good("jlml,nostart").no_start);
  EXPECT_THAT(parse("jlm,calltree").errors, ElementsAre(HasSubstr("one after the other")));
  EXPECT_THAT(parse("jlm,nostart,noserver").errors, ElementsAre(HasSubstr("counts nothing")));
}

TEST(Options, HeapDumpsHaveCommandsAndGoWithOtherRecordings) {
  EXPECT_TRUE(good("hd").heap_dump);
  EXPECT_TRUE(good("heapdump,port=8888").records());
  EXPECT_FALSE(good("hd,nohd").records());
  EXPECT_TRUE(good("hd,calltree,nostart").heap_dump);
  EXPECT_FALSE(good("hd,tprof").has_commands());
  EXPECT_THAT(parse("hd,nostart,noserver").errors, ElementsAre(HasSubstr("writes nothing")));
}

TEST(Options, RefusedOptionsAreReportedWithTheReasonUnlessNegated) {
  size_t count = 0;
  for (const auto& group : refused_words())
    for (const auto& word : words_of(group.names)) {
      ++count;
      EXPECT_THAT(parse(word).errors, ElementsAre(AllOf(HasSubstr("'" + word + "'"),
                                                        HasSubstr(std::string(group.why)))));
      EXPECT_THAT(parse(word + "=1").errors, ElementsAre(HasSubstr(std::string(group.why))));
      EXPECT_THAT(parse("-" + word).errors, IsEmpty());
      EXPECT_THAT(parse("no" + word).errors, testing::SizeIs(testing::Le(1u)));
    }
  EXPECT_GE(count, 69u);
}

TEST(Options, TheServerBelongsToCallTreeAndCanBeTurnedOff) {
  EXPECT_TRUE(good("calltree").server);
  EXPECT_FALSE(good("calltree,start,noserver").server);
  EXPECT_FALSE(good("calltree,start,nortdriver").server);
  EXPECT_FALSE(good("calltree,start,nosocket").server);
  EXPECT_EQ(good("calltree,port=8888").port, 8888U);
  EXPECT_TRUE(good("calltree,logrtdcmds").log_commands);
  for (const char* wrong : {"calltree,port=0", "calltree,port=65536", "calltree,port=x",
                            "calltree,port=1x", "calltree,port=-1", "tprof,port=8888",
                            "calltree,start,port=8888,noserver", "calltree,noserver"})
    EXPECT_THAT(parse(wrong).errors, testing::SizeIs(1)) << wrong;
}

TEST(Options, ReportsHaveMetricsOfTheirOwnUnlessTheyAreChosen) {
  const auto names = [](std::string_view text) {
    std::string all;
    for (const auto& metric : good(text).metrics)
      all += metric.name + (metric.digits ? ":" + std::to_string(metric.digits) : "") + " ";
    return all;
  };
  EXPECT_EQ(names("calltree"), "");
  EXPECT_EQ(names("callflow"), "PTT_INSTS PTT_CYCLES ");
  EXPECT_EQ(names("callflow,nocallflow"), "");
  EXPECT_EQ(names("calltrace"), "PTT_INSTS ");
  EXPECT_EQ(names("generic,callflow"), "PTT_INSTS PTT_CYCLES ");
  EXPECT_EQ(names("metrics=raw_cycles,calltrace,callflow"), "RAW_CYCLES ");
  EXPECT_EQ(names("callflow,nometrics"), "");
  EXPECT_EQ(names("callflow,Raw_Cycles"), "RAW_CYCLES ");
  EXPECT_EQ(names("allmetrics"), "PTT_INSTS PTT_CYCLES CPI ");
  EXPECT_EQ(names("metrics=ptt_cycles:3+page-faults"), "PTT_CYCLES:3 page-faults ");
  EXPECT_TRUE(good("callflow").metrics_may_fail);
  EXPECT_FALSE(good("cpi").metrics_may_fail);
  const Options trace = good("calltrace");
  EXPECT_TRUE(trace.records_calls() && trace.call_trace && !trace.call_tree);
  EXPECT_TRUE(good("calltrace,calltree").call_tree);
  for (const char* wrong : {"metrics=a:x", "metrics=a:10", "metrics=1+2+3+4+5+6+7+8+9",
                            "metrics=thread_clock+raw_cycles", "metrics=", "nocpi", "cpi=1"})
    EXPECT_THAT(parse(wrong).errors, testing::SizeIs(1)) << wrong;
}

TEST(Options, CalibrationIsOnAndItsFilesAreNamed) {
  EXPECT_TRUE(good("calltree,start").calibrate);
  EXPECT_FALSE(good("calltree,start,nocalibrate").calibrate);
  const Options options = good("calltree,start,minima=/m/a,SAVEMINIMA=b,envminima=c,json,folded");
  EXPECT_EQ(options.minima_file, "/m/a");
  EXPECT_EQ(options.save_minima_file, "b");
  EXPECT_EQ(options.environment_file, "c");
  EXPECT_TRUE(options.json);
  EXPECT_TRUE(options.folded);
  EXPECT_FALSE(good("calltree,start").json);
  EXPECT_THAT(parse("minima").errors, testing::SizeIs(1));
}

TEST(Options, EveryOptionWordIsUnique) {
  std::set<std::string> seen;
  for (const auto& known : option_words()) {
    EXPECT_TRUE(seen.insert(std::string(known.name)).second) << known.name;
    if (!known.alias.empty()) {
      EXPECT_TRUE(seen.insert(std::string(known.alias)).second);
    }
  }
  for (const auto& group : refused_words())
    for (const auto& word : words_of(group.names)) EXPECT_TRUE(seen.insert(word).second) << word;
}

TEST(Options, HelpListsEveryOptionAndAllHelpAlsoRefusedOnes) {
  const std::string help = options_help(false), all = options_help(true);
  for (const auto& known : option_words()) EXPECT_THAT(help, HasSubstr(std::string(known.name)));
  for (const auto& group : refused_words())
    for (const auto& word : words_of(group.names)) EXPECT_THAT(all, HasSubstr(" " + word));
  EXPECT_THAT(help, testing::Not(HasSubstr("HEALTHCENTER")));
}

}  // namespace
}  // namespace pi::jprof
