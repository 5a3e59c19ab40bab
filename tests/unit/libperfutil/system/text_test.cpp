// SPDX-License-Identifier: MIT
// Text helpers: CPU lists, numbers, files without a size; detection of hidden kernel symbols.
#include "system/text.h"

#include <gtest/gtest.h>

#include "file/info_section.h"
#include "file/kernel_texts.h"
#include "temp_dir.h"
#include "unpacked.h"

namespace pi::perfutil {
namespace {

using test::unpacked;

using Cpus = std::vector<uint32_t>;

TEST(Text, CpuListsAreRangesAndSingles) {
  EXPECT_EQ(parse_cpu_list("0\n"), Cpus{0});
  EXPECT_EQ(parse_cpu_list("0-2,5,7-8\n"), (Cpus{0, 1, 2, 5, 7, 8}));
  for (const char* bad : {"", "x", "3-1", "0-", "-", "0,,1", "0-4294967296", "0-99999999"})
    EXPECT_EQ(parse_cpu_list(bad), Cpus{}) << bad;
}

TEST(Text, NumbersMustBeWhole) {
  EXPECT_EQ(parse_number("12"), 12u);
  EXPECT_EQ(parse_number("ff", 16), 255u);
  EXPECT_FALSE(parse_number("12x"));
  EXPECT_FALSE(parse_number(""));
  EXPECT_FALSE(parse_number("-1"));
  EXPECT_FALSE(parse_number("18446744073709551616"));
}

TEST(Text, AFileIsReadWholeOrUpToTheLimit) {
  const test::TempDir dir;
  const std::string text(100'000, 'x');
  const std::string path = dir.write("big", text);
  EXPECT_EQ(read_text(path), text);
  EXPECT_EQ(read_text(path, 5000), std::string(5000, 'x'));
  EXPECT_EQ(read_text(dir.write("empty", "")), "");
  EXPECT_FALSE(read_text(dir / "missing"));
}

TEST(KernelTexts, SymbolsAreHiddenWhenEveryAddressIsZero) {
  EXPECT_TRUE(has_addresses("0000000000000000 A zero\nffffffff81000000 T _text\n"));
  EXPECT_FALSE(has_addresses("0000000000000000 A zero\n0000000000000000 T _text\n"));
  const test::TempDir proc;
  EXPECT_EQ(read_kernel_texts(proc.path()).kallsyms_state, "missing");
  proc.write("kallsyms", "0000000000000000 T _text\n");
  const auto hidden = read_kernel_texts(proc.path());
  EXPECT_EQ(hidden.kallsyms_state, "hidden");
  EXPECT_EQ(hidden.kallsyms, "");
  proc.write("kallsyms", "ffffffff81000000 T _text\n");
  const auto shown = read_kernel_texts(proc.path());
  EXPECT_EQ(shown.kallsyms_state, "complete");
  EXPECT_EQ(unpacked(shown.kallsyms), "ffffffff81000000 T _text\n");
}

// Symbols are the largest part of a short trace.
TEST(KernelTexts, SymbolsAreCompressed) {
  std::string text;
  for (int i = 0; i < 10'000; ++i)
    text +=
        "ffffffff81" + std::to_string(100'000 + i * 16) + " t symbol_" + std::to_string(i) + "\n";
  const test::TempDir proc;
  proc.write("kallsyms", text);
  const auto kernel = read_kernel_texts(proc.path());
  EXPECT_EQ(unpacked(kernel.kallsyms), text);
  EXPECT_LT(kernel.kallsyms.size() * 3, text.size());
}

TEST(InfoText, ALineFeedInAValueCannotMakeASecondLine) {
  InfoText info;
  info.add("note", "one\ntwo=3");
  info.add_number("n", 7);
  EXPECT_EQ(info.text(), "note=one two=3\nn=7\n");
}

}  // namespace
}  // namespace pi::perfutil
