// SPDX-License-Identifier: MIT
// The owner of an address of JIT-compiled code at a time: the rules, and a comparison with a model.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "jit/jit_code.h"

namespace {

using a2n::JitCode;
using a2n::JitMethod;

JitMethod method(uint64_t time, uint64_t address, uint64_t size, const char* name,
                 bool dynamic = false) {
  JitMethod made;
  made.time = time;
  made.address = address;
  made.size = size;
  made.name = name;
  made.dynamic = dynamic;
  return made;
}

std::string name_at(const JitCode& code, uint64_t address, uint64_t time) {
  const JitMethod* found = code.find(address, time);
  return found ? found->name : "-";
}

TEST(JitCode, AMethodExistsBeforeItIsReported) {
  JitCode code;
  code.load(method(100, 0x1000, 0x100, "a"));
  EXPECT_EQ(name_at(code, 0x1000, 0), "a");
  EXPECT_EQ(name_at(code, 0x10ff, 1000), "a");
  EXPECT_EQ(name_at(code, 0x0fff, 100), "-");
  EXPECT_EQ(name_at(code, 0x1100, 100), "-");
}

TEST(JitCode, MethodsBeyondTheLimitAreCounted) {
  JitCode code(2);
  for (uint64_t i = 0; i < 5; ++i) code.load(method(100, 0x1000 + i * 0x100, 0x100, "a"));
  EXPECT_EQ(code.methods(), 2u);
  EXPECT_EQ(code.beyond_limit(), 3u);
  EXPECT_EQ(name_at(code, 0x1100, 100), "a");
  EXPECT_EQ(name_at(code, 0x1200, 100), "-");
}

TEST(JitCode, AMethodBeginsAtTheEndOfTheLastOverlappedMethod) {
  JitCode code;
  code.load(method(10, 0x1000, 0x100, "old"));
  code.load(method(10, 0x1100, 0x100, "other"));
  code.unload(50, 0x1000);
  code.unload(60, 0x1100);
  code.load(method(100, 0x1080, 0x100, "new"));
  EXPECT_EQ(name_at(code, 0x1080, 49), "old");
  EXPECT_EQ(name_at(code, 0x1080, 50), "-");
  EXPECT_EQ(name_at(code, 0x1100, 59), "other");
  EXPECT_EQ(name_at(code, 0x1080, 60), "new");
  EXPECT_EQ(name_at(code, 0x1100, 60), "new");
  EXPECT_EQ(name_at(code, 0x1000, 60), "-");
  EXPECT_EQ(code.reuses(), 1u);
}

TEST(JitCode, AMethodWithoutUnloadEndsWhenItIsOverlapped) {
  JitCode code;
  code.load(method(10, 0x1000, 0x100, "old"));
  code.load(method(100, 0x1080, 0x100, "new"));
  EXPECT_EQ(name_at(code, 0x1090, 99), "old");
  EXPECT_EQ(name_at(code, 0x1090, 100), "new");
  EXPECT_EQ(name_at(code, 0x1000, 100), "-");
}

TEST(JitCode, EventsMayBeInAnyOrder) {
  JitCode code;
  code.load(method(100, 0x1000, 0x100, "new"));
  code.unload(50, 0x1000);
  code.load(method(10, 0x1000, 0x100, "old"));
  EXPECT_EQ(name_at(code, 0x1000, 49), "old");
  EXPECT_EQ(name_at(code, 0x1000, 50), "new");
}

TEST(JitCode, ARepeatedLoadHasNoEffect) {
  JitCode code;
  code.load(method(10, 0x1000, 0x100, "a"));
  code.load(method(50, 0x1000, 0x100, "a"));
  EXPECT_EQ(name_at(code, 0x1000, 0), "a");
  EXPECT_EQ(code.next_change(0), UINT64_MAX);
  code.unload(60, 0x1000);
  EXPECT_EQ(name_at(code, 0x1000, 60), "-");
  EXPECT_EQ(code.next_change(0), 60u);
}

TEST(JitCode, DynamicCodeMayBeInsideDynamicCode) {
  JitCode code;
  code.load(method(10, 0x1100, 0x40, "stub", true));
  code.load(method(20, 0x1000, 0x1000, "blob", true));
  code.load(method(30, 0x1200, 0x40, "late stub", true));
  for (const uint64_t time : {0, 100}) {
    EXPECT_EQ(name_at(code, 0x1000, time), "blob");
    EXPECT_EQ(name_at(code, 0x1120, time), "stub");
    EXPECT_EQ(name_at(code, 0x1140, time), "blob");
    EXPECT_EQ(name_at(code, 0x1210, time), "late stub");
  }
}

TEST(JitCode, DynamicCodeReplacesDynamicCodeOfTheSameRange) {
  JitCode code;
  code.load(method(10, 0x1000, 0x1000, "blob", true));
  code.load(method(50, 0x1000, 0x1000, "other blob", true));
  EXPECT_EQ(name_at(code, 0x1800, 49), "blob");
  EXPECT_EQ(name_at(code, 0x1800, 50), "other blob");
}

TEST(JitCode, AMethodEndsTheDynamicCodeItOverlaps) {
  JitCode code;
  code.load(method(10, 0x1000, 0x1000, "stub", true));
  code.load(method(50, 0x1800, 0x100, "a"));
  EXPECT_EQ(name_at(code, 0x1800, 49), "stub");
  EXPECT_EQ(name_at(code, 0x1800, 50), "a");
  EXPECT_EQ(name_at(code, 0x1000, 50), "-");
  code.unload(60, 0x1000);  // of a method without a load event
  EXPECT_EQ(name_at(code, 0x1800, 60), "a");
}

TEST(JitCode, AfterALateBeginningMethodsExistFromThatTime) {
  JitCode code;
  code.begin_late(100);
  code.load(method(110, 0x1000, 0x100, "was there"));
  code.unload(150, 0x2000);  // existed, too, and was unloaded before it was reported
  code.load(method(160, 0x2080, 0x100, "new"));
  EXPECT_EQ(name_at(code, 0x1000, 99), "-");
  EXPECT_EQ(name_at(code, 0x1000, 100), "was there");
  EXPECT_EQ(name_at(code, 0x2080, 149), "-");
  EXPECT_EQ(name_at(code, 0x2080, 150), "new");
}

TEST(JitCode, NoMethodExistsBetweenAStopAndALateBeginning) {
  JitCode code;
  code.load(method(10, 0x1000, 0x100, "a"));
  code.stop(50);
  code.begin_late(80);
  code.load(method(90, 0x1000, 0x100, "a"));
  EXPECT_EQ(name_at(code, 0x1000, 49), "a");
  EXPECT_EQ(name_at(code, 0x1000, 50), "-");
  EXPECT_EQ(name_at(code, 0x1000, 79), "-");
  EXPECT_EQ(name_at(code, 0x1000, 80), "a");
}

TEST(JitCode, AfterALossMethodsExistOnlySinceTheirReport) {
  JitCode code;
  code.load(method(10, 0x1000, 0x100, "method"));
  code.load(method(10, 0x3000, 0x100, "stub", true));
  code.lose(50);
  code.load(method(90, 0x2000, 0x100, "new"));
  EXPECT_EQ(name_at(code, 0x1000, 49), "method");
  EXPECT_EQ(name_at(code, 0x1000, 50), "-");
  EXPECT_EQ(name_at(code, 0x3000, 50), "stub");
  EXPECT_EQ(name_at(code, 0x2000, 89), "-");
  EXPECT_EQ(name_at(code, 0x2000, 90), "new");
}

TEST(JitCode, WithoutTimesTheLastReportedMethodIsUsed) {
  JitCode code;
  code.load(method(100, 0x1000, 0x100, "a"));
  code.unload(50, 0x1000);
  code.load(method(10, 0x1080, 0x100, "b"));
  code.ignore_times();
  for (const uint64_t time : {0, 75, 1000}) EXPECT_EQ(name_at(code, 0x1090, time), "b");
  EXPECT_EQ(code.reuses(), 1u);
  EXPECT_EQ(code.next_change(0), UINT64_MAX);
}

TEST(JitCode, MethodsReportedBeforeTheImageAreIgnored) {
  JitCode code;
  code.load(method(100, 0x1000, 0x100, "a"));
  EXPECT_NE(code.find(0x1000, 300, 100), nullptr);
  EXPECT_EQ(code.find(0x1000, 300, 101), nullptr);
}

TEST(JitCode, IgnoresEmptyMethodsAndThoseThatWrapAround) {
  JitCode code;
  code.load(method(1, 0x1000, 0, "empty"));
  code.load(method(1, UINT64_MAX - 10, 11, "around"));
  EXPECT_EQ(code.methods(), 0u);
  code.load(method(1, UINT64_MAX - 10, 10, "last"));
  EXPECT_EQ(name_at(code, UINT64_MAX - 1, 1), "last");
  EXPECT_EQ(name_at(code, UINT64_MAX, 1), "-");
}

TEST(JitCode, ReturnsTheTimeOfEachChange) {
  JitCode code;
  code.load(method(10, 0x1000, 0x100, "a"));
  code.unload(20, 0x1000);
  code.load(method(30, 0x1000, 0x100, "b"));
  code.unload(40, 0x1000);
  EXPECT_EQ(code.next_change(0), 20u);
  EXPECT_EQ(code.next_change(20), 40u);
  EXPECT_EQ(code.next_change(40), UINT64_MAX);
}

// The model is a runtime's code heap: methods are installed in free cells, reported late, and
// unloaded. It stores the true owner of each cell at each time.
TEST(JitCode, AgreesWithAModelOfACodeHeap) {
  constexpr uint64_t cells = 64, cell = 0x40, base = 0x10000, moments = 4000;
  std::mt19937_64 random(20261121);
  struct Owner {
    uint64_t first, count, installed, reported, unloaded;
    std::string name;
  };
  std::vector<Owner> owners;
  std::vector<size_t> heap(cells, SIZE_MAX);
  uint64_t busy_until[cells] = {};
  for (uint64_t now = 1; now <= moments; ++now) {
    if (random() % 2 == 0) {
      const uint64_t first = random() % cells;
      const uint64_t count = std::min<uint64_t>(cells - first, 1 + random() % 6);
      bool free = true;
      for (uint64_t i = first; i < first + count; ++i)
        free = free && heap[i] == SIZE_MAX && busy_until[i] < now;
      if (!free) continue;
      for (uint64_t i = first; i < first + count; ++i) heap[i] = owners.size();
      owners.push_back({first, count, now, now + random() % 30, UINT64_MAX,
                        "m" + std::to_string(owners.size())});
    } else if (const size_t owner = heap[random() % cells];
               owner != SIZE_MAX && owners[owner].reported < now) {
      owners[owner].unloaded = now;
      for (uint64_t i = 0; i < cells; ++i) {
        if (heap[i] != owner) continue;
        heap[i] = SIZE_MAX;
        busy_until[i] = now;
      }
    }
  }
  JitCode code;
  std::vector<size_t> order(owners.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  for (const size_t i : order) {
    const Owner& owner = owners[i];
    code.load(
        method(owner.reported, base + owner.first * cell, owner.count * cell, owner.name.c_str()));
    if (owner.unloaded != UINT64_MAX) code.unload(owner.unloaded, base + owner.first * cell);
  }
  ASSERT_GT(owners.size(), 500u);
  EXPECT_GT(code.reuses(), 400u);
  size_t asked = 0;
  for (const Owner& owner : owners)
    for (uint64_t time = owner.installed; time < std::min(owner.unloaded, moments); ++time)
      for (const uint64_t at : {uint64_t{0}, owner.count * cell / 2, owner.count * cell - 1}) {
        ASSERT_EQ(name_at(code, base + owner.first * cell + at, time), owner.name)
            << "at " << time << ", installed " << owner.installed << ", reported "
            << owner.reported;
        ++asked;
      }
  EXPECT_GT(asked, 10000u);
}

TEST(JitCode, TakesLinearTimeWhenLargeMethodsReplaceSmallOnes) {
  JitCode code;
  uint64_t time = 0;
  for (int round = 0; round < 200; ++round) {
    for (uint64_t i = 0; i < 100; ++i) code.load(method(++time, 0x1000 + i * 16, 16, "small"));
    code.load(method(++time, 0x1000, 1600, "large"));
  }
  // It must take about a second, and no memory for each pair of small and large method.
  EXPECT_EQ(name_at(code, 0x1008, time), "large");
  EXPECT_EQ(name_at(code, 0x1008, time - 101), "large");
  EXPECT_EQ(name_at(code, 0x1008, time - 1), "small");
}

}  // namespace
