// SPDX-License-Identifier: MIT
// Which processes descend from a named one, in trees of any depth.
#include <gtest/gtest.h>

#include "fake_symbolizer.h"
#include "record_builder.h"
#include "state/command_tree.h"

namespace {

using namespace test_support;

class CommandTreeTest : public testing::Test {
 protected:
  void apply(const RecordBuilder& records) {
    const Bytes bytes = records.bytes();
    for (std::span<const std::byte> rest = bytes; !rest.empty();) {
      const pi::RecordView record(rest);
      ASSERT_TRUE(record.valid());
      processes_.apply(record, record.time_lo());
      tree_.apply(record);
      rest = rest.subspan(record.length());
    }
  }
  bool is_taken(uint32_t pid) { return tree_.fit(pid).only; }

  static constexpr uint32_t deep = 100'000;
  FakeSymbolizer symbolizer_;
  post::StringTable names_;
  post::Processes processes_{symbolizer_, names_};
  post::NameWords words_{{{"make"}, {"sub*"}}};
  post::CommandTree tree_{words_, processes_, names_};
};

TEST_F(CommandTreeTest, ADescendantOfAnyDepthBelongsToTheCommand) {
  RecordBuilder records(false);
  records.existing(1, 10, 1).name(1, 10, "make");
  for (uint32_t i = 1; i <= deep; ++i) records.fork(2, 10 + i, 9 + i).name(3, 10 + i, "sh");
  apply(records);
  EXPECT_TRUE(is_taken(10 + deep));
  EXPECT_FALSE(is_taken(1));
}

TEST_F(CommandTreeTest, AnyNumberOfAncestorsFromBeforeTheTraceCounts) {
  for (uint32_t i = 1; i <= deep; ++i) processes_.add_first_parent(10 + i, 9 + i);
  processes_.add_fallback_name(10, "make");
  EXPECT_TRUE(is_taken(10 + deep));
  EXPECT_TRUE(is_taken(10 + deep / 2));
  EXPECT_FALSE(is_taken(9));
}

TEST_F(CommandTreeTest, ALaterNameOfAnAncestorCountsForTheProcessesThatItHasStarted) {
  RecordBuilder records(false);
  records.name(1, 10, "sh");
  for (uint32_t i = 1; i <= deep; ++i) records.fork(2, 10 + i, 9 + i).name(3, 10 + i, "sh");
  apply(records);
  EXPECT_FALSE(is_taken(10 + deep));
  const uint32_t before = tree_.version();
  apply(RecordBuilder(false).name(4, 11, "make").name(5, 12, "submake"));
  EXPECT_NE(tree_.version(), before);
  EXPECT_TRUE(is_taken(10 + deep));
  EXPECT_TRUE(tree_.fit(10 + deep).without);
  EXPECT_FALSE(tree_.fit(11).without);
  EXPECT_FALSE(is_taken(10));
}

TEST_F(CommandTreeTest, AReusedIdIsANewProcess) {
  apply(RecordBuilder(false).name(1, 10, "make").fork(2, 11, 10).name(3, 20, "sh"));
  EXPECT_TRUE(is_taken(11));
  apply(RecordBuilder(false).fork(4, 11, 20));
  EXPECT_FALSE(is_taken(11));
}

TEST_F(CommandTreeTest, ACycleOfParentsIsHandled) {
  processes_.add_first_parent(10, 11);
  processes_.add_first_parent(11, 12);
  processes_.add_first_parent(12, 10);
  processes_.add_fallback_name(12, "make");
  EXPECT_TRUE(is_taken(10));
  EXPECT_TRUE(is_taken(12));
}

}  // namespace
