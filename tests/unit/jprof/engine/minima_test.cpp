// SPDX-License-Identifier: MIT
// The file of minima.
#include "minima.h"

#include <gtest/gtest.h>

namespace pi::callflow {
namespace {

constexpr Sequence leaf = {Type::jitted, Transition::entry, Type::native_static,
                           Transition::exit_by_exception, Type::c_function};

TEST(Minima, EverySequenceHasANumberOfItsOwn) {
  for (size_t i = 0; i < sequence_count; ++i) ASSERT_EQ(index_of(sequence_at(i)), i);
}

TEST(Minima, AFileContainsWhatWasWritten) {
  Minima minima;
  minima.key = "OpenJDK 17 -Xbatch";
  minima.values[{"PTT_INSTS", index_of(leaf)}] = {59, 1000};
  minima.values[{"RAW_CYCLES", 0}] = {0, 0};
  const std::string text = minima_text(minima);
  EXPECT_NE(text.find("PTT_INSTS J En n XX F 59 1000\n"), std::string::npos);
  const auto read = parse_minima(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->key, minima.key);
  EXPECT_EQ(read->values.size(), 2u);
  const Minimum* minimum = read->find("PTT_INSTS", index_of(leaf));
  ASSERT_NE(minimum, nullptr);
  EXPECT_EQ(minimum->value, 59u);
  EXPECT_EQ(minimum->count, 1000u);
  EXPECT_EQ(read->find("PTT_CYCLES", index_of(leaf)), nullptr);
}

TEST(Minima, CommentsAndEmptyLinesAreSkipped) {
  const auto read =
      parse_minima("# pitrace call-flow minima 1\n\n# a comment\nA I En I Ex I 3 0\n");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->values.size(), 1u);
}

TEST(Minima, AnInvalidLineIsReportedWithItsNumber) {
  const std::string head = "# pitrace call-flow minima 1\n";
  for (const char* line :
       {"A I En I Ex I 3", "A I En I Ex I 3 0 0", "A Q En I Ex I 3 0", "A I in I Ex I 3 0",
        "A I En I Ex I -3 0", "A I En I Ex I 99999999999999999999 0", "A II En I Ex I 3 0"}) {
    const auto read = parse_minima(head + "\n" + line);
    ASSERT_FALSE(read) << line;
    EXPECT_NE(read.error().message.find("line 3"), std::string::npos) << read.error().message;
  }
  EXPECT_FALSE(parse_minima(""));
  EXPECT_FALSE(parse_minima("key x\n"));
}

TEST(Minima, AFileThatDoesNotExistIsReported) {
  const auto read = read_minima("/nonexistent/minima");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ENOENT);
}

}  // namespace
}  // namespace pi::callflow
