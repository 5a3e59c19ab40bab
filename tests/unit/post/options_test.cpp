// SPDX-License-Identifier: MIT
// post's command line: the original's one-dash options, the modern ones, and wrong use.
#include <gtest/gtest.h>

#include "options.h"

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

TEST(Options, KernelImageIsNotTakenForAnother) {
  EXPECT_EQ(good({"-k", "vmlinux"}).symbols.kernel_image, "vmlinux");
  EXPECT_FALSE(good({"-k", "vmlinux"}).symbols.running_kernel);
}

TEST(Options, ShowVariantsDecideWhatIsWritten) {
  EXPECT_TRUE(good({"-show"}).show);
  EXPECT_TRUE(good({"-show"}).tprof);
  EXPECT_FALSE(good({"-showx"}).tprof);
  EXPECT_FALSE(good({"-showx"}).show_raw);
  EXPECT_TRUE(good({"-showxx"}).show_raw);
  EXPECT_FALSE(good({"-showxx"}).tprof);
}

TEST(Options, OutputsGoToTheDirectoryUnlessAbsolute) {
  const Options options = good({"-o", "run1", "--json"});
  EXPECT_EQ(options.output("tprof.out"), "run1/tprof.out");
  EXPECT_EQ(options.output(*options.json), "run1/tprof.json");
  EXPECT_EQ(*good({"--json=/tmp/x.json"}).json, "/tmp/x.json");
  EXPECT_EQ(options.output("/tmp/x.json"), "/tmp/x.json");
}

TEST(Options, WrongUseGives255) {
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"-bogus"},
                                             {"word"},
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
                                             {"-r"}})
    EXPECT_EQ(status_of(wrong), 255) << wrong[0];
}

TEST(Options, HelpAndVersionGiveZero) {
  for (const char* word : {"-?", "-??", "-h", "--help", "-help", "--version"})
    EXPECT_EQ(status_of({word}), 0) << word;
}

}  // namespace
