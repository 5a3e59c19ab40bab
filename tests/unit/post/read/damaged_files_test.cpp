// SPDX-License-Identifier: MIT
// For any damage of a file, post terminates, reads nothing outside of it (sanitizer builds check
// this) and reports the damage.
#include <gtest/gtest.h>

#include <random>

#include "input_stride.h"
#include "post_run.h"
#include "text_trace.h"

namespace {

using namespace test_support;

Bytes example() {
  const auto trace = trace_from_text(R"(
cpus 2
info source=driver
info count.0.trace.produced=4
info count.0.trace.written=4
info count.1.trace.produced=2
info count.1.trace.written=2
info count.0.mte.produced=5
info count.0.mte.written=5
build-id 00ff /bin/a
kallsyms ffffffff81000000 T _text
section mte 0
1 name 0x20 app
1 module 0x20 0x1000 0x100 0 /bin/a
2 fork 0x21 0x20
3 exec 0x21
4 thread 0x20 0x22 worker
section trace 0
100 tick user 0x20 0x20 0x1001
200 tick user 0x20 0x20 0x1002
section trace 1
150 tick user 0x21 0x21 0x1001
160 tick kernel 0x21 0x21 0xffffffff81000001
section trace 0
300 tick user 0x20 0x22 0x1001
400 tick user 0x20 0x22 0x1001
)");
  EXPECT_TRUE(trace) << trace.error().message;
  return *trace;
}

PostRun run(const Bytes& bytes) {
  FakeSymbolizer symbolizer;
  symbolizer.add_symbol("/bin/a", 0, 0x100, "main");
  post::Options options;
  options.show_raw = true;
  return run_post(bytes, symbolizer, options);
}

TEST(DamagedFiles, TheUndamagedExampleIsValid) {
  const PostRun good = run(example());
  EXPECT_EQ(good.error, "");
  EXPECT_FALSE(good.damage.any());
  EXPECT_EQ(good.ticks.ticks, 6u);
}

TEST(DamagedFiles, EveryTruncationIsReportedAndKeepsTheRecordsBeforeIt) {
  const Bytes whole = example();
  uint64_t ticks_before = 0;
  for (size_t size = 0; size < whole.size(); size += input_stride()) {
    const PostRun cut = run(Bytes(whole.begin(), whole.begin() + static_cast<long>(size)));
    ASSERT_TRUE(!cut.error.empty() || cut.damage.any()) << size;
    ASSERT_GE(cut.ticks.ticks, ticks_before) << size;
    ticks_before = cut.ticks.ticks;
  }
  EXPECT_EQ(ticks_before, 6u);
}

TEST(DamagedFiles, EveryFlippedBitIsHandled) {
  const Bytes whole = example();
  // Skips header bytes that are not read, except in the first header, which represents all.
  const auto is_unused = [&](size_t at) {
    for (size_t header = 512; header + 512 <= whole.size(); ++header)
      if (std::memcmp(&whole[header], "NRM2", 4) == 0 && at >= header + 120 && at < header + 512)
        return at - header < 240 || at - header >= 260;
    return false;
  };
  std::vector<bool> unused;
  for (size_t at = 0; at < whole.size(); ++at) unused.push_back(is_unused(at));
  for (size_t bit = 0; bit < whole.size() * 8; bit += input_stride()) {
    if (unused[bit / 8]) continue;
    Bytes flipped = whole;
    flipped[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    const PostRun outcome = run(flipped);
    // A flipped bit adds no ticks, except when it turns another record into a tick.
    ASSERT_LE(outcome.ticks.ticks, 7u) << bit;
  }
}

TEST(DamagedFiles, RandomOverwritesAreHandled) {
  const Bytes whole = example();
  std::mt19937 random(1);
  for (size_t round = 0; round < 8'000; round += input_stride()) {
    Bytes bytes = whole;
    for (uint64_t i = 1 + random() % 8; i > 0; --i) {
      const size_t at = random() % bytes.size();
      const uint64_t length = 1 + random() % 8;
      const std::byte value = static_cast<std::byte>(random() % 3 == 0 ? 0xff : random());
      for (size_t j = at; j < std::min<size_t>(at + length, bytes.size()); ++j) bytes[j] = value;
    }
    const PostRun outcome = run(bytes);
    ASSERT_LE(outcome.records.records, bytes.size() / 12);
  }
}

}  // namespace
