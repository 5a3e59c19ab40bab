// SPDX-License-Identifier: MIT
// Parsing of the texts of /proc/kallsyms and /proc/modules.
#include "kernel/kallsyms.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace {

using a2n::parse_kallsyms;
using a2n::parse_modules;

TEST(Kallsyms, LinesAreParsed) {
  const auto [lines, bad_lines, bad_bytes] = parse_kallsyms(
      "ffffffff81000000 T _stext\n"
      "ffffffffc0201000 t ext4_init\t[ext4]\n");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].address, 0xffffffff81000000u);
  EXPECT_EQ(lines[0].type, 'T');
  EXPECT_EQ(lines[0].name, "_stext");
  EXPECT_EQ(lines[0].module, "");
  EXPECT_EQ(lines[1].type, 't');
  EXPECT_EQ(lines[1].name, "ext4_init");
  EXPECT_EQ(lines[1].module, "ext4");
  EXPECT_EQ(bad_lines, 0u);
  EXPECT_EQ(bad_bytes, 0u);
}

TEST(Kallsyms, InvalidLinesAreSkippedAndCounted) {
  const std::string text =
      "\n"
      "zzzz T bad_address\n"
      "ffffffff81000000\n"
      "ffffffff81000000 T\n"
      "fffffffff81000000 T too_many_digits\n"
      "ffffffff81000000 TT two_letters\n"
      "ffffffff81000010 3 no_type\n"
      "ffffffff81000010 t bracket\t[module\n"
      "ffffffff81000010 t without module\n"
      "ffffffff81000010 t five\t[module] words\n" +
      std::string("ffffffff81000010 t na\0me\n", 25) + "ffffffff81000010 T good";
  const auto [lines, bad_lines, bad_bytes] = parse_kallsyms(text);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].name, "good");
  EXPECT_EQ(bad_lines, 11u);
  EXPECT_EQ(bad_bytes, 0u + 18 + 16 + 18 + 35 + 31 + 26 + 34 + 33 + 38 + 24);
}

TEST(Kallsyms, ModulesAreParsed) {
  const auto [lines, bad_lines, bad_bytes] = parse_modules(
      "ext4 1101824 1 - Live 0xffffffffc0201000\n"
      "jbd2 167936 1 ext4, Live 0xffffffffc01d0000 (OE)\n"
      "broken x 1 - Live 0xffffffffc0000000\n"
      "short 1\n");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].name, "ext4");
  EXPECT_EQ(lines[0].size, 1101824u);
  EXPECT_EQ(lines[1].address, 0xffffffffc01d0000u);
  EXPECT_EQ(bad_lines, 2u);
  EXPECT_EQ(bad_bytes, 36u + 7);
}

TEST(Kallsyms, DamagedTextIsParsedWithoutError) {
  std::string bytes = "ffffffff81000000 T some_name\t[module]\n";
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const char c : {'\0', '\n', ' ', '[', ']', '\xff'}) {
      std::string changed = bytes;
      changed[at] = c;
      EXPECT_LE(parse_kallsyms(changed).lines.size(), 2u);
      EXPECT_LE(parse_modules(changed).lines.size(), 2u);
    }
    EXPECT_LE(parse_kallsyms(bytes.substr(0, at)).lines.size(), 1u);
  }
}

}  // namespace
