// SPDX-License-Identifier: MIT
// post's command line: classic one-dash options, modern ones, and wrong use.
#include <gtest/gtest.h>

#include "options/options.h"

namespace {

using post::Options;
using post::parse_options;

Options good(const std::vector<std::string>& arguments) {
  auto parsed = parse_options(arguments);
  EXPECT_TRUE(std::holds_alternative<Options>(parsed));
  return std::holds_alternative<Options>(parsed) ? std::get<Options>(parsed) : Options{};
}

int status_of(const std::vector<std::string>& arguments) {
  auto parsed = parse_options(arguments);
  return std::holds_alternative<int>(parsed) ? std::get<int>(parsed) : -1;
}

TEST(Options, DefaultsAreTheDocumentedOnes) {
  const Options options = good({});
  EXPECT_EQ(options.trace_file, "swtrace.nrm2");
  EXPECT_EQ(options.output("tprof.out"), "tprof.out");
  EXPECT_TRUE(options.tprof);
  EXPECT_FALSE(options.show);
  EXPECT_EQ(options.report.clip_percent, 0.1);
  EXPECT_FALSE(options.json);
  EXPECT_FALSE(options.symbols.plain_no_symbol);
}

TEST(Options, ArcOptionsSelectTheForm) {
  const Options plain = good({"-arc"});
  EXPECT_TRUE(plain.arc);
  EXPECT_TRUE(plain.tprof_out);
  EXPECT_TRUE(plain.symbols.code);
  EXPECT_FALSE(plain.arc_form.compact || plain.arc_form.merge_kernel || plain.arc_form.merge_plt ||
               plain.arc_form.instructions || plain.arc_form.count_by_code);
  const Options all = good({"-arc", "-c", "-ck", "-cp", "-ssi", "-dcnt", "-m", "-tmod"});
  EXPECT_TRUE(all.arc_form.compact && all.arc_form.merge_kernel && all.arc_form.merge_plt);
  EXPECT_TRUE(all.arc_form.instructions && all.arc_form.bytes && all.arc_form.count_by_code);
  EXPECT_TRUE(all.arc_form.module_width);
  EXPECT_FALSE(all.tprof_out);
  EXPECT_FALSE(good({"-arc", "-ss"}).arc_form.bytes);
  for (const char* form : {"-c", "-ck", "-cp", "-ss", "-ssi", "-dcnt", "-m"})
    EXPECT_EQ(status_of({form}), 255) << form;
}

TEST(Options, OneDashAndTwoDashesMeanTheSame) {
  const Options one = good({"-r", "a.nrm2", "-clip", "2.5", "-rsel", "01000001", "-off", "-pnm",
                            "-tnm", "-cpu", "-nsf", "-sympath", "/a:/b", "-demangle", "-kas"});
  const Options two = good({"-ra.nrm2", "--clip=2.5", "--rsel=01000001", "--off", "--pnm", "--tnm",
                            "--cpu", "--nsf", "--sympath=/a:/b", "--demangle", "--kas"});
  for (const Options& options : {one, two}) {
    EXPECT_EQ(options.trace_file, "a.nrm2");
    EXPECT_EQ(options.report.clip_percent, 2.5);
    EXPECT_EQ(options.report.selected,
              (std::array<bool, 8>{false, true, false, false, false, false, false, true}));
    EXPECT_TRUE(options.report.offsets);
    EXPECT_TRUE(options.report.labels.process_names_only);
    EXPECT_TRUE(options.report.labels.thread_names_only);
    EXPECT_TRUE(options.report.labels.per_cpu);
    EXPECT_TRUE(options.symbols.plain_no_symbol);
    EXPECT_TRUE(options.symbols.demangle);
    EXPECT_TRUE(options.symbols.running_kernel);
    EXPECT_EQ(options.symbols.search_path, "/a:/b");
  }
}

TEST(Options, TheTraceCanBeAPositionalArgument) {
  const Options options = good({"-pnm", "a.nrm2", "-tnm"});
  EXPECT_EQ(options.trace_file, "a.nrm2");
  EXPECT_TRUE(options.report.labels.thread_names_only);
}

TEST(Options, ThePageHasASubjectAndALength) {
  const Options plain = good({});
  EXPECT_FALSE(plain.page || plain.report.subject || plain.report.page_rows);
  const Options page = good({"--page", "--of", "4711", "--lines", "0"});
  EXPECT_TRUE(page.page);
  EXPECT_EQ(page.report.subject, 4711u);
  EXPECT_EQ(page.report.page_rows, 0u);
}

TEST(Options, ABucketIsOfParquetAndInSeconds) {
  EXPECT_EQ(good({"--export", "parquet"}).bucket_ns, 1'000'000'000u);
  EXPECT_EQ(good({"--export", "parquet", "--bucket", "0"}).bucket_ns, 0u);
  EXPECT_EQ(good({"--export", "parquet", "--bucket", "0.5"}).bucket_ns, 500'000'000u);
  EXPECT_EQ(good({"--export", "parquet", "--bucket", "86400"}).bucket_ns, 86'400'000'000'000u);
  for (const char* wrong : {"", "x", "1s", "-1", "nan", "inf", "86401", "0.0000001"})
    EXPECT_EQ(status_of({"--export", "parquet", "--bucket", wrong}), 255) << wrong;
  EXPECT_EQ(status_of({"--bucket", "1"}), 255);
  EXPECT_EQ(status_of({"--export", "pprof", "--bucket", "1"}), 255);
}

TEST(Options, JitCodeAndPerInstructionOptions) {
  const Options plain = good({});
  EXPECT_FALSE(plain.micro || plain.symbols.code || plain.symbols.inlined);
  EXPECT_EQ(plain.symbols.log_prefix, "");
  const Options off = good({"-off"});
  EXPECT_TRUE(off.micro && off.symbols.code && off.report.offsets);
  EXPECT_FALSE(off.report.disassembly);
  const Options all =
      good({"-disasm", "-inline", "-jdir", "logs/java", "-jita2nmsg", "-a2nmmi", "VM"});
  EXPECT_TRUE(all.micro && all.symbols.code && all.report.disassembly && all.symbols.inlined);
  EXPECT_FALSE(all.report.offsets);
  EXPECT_EQ(all.symbols.log_prefix, "logs/java");
  EXPECT_TRUE(all.symbols.report_logs);
  EXPECT_EQ(all.symbols.dynamic_code_name, "VM");
  for (const char* other : {"-showx", "--archive"}) EXPECT_EQ(status_of({"-disasm", other}), 255);
  EXPECT_EQ(status_of({"-disasm", "-diff", "a", "b"}), 255);
  EXPECT_EQ(status_of({"-jdir"}), 255);
}

TEST(Options, CallAndDispatchReportsCombineButExcludeShowxArchiveAndDiff) {
  const Options options = good({"-tree", "-folded", "-threads", "--offcpu", "--json"});
  EXPECT_TRUE(options.tree);
  EXPECT_TRUE(options.folded);
  EXPECT_TRUE(options.off_cpu);
  EXPECT_TRUE(options.report.calls_by_thread);
  for (const char* report : {"-tree", "-folded", "-offcpu"}) {
    EXPECT_EQ(status_of({report, "-showx"}), 255);
    EXPECT_EQ(status_of({report, "--archive"}), 255);
    EXPECT_EQ(status_of({report, "--diff", "a", "b"}), 255);
  }
  EXPECT_EQ(status_of({"-threads"}), 255);
}

TEST(Options, KernelImageDoesNotSelectTheRunningKernel) {
  EXPECT_EQ(good({"-k", "vmlinux"}).symbols.kernel_image, "vmlinux");
  EXPECT_FALSE(good({"-k", "vmlinux"}).symbols.running_kernel);
}

TEST(Options, ShowVariantsSelectTheOutput) {
  EXPECT_TRUE(good({"-show"}).show);
  EXPECT_TRUE(good({"-show"}).tprof);
  EXPECT_FALSE(good({"-showx"}).tprof);
  EXPECT_FALSE(good({"-showx"}).show_raw);
  EXPECT_TRUE(good({"-showxx"}).show_raw);
  EXPECT_FALSE(good({"-showxx"}).tprof);
  EXPECT_TRUE(good({"-showt"}).show && good({"-showt"}).tprof && good({"-showt"}).show_seconds);
  EXPECT_FALSE(good({"-showx", "-showt"}).tprof);
}

TEST(Options, OutputsGoToTheDirectoryUnlessAbsolute) {
  const Options options = good({"-o", "run1", "--json"});
  EXPECT_EQ(options.output("tprof.out"), "run1/tprof.out");
  EXPECT_EQ(options.output(*options.json), "run1/tprof.json");
  EXPECT_EQ(*good({"--json=/tmp/x.json"}).json, "/tmp/x.json");
  EXPECT_EQ(options.output("/tmp/x.json"), "/tmp/x.json");
}

TEST(Options, WindowsCountFromOneAndIncludeBothEnds) {
  const post::Selection all = good({}).report.selection;
  EXPECT_TRUE(all.takes_tick(1, 1, 0x23));
  EXPECT_TRUE(post::selection_texts(all).empty());
  const post::Selection some =
      good({"-pp", "10", "20", "-twin", "3", "4", "-tpsel", "2"}).report.selection;
  EXPECT_TRUE(some.takes_tick(10, 3, 0x223));
  EXPECT_TRUE(some.takes_tick(20, 4, 0x220));
  EXPECT_FALSE(some.takes_tick(9, 3, 0x223));
  EXPECT_FALSE(some.takes_tick(21, 3, 0x223));
  EXPECT_FALSE(some.takes_tick(10, 2, 0x223));
  EXPECT_FALSE(some.takes_tick(10, 5, 0x223));
  EXPECT_FALSE(some.takes_tick(10, 3, 0x123));
  EXPECT_EQ(post::selection_texts(some).size(), 3u);
  EXPECT_EQ(good({"-p", "7"}).report.selection.records.last, 7u);
}

TEST(Options, SelectionsHaveAnIncludingAndAnExcludingForm) {
  using post::NameKind;
  const post::Selection selection = good({"--process",
                                          "cc1*",
                                          "--process=4711",
                                          "-no-process",
                                          "sh",
                                          "--command",
                                          "make",
                                          "--thread",
                                          "main",
                                          "--module=libc.so.6",
                                          "--no-symbol=-x",
                                          "--cpus",
                                          "0-3,7",
                                          "--no-cpus=2",
                                          "--time",
                                          "-3",
                                          "--time",
                                          "4.5-",
                                          "--no-time",
                                          "1-2"})
                                        .report.selection;
  EXPECT_EQ(selection.of(NameKind::process).only, (std::vector<std::string>{"cc1*", "4711"}));
  EXPECT_EQ(selection.of(NameKind::process).without, (std::vector<std::string>{"sh"}));
  EXPECT_EQ(selection.of(NameKind::command).only, (std::vector<std::string>{"make"}));
  EXPECT_EQ(selection.of(NameKind::thread).only, (std::vector<std::string>{"main"}));
  EXPECT_EQ(selection.of(NameKind::module).only, (std::vector<std::string>{"libc.so.6"}));
  EXPECT_EQ(selection.of(NameKind::symbol).without, (std::vector<std::string>{"-x"}));
  EXPECT_EQ(selection.cpus.only.size(), 2u);
  EXPECT_EQ(selection.cpus.without.size(), 1u);
  EXPECT_EQ(selection.times.only.size(), 2u);
  EXPECT_EQ(selection.times.without.size(), 1u);
  EXPECT_FALSE(good({}).report.selection.by_name());
  EXPECT_TRUE(good({"-cpu", "--process", "x"}).report.labels.per_cpu);
}

TEST(Options, InvalidSelectionsAreRefused) {
  for (const char* word : {"--process=", "--no-thread=", "--cpus=x", "--cpus=3-1",
                           "--no-cpus=", "--time=1", "--time=2-1", "--no-time=x-"})
    EXPECT_EQ(status_of({word}), 255) << word;
  EXPECT_EQ(status_of({"--process"}), 255);
}

TEST(Options, SelectionsThatAReportCannotFollowAreRefused) {
  const std::vector<std::vector<std::string>> bad = {
      {"-show", "--process", "x"},     {"-showx", "--no-command", "x"},
      {"-showt", "--symbol", "x"},     {"-offcpu", "--symbol", "x"},
      {"-offcpu", "--no-module", "x"}, {"-offcpu", "--cpus", "0"},
      {"-offcpu", "--no-time", "1-2"}, {"-offcpu", "--time", "1-2", "--time", "3-4"},
      {"-arc", "--module", "x"},       {"--archive", "--process", "x"},
      {"--archive", "--time", "1-2"},  {"--archive", "--cpus", "0"},
      {"--diff", "a", "b", "-showt"}};
  for (const auto& words : bad) EXPECT_EQ(status_of(words), 255) << words[0] << " " << words[1];
  const std::vector<std::vector<std::string>> fine = {
      {"-show", "--time", "1-2", "--cpus", "0"},
      {"-offcpu", "--process", "x", "--command", "y", "--thread", "z", "--time", "1-2"},
      {"-arc", "--process", "x", "--cpus", "0", "--no-time", "1-2"},
      {"--diff", "a", "b", "--symbol", "x"},
      {"-tree", "-folded", "-off", "--json", "--no-symbol", "x"}};
  for (const auto& words : fine) good(words);
}

TEST(Options, DiffTakesTwoFilesAndHasItsOwnJsonName) {
  const Options options = good({"--diff", "a", "b", "--json", "-clip", "1", "--strict"});
  EXPECT_EQ(*options.compared, (std::pair<std::string, std::string>{"a", "b"}));
  EXPECT_EQ(*options.json, "tprof.diff.json");
  EXPECT_TRUE(options.strict);
  EXPECT_EQ(*good({"--diff", "a", "b", "--json=x"}).json, "x");
  EXPECT_EQ(*good({"--json"}).json, "tprof.json");
  EXPECT_FALSE(good({}).strict);
}

TEST(Options, RemainingClassicOptionsAreParsed) {
  const Options options = good({"-x", "f", "-tmod", "-compat", "-verbmsg", "--budget", "limits"});
  EXPECT_EQ(*options.extra_reports_file, "f");
  EXPECT_TRUE(options.symbols.module_width);
  EXPECT_FALSE(options.report.mode_line);
  EXPECT_TRUE(options.message_file);
  EXPECT_EQ(*options.budget_file, "limits");
}

TEST(Options, WrongUseGives255) {
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"-bogus"},
                                             {"one.nrm2", "two.nrm2"},
                                             {"one.nrm2", "-r", "two.nrm2"},
                                             {"--of", "0"},
                                             {"--of", "2f"},
                                             {"--lines", "-1"},
                                             {"--page", "-showx"},
                                             {"--page", "--archive"},
                                             {"-clip", "x"},
                                             {"-clip", "101"},
                                             {"-clip", "-1"},
                                             {"-clip", "nan"},
                                             {"-clip"},
                                             {"-rsel", "0000000"},
                                             {"-rsel", "00000002"},
                                             {"-rsel", "00000000"},
                                             {"-showx", "--json"},
                                             {"-o", ""},
                                             {"-p", "0"},
                                             {"-p", "x"},
                                             {"-p", "5", "-pp", "1", "5"},
                                             {"-pp", "5"},
                                             {"-pp", "5", "4"},
                                             {"-pp", "1", "2", "3"},
                                             {"-twin", "1", "18446744073709551616"},
                                             {"-twin", "0", "0"},
                                             {"-tpsel", "256"},
                                             {"-tpsel", "-1"},
                                             {"-x"},
                                             {"--budget"},
                                             {"--diff", "a"},
                                             {"--diff", "a", "b", "c"},
                                             {"--diff", "a", "b", "-r", "c"},
                                             {"--diff", "a", "b", "--budget", "c"},
                                             {"--diff", "a", "b", "-show"},
                                             {"-showx", "--budget", "c"},
                                             {"-showxx", "-x", "c"},
                                             {"-r"}})
    EXPECT_EQ(status_of(wrong), 255) << wrong[0];
}

TEST(Options, SymbolOptionsSelectSourcesAndForms) {
  const Options options =
      good({"-kmap",   "System.map", "-lmrg",  "a.msi",   "-nv",  "-anysym", "-a2nrdup",
            "-a2ndbg", "-a2nrfn",    "ranges", "-a2nrng", "libc", "a",       "b",
            "x",       "-a2nrng",    "libm",   "c",       "d",    "y"});
  const auto& symbols = options.symbols;
  EXPECT_EQ(symbols.kernel_map, "System.map");
  EXPECT_EQ(symbols.saved_symbols, "a.msi");
  EXPECT_FALSE(symbols.validate);
  EXPECT_TRUE(symbols.any_symbol && symbols.rename_duplicates && symbols.report_sources);
  EXPECT_EQ(symbols.range_file, "ranges");
  ASSERT_EQ(symbols.ranges.size(), 2u);
  EXPECT_EQ(symbols.ranges[1].module, "libm");
  EXPECT_EQ(symbols.ranges[1].name, "y");
  EXPECT_TRUE(symbols.sources_given());
  EXPECT_FALSE(good({"-anysym", "-demangle", "-nsf", "-a2nrdup"}).symbols.sources_given());
}

TEST(Options, AnArchiveIsNamedAfterItsTrace) {
  EXPECT_EQ(good({"--archive"}).archive, "swtrace.tar.zst");
  EXPECT_EQ(good({"-r", "dir/run1.nrm2", "--archive"}).archive, "run1.tar.zst");
  EXPECT_EQ(good({"--archive=x.tar.zst"}).archive, "x.tar.zst");
  EXPECT_FALSE(good({}).archive);
}

TEST(Options, HelpAndVersionGiveZero) {
  for (const char* word : {"-?", "-??", "-h", "--help", "-help", "--version"})
    EXPECT_EQ(status_of({word}), 0) << word;
}

}  // namespace
