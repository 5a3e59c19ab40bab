// SPDX-License-Identifier: MIT
// Trees of calls: exact numbers of calls whatever the program does.
#include "engine.h"

#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "fake_program.h"

namespace pi::callflow {
namespace {

class CallFlowEngine : public testing::Test {
 protected:
  void SetUp() override { begin_test(); }
  void TearDown() override { stop(); }
  static void begin(const Settings& settings = {}) { ASSERT_TRUE(start(settings)); }
};

void recurse(uint64_t depth) {
  call(1, [=] {
    if (depth > 1) recurse(depth - 1);
  });
}

void odd(uint64_t n);
void even(uint64_t n) {
  call(2, [=] {
    if (n > 0) odd(n - 1);
  });
}
void odd(uint64_t n) {
  call(3, [=] {
    if (n > 0) even(n - 1);
  });
}

TEST_F(CallFlowEngine, NothingIsRecordedBeforeStartAndAfterStop) {
  call(7);
  begin();
  call(8);
  stop();
  call(9);
  EXPECT_EQ(shape(), "8 1\n");
  EXPECT_FALSE(is_recording());
}

TEST_F(CallFlowEngine, CallsFromDifferentCallersAreDifferentNodes) {
  begin();
  for (int i = 0; i < 1000; ++i) {
    call(1, [] { call(3); });
    call(2, [] {
      call(3);
      call(3);
    });
  }
  EXPECT_EQ(shape(), "1 1000\n  3 1000\n2 1000\n  3 2000\n");
}

TEST_F(CallFlowEngine, EachLevelOfARecursionIsANode) {
  begin();
  recurse(3);
  recurse(2);
  EXPECT_EQ(shape(), "1 2\n  1 2\n    1 1\n");
}

TEST_F(CallFlowEngine, MutualRecursionAlternates) {
  begin();
  even(3);
  EXPECT_EQ(shape(), "2 1\n  3 1\n    2 1\n      3 1\n");
}

TEST_F(CallFlowEngine, TypesOfOneMethodAreDifferentNodes) {
  begin();
  call(1, {}, Type::interpreted);
  call(1, {}, Type::jitted);
  call(1, {}, Type::jitted);
  EXPECT_EQ(shape(), "1 1\n1 2\n");
}

TEST_F(CallFlowEngine, AnExceptionEndsEachFrameWithAnEvent) {
  begin();
  enter(my_tree, 1, Type::jitted);
  enter(my_tree, 2, Type::jitted);
  leave(my_tree, 2, Type::jitted, Transition::exit_by_exception);
  leave(my_tree, 1, Type::jitted, Transition::exit);
  call(3);
  EXPECT_EQ(shape(), "1 1\n  2 1\n3 1\n");
  EXPECT_EQ(counts_now().threads.back().unwound, 0u);
}

// Each becomes the caller of those before it, and the table of nodes grows.
TEST_F(CallFlowEngine, AThreadMayBeDeepInsideWhenTheRecordingStarts) {
  begin();
  for (uint64_t i = 1; i <= 1000; ++i) leave(my_tree, i, Type::jitted, Transition::exit);
  call(2000);
  const Snapshot snapshot = counts_now();
  EXPECT_EQ(snapshot.threads.back().nodes.size(), 1002u);
  EXPECT_EQ(snapshot.losses.nodes, 0u);
}

TEST_F(CallFlowEngine, AnExitOfAnOuterMethodRemovesTheFramesAboveIt) {
  begin();
  enter(my_tree, 1, Type::jitted);
  for (uint64_t i = 2; i < 1002; ++i) enter(my_tree, i, Type::jitted);
  leave(my_tree, 1, Type::jitted, Transition::exit);
  call(2000);
  const Snapshot snapshot = counts_now();
  EXPECT_EQ(snapshot.threads.back().unwound, 1000u);
  EXPECT_EQ(snapshot.threads.back().nodes.back().level, 1u);
}

// Stacks grow downwards: a deeper frame has a smaller stack pointer.
TEST_F(CallFlowEngine, AFrameThatLongjmpHasRemovedHasNoFurtherCallees) {
  begin();
  enter(my_tree, 0x1000, Type::c_function, {900, 0x1010});
  for (int i = 0; i < 1000; ++i) {
    enter(my_tree, 0x2000, Type::c_function, {800, 0x2010});
    enter(my_tree, 0x3000, Type::c_function, {700, 0x3010});
    // longjmp() to 0x1000, which calls 0x4000, with a smaller frame
    enter(my_tree, 0x4000, Type::c_function, {850, 0x4010});
    leave(my_tree, 0x4000, Type::c_function, Transition::exit, {850, 0x4020});
  }
  leave(my_tree, 0x1000, Type::c_function, Transition::exit, {900, 0x1030});
  EXPECT_EQ(shape(), "4096 1\n  8192 1000\n    12288 1000\n  16384 1000\n");
  EXPECT_EQ(counts_now().threads.back().unwound, 2000u);
}

TEST_F(CallFlowEngine, AFunctionThatLongjmpHasLeftIsNotItsOwnCallee) {
  begin();
  enter(my_tree, 0x1000, Type::c_function, {900, 0x1010});
  for (int i = 0; i < 10; ++i) enter(my_tree, 0x2000, Type::c_function, {800, 0x2010});
  leave(my_tree, 0x1000, Type::c_function, Transition::exit, {900, 0x1030});
  EXPECT_EQ(shape(), "4096 1\n  8192 10\n");
}

TEST_F(CallFlowEngine, TheInnermostOfRecursiveFramesIsLeftWhereItsStackPointerSaysSo) {
  begin();
  enter(my_tree, 0x1000, Type::c_function, {900, 0x1010});
  enter(my_tree, 0x2000, Type::c_function, {800, 0x2010});
  enter(my_tree, 0x2000, Type::c_function, {700, 0x2010});
  enter(my_tree, 0x2000, Type::c_function, {600, 0x2010});
  // longjmp() from the third to the first call of 0x2000, which ends and returns to 0x1000
  leave(my_tree, 0x2000, Type::c_function, Transition::exit, {810, 0x2020});
  enter(my_tree, 0x3000, Type::c_function, {800, 0x3010});
  EXPECT_EQ(shape(), "4096 1\n  8192 1\n    8192 1\n      8192 1\n  12288 1\n");
}

TEST_F(CallFlowEngine, AnInlinedFunctionHasItsCallersStackPointer) {
  begin();
  enter(my_tree, 0x3000, Type::c_function, {900, 0x3010});
  enter(my_tree, 0x1000, Type::c_function, {900, 0x3020});  // inlined from before its caller
  enter(my_tree, 0x4000, Type::c_function, {900, 0x3030});  // inlined from after it
  leave(my_tree, 0x4000, Type::c_function, Transition::exit, {900, 0x3040});
  leave(my_tree, 0x1000, Type::c_function, Transition::exit, {900, 0x3050});
  leave(my_tree, 0x3000, Type::c_function, Transition::exit, {910, 0x3060});
  EXPECT_EQ(shape(), "12288 1\n  4096 1\n    16384 1\n");
}

TEST_F(CallFlowEngine, APatchedFunctionThatEndsWithAJumpReturnsWithTheOther) {
  begin();
  for (int i = 0; i < 3; ++i) {
    enter(my_tree, 0x1000, Type::patched_function, {900, 0x1000});
    enter(my_tree, 0x2000, Type::patched_function, {800, 0x2000});
    enter(my_tree, 0x3000, Type::patched_function, {800, 0});
    enter(my_tree, 0x2000, Type::patched_function, {800, 0});
    leave(my_tree, 0x2000, Type::patched_function, Transition::exit, {800, 0x2000});
    enter(my_tree, 0x4000, Type::patched_function, {800, 0x4000});
    leave(my_tree, 0x4000, Type::patched_function, Transition::exit, {800, 0x4000});
    leave(my_tree, 0x1000, Type::patched_function, Transition::exit, {900, 0x1000});
  }
  EXPECT_EQ(shape(), "4096 3\n  8192 3\n    12288 3\n      8192 3\n  16384 3\n");
}

TEST_F(CallFlowEngine, APatchedFunctionThatIsCalledHasNoOtherAtItsPlace) {
  begin();
  enter(my_tree, 0x1000, Type::patched_function, {900, 0x1000});
  for (int i = 0; i < 3; ++i) {
    // longjmp() leaves all of them.
    enter(my_tree, 0x2000, Type::patched_function, {800, 0x2000});
    enter(my_tree, 0x3000, Type::patched_function, {800, 0});
  }
  leave(my_tree, 0x1000, Type::patched_function, Transition::exit, {900, 0x1000});
  EXPECT_EQ(shape(), "4096 1\n  8192 3\n    12288 3\n");
}

TEST_F(CallFlowEngine, AMethodThatWasRunningAtTheStartIsTheCallerOfWhatWasSeen) {
  running = {};
  enter(my_tree, 1, Type::jitted);
  enter(my_tree, 2, Type::jitted);
  begin();
  call(3);
  leave(my_tree, 2, Type::jitted, Transition::exit);
  call(2, [] { call(3); });
  call(4);
  leave(my_tree, 1, Type::jitted, Transition::exit);
  call(5);
  EXPECT_EQ(shape(), "1 0 before\n  2 0 before\n    3 1\n  2 1\n    3 1\n  4 1\n5 1\n");
}

TEST_F(CallFlowEngine, FramesThatTheCallerKnowsArePutBelowTheFirstEvent) {
  Settings settings;
  settings.initial_frames = [](std::span<uint64_t> frames, Type type) {
    EXPECT_EQ(type, Type::c_function);
    frames[0] = 1;
    frames[1] = 2;
    return size_t{2};
  };
  begin(settings);
  call(3);
  leave(my_tree, 2, Type::interpreted, Transition::exit);
  call(4);
  EXPECT_EQ(shape(), "1 0 before\n  2 0 before\n    3 1\n  4 1\n");
}

TEST_F(CallFlowEngine, ResetKeepsTheRunningMethods) {
  begin();
  call(1, [] {
    call(2);
    call(3, [] {
      reset();
      call(4);
    });
  });
  call(5);
  EXPECT_EQ(shape(), "1 0 before\n  3 0 before\n    4 1\n5 1\n");
}

TEST_F(CallFlowEngine, AnotherStartForgetsTheRunningMethods) {
  begin();
  enter(my_tree, 1, Type::jitted);
  begin(one_metric());
  call(2);
  EXPECT_EQ(shape(), "2 1\n");
}

TEST_F(CallFlowEngine, EachThreadHasItsOwnTree) {
  begin();
  std::vector<std::thread> threads;
  for (uint64_t id = 1; id <= 4; ++id)
    threads.emplace_back([id] {
      for (uint64_t i = 0; i < 10000 * id; ++i) {
        enter(my_tree, id, Type::c_function);
        enter(my_tree, 9, Type::c_function);
        leave(my_tree, 9, Type::c_function, Transition::exit);
        leave(my_tree, id, Type::c_function, Transition::exit);
      }
      thread_ends(my_tree);
    });
  for (auto& thread : threads) thread.join();
  const Snapshot snapshot = counts_now();
  ASSERT_EQ(snapshot.threads.size(), 4u);
  uint64_t methods = 0;
  for (const auto& thread : snapshot.threads) {
    ASSERT_EQ(thread.nodes.size(), 3u);
    const uint64_t id = thread.nodes[1].method;
    methods += id;
    EXPECT_EQ(thread.nodes[1].calls, 10000 * id);
    EXPECT_EQ(thread.nodes[1].callees, 10000 * id);
    EXPECT_EQ(thread.nodes[2].calls, 10000 * id);
    EXPECT_TRUE(thread.ended);
  }
  EXPECT_EQ(methods, 10u);
}

TEST_F(CallFlowEngine, SnapshotsResetsAndStartsMayComeAtAnyTime) {
  begin(one_metric());
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int id = 1; id <= 2; ++id)
    threads.emplace_back([&] {
      while (!done) {
        for (uint64_t i = 0; i < 300; ++i) {
          enter(my_tree, i % 7, Type::c_function);
          enter(my_tree, 100 + i, Type::c_function);
          leave(my_tree, 100 + i, Type::c_function, Transition::exit);
          leave(my_tree, i % 7, Type::c_function, Transition::exit);
        }
      }
    });
  for (int i = 0; i < 200; ++i) {
    const Snapshot snapshot = counts_now();
    for (const auto& thread : snapshot.threads)
      for (size_t node = 1; node < thread.nodes.size(); ++node)
        ASSERT_LT(thread.nodes[node].parent, node);
    if (i % 3 == 0) reset();
    if (i % 5 == 0) {
      Settings settings;
      settings.meter = i % 2 ? no_metrics() : raw_cycles();
      begin(settings);
    }
  }
  done = true;
  for (auto& thread : threads) thread.join();
}

TEST_F(CallFlowEngine, AnEventInsideAnEventIsCountedAsLost) {
  begin(one_metric());
  call(1);
  int reads = 0;
  during_read = [&] {
    const int nested = ++reads;
    if (nested == 2) call(9);  // in the late read of an entry
  };
  call(2);
  during_read = nullptr;
  call(3);
  EXPECT_EQ(shape(), "1 1\n2 1\n3 1\n");
  EXPECT_EQ(counts_now().losses.reentered, 2u);
}

TEST_F(CallFlowEngine, AnEventBeforeTheEarlyReadOfAnotherOneIsRecorded) {
  begin(one_metric());
  call(1);
  bool nested = false;
  during_read = [&] {
    if (nested) return;
    nested = true;
    call(9);
  };
  call(2);
  EXPECT_EQ(shape(), "1 1\n9 1\n2 1\n");
  EXPECT_EQ(counts_now().losses.reentered, 0u);
}

TEST_F(CallFlowEngine, AnEventThatASignalHandlerHasLeftDoesNotBlockItsThread) {
  begin(one_metric());
  static sigjmp_buf before;
  if (sigsetjmp(before, 1) == 0) {
    call(1, [] {
      int* reads = new int(0);
      during_read = [reads] {
        if (++*reads == 2) {
          delete reads;
          siglongjmp(before, 1);
        }
      };
      call(2);
    });
  }
  during_read = nullptr;
  running = {};
  call(3);
  const Snapshot snapshot = counts_now();
  EXPECT_EQ(snapshot.losses.abandoned, 1u);
  EXPECT_EQ(snapshot.losses.reentered, 0u);
  EXPECT_EQ(sums(snapshot).count(3), 1u);
}

TEST_F(CallFlowEngine, CallsThatTheTreeHasNoSpaceForAreChargedToTheirCallers) {
  Settings settings = one_metric();
  settings.limits.nodes = 3;
  begin(settings);
  for (int i = 0; i < 100; ++i)
    call(1, [] {
      call(2);
      call(3, [] { call(2); });
    });
  EXPECT_EQ(shape(), "1 100\n  2 200\n");
  EXPECT_EQ(counts_now().losses.nodes, 100u);
}

TEST_F(CallFlowEngine, CallsDeeperThanTheStackAreCountedAsLost) {
  Settings settings;
  settings.limits.frames = 10;
  begin(settings);
  recurse(15);
  recurse(2);
  const Snapshot snapshot = counts_now();
  EXPECT_EQ(snapshot.losses.frames, 5u);
  EXPECT_EQ(snapshot.threads.back().nodes.size(), 11u);
  EXPECT_EQ(snapshot.threads.back().nodes[2].calls, 2u);
}

TEST_F(CallFlowEngine, LongjmpOutOfCallsDeeperThanTheStackLeavesThemToo) {
  Settings settings;
  settings.limits.frames = 3;
  begin(settings);
  const auto dive = [] {
    enter(my_tree, 0x1000, Type::c_function, {900, 0x1010});
    enter(my_tree, 0x2000, Type::c_function, {800, 0x2010});
    enter(my_tree, 0x3000, Type::c_function, {700, 0x3010});
    enter(my_tree, 0x4000, Type::c_function, {600, 0x4010});
    enter(my_tree, 0x5000, Type::c_function, {500, 0x5010});
  };
  dive();  // longjmp() to 0x1000, which ends
  leave(my_tree, 0x1000, Type::c_function, Transition::exit, {900, 0x1020});
  dive();  // the same, but 0x1000 calls 0x6000 before
  enter(my_tree, 0x6000, Type::c_function, {850, 0x6010});
  leave(my_tree, 0x6000, Type::c_function, Transition::exit, {850, 0x6020});
  leave(my_tree, 0x1000, Type::c_function, Transition::exit, {900, 0x1030});
  EXPECT_EQ(shape(), "4096 2\n  8192 2\n    12288 2\n  24576 1\n");
  EXPECT_EQ(counts_now().losses.frames, 4u);
  EXPECT_EQ(counts_now().threads.back().unwound, 4u);
}

TEST_F(CallFlowEngine, ThreadsAboveTheLimitAreCountedAsLost) {
  Settings settings;
  settings.limits.threads = 1;
  begin(settings);
  my_tree = nullptr;
  for (int i = 0; i < 3; ++i)
    std::thread([] {
      call(1);
      call(1);
    }).join();
  EXPECT_EQ(counts_now().losses.threads, 3u - counts_now().threads.size());
}

TEST_F(CallFlowEngine, IgnoredEventsLeaveNoTrace) {
  begin();
  call(1, [] {
    const Ignored ignored(my_tree);
    const Ignored nested(my_tree);
    call(2);
  });
  call(3);
  EXPECT_EQ(shape(), "1 1\n3 1\n");
  EXPECT_FALSE(counts_now().losses.any());
}

TEST_F(CallFlowEngine, ThreadsThatAreNotSelectedAreNotRecordedUntilTheNextStart) {
  Settings settings;
  settings.select_thread = [] { return false; };
  begin(settings);
  call(1);
  EXPECT_TRUE(counts_now().threads.empty());
  begin();
  call(2);
  EXPECT_EQ(shape(), "2 1\n");
}

TEST_F(CallFlowEngine, AChildOfForkBeginsWithoutTheParentsCounts) {
  begin();
  call(1);
  const pid_t child = ::fork();
  if (child == 0) {
    child_of_fork(my_tree);
    const bool empty = !is_recording() && counts_now().threads.empty();
    const bool started = static_cast<bool>(start({}));
    call(2);
    ::_exit(empty && started && shape() == "2 1\n" ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(shape(), "1 1\n");
}

TEST_F(CallFlowEngine, AHundredThousandCalleesOfOneMethodAreFound) {
  begin();
  for (int round = 0; round < 2; ++round)
    call(1, [] {
      for (uint64_t i = 0; i < 100000; ++i) call(1000 + i);
    });
  const Snapshot snapshot = counts_now();
  ASSERT_EQ(snapshot.threads.back().nodes.size(), 100002u);
  for (size_t i = 2; i < 100002; ++i) {
    ASSERT_EQ(snapshot.threads.back().nodes[i].method, 998 + i);
    ASSERT_EQ(snapshot.threads.back().nodes[i].calls, 2u);
  }
}

TEST_F(CallFlowEngine, SettingsThatCannotBeMeasuredAreRefused) {
  Settings settings;
  settings.meter.metrics.resize(max_metrics + 1);
  EXPECT_EQ(start(settings).error().code, EINVAL);
  settings.meter = {MeterKind::reader, {{"A", "units"}}, nullptr, nullptr};
  EXPECT_EQ(start(settings).error().code, EINVAL);
}

}  // namespace
}  // namespace pi::callflow
