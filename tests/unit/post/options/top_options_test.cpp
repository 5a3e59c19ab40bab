// SPDX-License-Identifier: MIT
// The command line of post top.
#include <gtest/gtest.h>

#include "options/top_options.h"

namespace {

using post::parse_top_options;
using post::TopOptions;

TopOptions good_top(const std::vector<std::string>& words) {
  auto parsed = parse_top_options(words);
  EXPECT_TRUE(std::holds_alternative<TopOptions>(parsed));
  return std::holds_alternative<TopOptions>(parsed) ? std::get<TopOptions>(parsed) : TopOptions{};
}

int top_status(const std::vector<std::string>& words) {
  auto parsed = parse_top_options(words);
  return std::holds_alternative<int>(parsed) ? std::get<int>(parsed) : -1;
}

TEST(TopOptions, TheTraceIsNamedAsForPost) {
  EXPECT_EQ(good_top({}).post.trace_file, "swtrace.nrm2");
  EXPECT_EQ(good_top({"a.nrm2"}).post.trace_file, "a.nrm2");
  EXPECT_EQ(good_top({"-r", "a.nrm2"}).post.trace_file, "a.nrm2");
  EXPECT_EQ(top_status({"-r", "a", "b"}), 255);
}

TEST(TopOptions, NothingIsWritten) {
  const post::Options options = good_top({}).post;
  EXPECT_FALSE(options.tprof_out);
  EXPECT_FALSE(options.show);
  EXPECT_FALSE(options.json);
  EXPECT_TRUE(options.symbols.code);
}

TEST(TopOptions, SelectionAndSymbolsAreThoseOfPost) {
  const post::Options options = good_top({"--process", "a*", "--no-symbol", "f", "-twin", "2", "9",
                                          "-k", "vmlinux", "--source-path", "/:/proc"})
                                    .post;
  const post::Selection& selection = options.report.selection;
  EXPECT_EQ(selection.of(post::NameKind::process).only, std::vector<std::string>{"a*"});
  EXPECT_EQ(selection.of(post::NameKind::symbol).without, std::vector<std::string>{"f"});
  EXPECT_EQ(selection.ticks.last, 9u);
  EXPECT_EQ(options.symbols.kernel_image, "vmlinux");
  EXPECT_EQ(options.report.source_path, (std::vector<std::string>{"/", "/proc"}));
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--cpus", "x"},
                                             {"--time", "x"},
                                             {"-lmrg", "a", "-sympath", "b"},
                                             {"-a2nrng", "a"},
                                             {"--source-path", ":"},
                                             {"--source-path", "/dev/null"},
                                             {"--page"},
                                             {"-tree"}})
    EXPECT_EQ(top_status(wrong), 255) << wrong.front();
}

TEST(TopOptions, TheIntervalIsSecondsFromOneToAnHour) {
  EXPECT_EQ(good_top({}).interval, std::chrono::seconds(2));
  EXPECT_EQ(good_top({"--interval", "3600"}).interval, std::chrono::seconds(3600));
  for (const char* wrong : {"0", "3601", "x", "-1", ""})
    EXPECT_EQ(top_status({std::string("--interval=") + wrong}), 255) << wrong;
}

}  // namespace
