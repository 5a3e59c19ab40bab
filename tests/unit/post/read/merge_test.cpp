// SPDX-License-Identifier: MIT
// The merge of streams, compared with sorting all records.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "input_stride.h"
#include "read/merge.h"
#include "record_builder.h"

namespace {

using namespace test_support;
using post::DamageLog;
using post::MemorySource;
using post::Merge;

using Seen = std::tuple<uint64_t, bool, uint32_t, uint64_t>;  // time, trace, CPU, address

struct Example {
  Bytes bytes;
  std::vector<Seen> expected;
};

// Random numbers of records at random times, many of them equal.
Example make_example(uint32_t seed, uint32_t cpus) {
  std::mt19937 random(seed);
  Example example;
  TraceBuilder trace;
  for (uint32_t cpu = cpus; cpu-- > 0;) {
    for (const bool is_trace : {true, false}) {
      RecordBuilder records(false);
      uint64_t time = 0;
      const uint64_t count = random() % 40;
      for (uint64_t i = 0; i < count; ++i) {
        time += random() % 4;
        records.tick(time, true, 1, 1, i);
        example.expected.emplace_back(time, is_trace, cpu, i);
      }
      trace.section(is_trace ? pi::nrm2::section_trace : pi::nrm2::section_mte, {.cpu = cpu},
                    records.bytes());
    }
  }
  std::sort(example.expected.begin(), example.expected.end());
  example.bytes = trace.bytes();
  return example;
}

std::vector<Seen> merged(const Bytes& bytes, Merge::Select select) {
  MemorySource source(bytes);
  DamageLog damage;
  auto file = read_layout(source, damage);
  EXPECT_TRUE(file);
  Merge merge(source, *file, damage, select);
  std::vector<Seen> seen;
  while (merge.next()) {
    const post::Stream& stream = merge.current();
    pi::TprofTick tick{};
    EXPECT_TRUE(pi::decode_tprof(stream.record(), tick));
    seen.emplace_back(stream.time(), !stream.key().mte, stream.cpu(), tick.address);
  }
  EXPECT_FALSE(merge.next());
  EXPECT_FALSE(damage.any());
  return seen;
}

TEST(Merge, OrdersByTimeThenMteThenCpu) {
  for (uint32_t seed = 0; seed < test_support::rounds(200); ++seed) {
    const Example example = make_example(seed, 1 + seed % 7);
    ASSERT_EQ(merged(example.bytes, Merge::Select::all), example.expected) << "seed " << seed;
  }
}

TEST(Merge, CanBeRestrictedToMte) {
  Example example = make_example(7, 3);
  std::erase_if(example.expected, [](const Seen& seen) { return std::get<1>(seen); });
  ASSERT_FALSE(example.expected.empty());
  EXPECT_EQ(merged(example.bytes, Merge::Select::mte), example.expected);
}

TEST(Merge, NoStreamsGiveNoRecords) {
  TraceBuilder trace;
  trace.section(pi::nrm2::section_trace, {}, {});
  EXPECT_TRUE(merged(trace.bytes(), Merge::Select::all).empty());
}

}  // namespace
