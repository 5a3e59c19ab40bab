// SPDX-License-Identifier: MIT
// The order in which hooks and ticks are stored in buffers.
#include "hooks/hook_queue.h"

#include <gtest/gtest.h>

namespace pi::perfutil {
namespace {

struct Delivered {
  uint64_t ring, time;
  uint32_t cpu;
  bool operator==(const Delivered&) const = default;
};

class HookQueueTest : public testing::Test {
 protected:
  void add(uint64_t ring, uint64_t time, uint32_t cpu = 0) {
    HookBatch& batch = queue_.incoming();
    batch.hooks.push_back({ring, time, cpu, 4, batch.bytes.size()});
    batch.bytes.insert(batch.bytes.end(), 4, static_cast<std::byte>(ring));
  }
  // Stores no time earlier than least, like a buffer whose newest record has that time.
  std::vector<Delivered> deliver(uint64_t horizon, uint64_t least = 0) {
    std::vector<Delivered> list;
    queue_.deliver(horizon,
                   [&](const FoundHook& hook, std::span<const std::byte> record, uint64_t& time) {
                     EXPECT_EQ(record.size(), 4u);
                     EXPECT_EQ(record[0], static_cast<std::byte>(hook.ring));
                     time = std::max(time, least);
                     list.push_back({hook.ring, time, hook.cpu});
                   });
    return list;
  }

  HookQueue queue_;
};

using List = std::vector<Delivered>;

TEST_F(HookQueueTest, HooksOfAllRingsAreReturnedOldestFirst) {
  add(1, 10);
  add(1, 30);
  add(2, 20, 1);
  EXPECT_EQ(deliver(100), (List{{1, 10, 0}, {2, 20, 1}, {1, 30, 0}}));
  EXPECT_TRUE(deliver(100).empty());
}

TEST_F(HookQueueTest, HooksNewerThanTheHorizonWait) {
  add(1, 10);
  add(1, 30);
  queue_.incoming().lost = 3;
  EXPECT_EQ(deliver(20), (List{{1, 10, 0}}));
  EXPECT_EQ(queue_.incoming().lost, 3u);
  add(2, 25);
  EXPECT_EQ(deliver(40), (List{{2, 25, 0}, {1, 30, 0}}));
}

TEST_F(HookQueueTest, AThreadThatMovesToAnotherCpuIsNeverSeenOutOfOrder) {
  add(1, 10, 0);
  EXPECT_EQ(deliver(100, 50), (List{{1, 50, 0}}));  // late: CPU 0 is at 50 already
  add(1, 20, 1);
  add(1, 20, 1);
  EXPECT_EQ(deliver(100), (List{{1, 51, 1}, {1, 51, 1}}));
}

TEST_F(HookQueueTest, EntriesOfEndedProcessesAreDropped) {
  for (uint64_t area = 1; area <= 1000; ++area) {
    add(area * max_hook_rings + 3, 10 * area);
    add(area * max_hook_rings + 4, 10 * area + 5);
    queue_.incoming().gone.push_back(area);
    // The last hook waits for the next call: its ring is remembered until then.
    deliver(10 * area + 2);
    EXPECT_LE(queue_.remembered(), 3u);
  }
  deliver(~0ull);
  EXPECT_EQ(queue_.remembered(), 0u);
}

TEST(HeldTicks, UseMemoryForWaitingTicksOnly) {
  HeldTicks held;
  const std::byte record[100] = {};
  size_t seen = 0;
  for (uint64_t time = 1; time <= 100000; ++time) {
    held.hold(time, record);
    // One tick always waits.
    held.release(time - 1, [&](std::span<const std::byte>) { ++seen; });
    ASSERT_LE(held.held(), 4 * sizeof record);
  }
  EXPECT_EQ(seen, 99999u);
}

TEST(HeldTicks, AreReleasedUpToATimeInOrder) {
  HeldTicks held;
  std::vector<int> seen;
  const auto put = [&](std::span<const std::byte> record) {
    seen.push_back(static_cast<int>(record[0]));
  };
  for (int i = 1; i <= 3; ++i) {
    const std::byte record[] = {static_cast<std::byte>(i)};
    held.hold(static_cast<uint64_t>(i * 10), record);
  }
  held.release(20, put);
  EXPECT_EQ(seen, (std::vector<int>{1, 2}));
  held.release(~0ull, put);
  held.release(~0ull, put);
  EXPECT_EQ(seen, (std::vector<int>{1, 2, 3}));
}

}  // namespace
}  // namespace pi::perfutil
