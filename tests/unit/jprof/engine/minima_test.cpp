// SPDX-License-Identifier: MIT
// The file of minima.
#include "minima.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include <pi/printable.h>

namespace pi::callflow {
namespace {

constexpr Sequence leaf = {Type::jitted, Transition::entry, Type::native_static,
                           Transition::exit_by_exception, Type::jitted};

TEST(Minima, EverySequenceHasANumberOfItsOwn) {
  for (size_t i = 0; i < sequence_count; ++i) ASSERT_EQ(index_of(sequence_at(i)), i);
}

TEST(Minima, AFileContainsWhatWasWritten) {
  Minima minima;
  minima.key = "OpenJDK 17 -Xbatch";
  minima.values[{"PTT_INSTS", index_of(leaf)}] = {59, 1000};
  minima.values[{"RAW_CYCLES", 0}] = {0, 0};  // I En I En I
  const std::string text = minima_text(minima);
  EXPECT_NE(text.find("PTT_INSTS J En n XX J 59 1000\n"), std::string::npos);
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

TEST(Minima, ThoseOfSimilarSequencesAreFound) {
  const auto read = parse_minima(
      "# pitrace call-flow minima 1\n"
      "A J Ex j Ex J 7 0\nA j Ex j Ex J 6 0\nA j Ex j Ex j 5 0\nA j Ex j En j 2 0\n");
  ASSERT_TRUE(read);
  const auto value_of = [&](const std::string& metric, const Sequence& sequence) {
    const Minimum* minimum = read->find_similar(metric, index_of(sequence));
    return minimum ? static_cast<int>(minimum->value) : -1;
  };
  constexpr auto entry = Transition::entry;
  constexpr auto exit = Transition::exit;
  constexpr auto j = Type::jitted_static;
  constexpr auto instance = Type::jitted;
  constexpr auto interpreted = Type::interpreted;
  EXPECT_EQ(value_of("A", {instance, exit, j, exit, instance}), 7);
  EXPECT_EQ(value_of("A", {interpreted, exit, j, exit, instance}), 6);
  EXPECT_EQ(value_of("A", {interpreted, exit, j, exit, interpreted}), 5);
  EXPECT_EQ(value_of("A", {interpreted, exit, j, entry, interpreted}), 2);
  EXPECT_EQ(value_of("A", {j, entry, j, entry, j}), -1);
  EXPECT_EQ(value_of("A", {j, exit, interpreted, exit, j}), -1);
  EXPECT_EQ(value_of("B", {j, exit, j, exit, j}), -1);
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

class MinimaFiles : public ::testing::Test {
 protected:
  MinimaFiles() { observed_.key = "a processor"; }
  ~MinimaFiles() override { (void)::unlink(path_.c_str()); }

  std::string store() {
    std::ofstream(path_) << minima_text(observed_);
    return path_;
  }

  Minima observed_{"", {{{"PTT_INSTS", index_of(leaf)}, {59, 1000}}}};

 private:
  const std::string path_ = ::testing::TempDir() + "minima" + std::to_string(::getpid());
};

TEST_F(MinimaFiles, MinimaOfTheSameKeyAndOfNoneAreLoaded) {
  for (const char* key : {"", "a processor"}) {
    observed_.key = key;
    const auto loaded = load_minima(store(), "a processor");
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(loaded->minima.values.size(), 1u);
    EXPECT_EQ(loaded->note, "");
  }
}

TEST_F(MinimaFiles, MinimaOfAnotherKeyAreLeftOutAndTheNoteHasBothKeys) {
  observed_.key = "another\tprocessor";
  const auto loaded = load_minima(store(), "a processor");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_TRUE(loaded->minima.values.empty());
  EXPECT_NE(loaded->note.find("'a processor'"), std::string::npos) << loaded->note;
  EXPECT_NE(loaded->note.find(pi::printable(observed_.key)), std::string::npos) << loaded->note;
}

// A native method's caller was compiled, and is interpreted when it returns.
TEST_F(MinimaFiles, SequencesThatCannotOccurAreLeftOutAndTheNoteNamesThem) {
  const Sequence impossible = {Type::jitted, Transition::entry, Type::native, Transition::exit,
                               Type::interpreted};
  observed_.values[{"PTT_INSTS", index_of(impossible)}] = {7, 1000};
  const auto loaded = load_minima(store(), "a processor");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->minima.values.size(), 1u);
  EXPECT_TRUE(loaded->note.ends_with(
      "has sequences that cannot occur, which are not used: 1 (J En N Ex I)"))
      << loaded->note;
}

TEST(Minima, TheProcessorHasTheNameThatLinuxShows) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line) && !line.starts_with("model name")) {
  }
  EXPECT_NE(line.find(processor_name()), std::string::npos) << line;
}

TEST(Minima, AFileThatDoesNotExistIsReported) {
  const auto read = read_minima("/nonexistent/minima");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ENOENT);
}

}  // namespace
}  // namespace pi::callflow
