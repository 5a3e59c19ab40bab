// SPDX-License-Identifier: MIT
// Calibration: what is left after it is exactly what the program did.
#include <gtest/gtest.h>

#include <cmath>

#include "fake_program.h"

namespace pi::callflow {
namespace {

class Calibrated : public testing::Test {
 protected:
  void SetUp() override { begin_test(); }
  void TearDown() override { stop(); }

  // Each sequence of transitions occurs at least 32 times, and once without more work than a unit.
  // Method 2 works 5,000 units in each call, 3 calls 4, which varies.
  static void run() {
    call(1, [] {
      for (int i = 0; i < 100; ++i) {
        call(2, [] { work(4999); });
        call(3, [=] {
          if (i % 2) call(4, [=] { work(static_cast<uint64_t>(i)); });
          call(4);
          call(4);
        });
        work(static_cast<uint64_t>(i % 3));
        call(5, [] { call(4); });
      }
    });
  }
};

TEST_F(Calibrated, BaseIsExactlyTheWorkOfEachMethod) {
  ASSERT_TRUE(start(one_metric()));
  run();
  const auto base = sums(counts_now());
  EXPECT_EQ(base.size(), 5u);
  for (const auto& [method, units] : truth) EXPECT_EQ(base.at(method), units) << method;
}

TEST_F(Calibrated, WithoutCalibrationSmallMethodsAreOffByAWideMargin) {
  ASSERT_TRUE(start(one_metric()));
  run();
  const auto base = sums(counts_now(false));
  EXPECT_GT(base.at(5), 20 * truth.at(5));
  EXPECT_GT(base.at(3), 20 * truth.at(3));
}

TEST_F(Calibrated, BaseAndDeltaAreWhatWasMeasured) {
  ASSERT_TRUE(start(one_metric()));
  run();
  const Snapshot with = counts_now();
  const Snapshot without = counts_now(false);
  for (size_t i = 0; i < with.threads.back().nodes.size(); ++i) {
    const CallNode& node = with.threads.back().nodes[i];
    EXPECT_EQ(node.base[0] + node.delta[0], without.threads.back().nodes[i].base[0]);
  }
}

TEST_F(Calibrated, TrainingBesideARecordingIsNotInIt) {
  ASSERT_TRUE(start(one_metric()));
  const auto train = [] {
    for (int i = 0; i < 40; ++i)
      call(2, [] {
        call(3);
        call(3);
      });
  };
  call(1);
  const Minima minima = train_beside(my_tree, train, {});
  call(4);
  EXPECT_EQ(shape(), "1 1\n4 1\n");
  constexpr Type c = Type::c_function;
  const Minimum* between =
      minima.find("FAKE", index_of({c, Transition::exit, c, Transition::entry, c}));
  ASSERT_NE(between, nullptr);
  EXPECT_EQ(between->count, 40u);
  stop();
  EXPECT_TRUE(train_beside(my_tree, train, {}).values.empty());
  // A recording of the same finds the same.
  ASSERT_TRUE(start(one_metric()));
  train();
  const Minima recorded = observed_minima(counts_now(), {});
  const Minimum* same =
      recorded.find("FAKE", index_of({c, Transition::exit, c, Transition::entry, c}));
  ASSERT_NE(same, nullptr);
  EXPECT_EQ(between->value, same->value);
  EXPECT_EQ(between->count, same->count);
}

TEST_F(Calibrated, EachMetricHasMinimaOfItsOwn) {
  ASSERT_TRUE(start(two_metrics()));
  run();
  Calibration calibration;
  for (size_t i = 0; i < sequence_count; ++i)
    calibration.environmental.values[{"THREE", i}] = {3, 0};
  const Snapshot snapshot = take_snapshot(calibration);
  const auto first = sums(snapshot, 0);
  const auto second = sums(snapshot, 1);
  for (const auto& [method, units] : truth) {
    EXPECT_EQ(first.at(method), units) << method;
    EXPECT_EQ(second.at(method), 3 * units) << method;
  }
}

TEST_F(Calibrated, TheOrderOfObservationsDoesNotMatter) {
  ASSERT_TRUE(start(one_metric()));
  call(1, [] {
    for (uint64_t i = 0; i < 100; ++i) {
      call(2, [=] { work(1000 - 10 * i); });
      work(100 - i);
    }
    for (int i = 0; i < 10; ++i) call(2);
  });
  EXPECT_EQ(sums(counts_now()).at(2), truth.at(2));
}

TEST_F(Calibrated, StoredMinimaReplaceTraining) {
  ASSERT_TRUE(start(one_metric()));
  run();
  Calibration calibration;
  calibration.stored = observed_minima(counts_now(), {});
  begin_test();
  ASSERT_TRUE(start(one_metric()));
  call(2, [] {
    work(700);
    call(4, [] { work(300); });
    work(500);
  });
  const auto base = sums(take_snapshot(calibration));
  EXPECT_EQ(base.at(4), truth.at(4));
  EXPECT_EQ(base.at(2), truth.at(2));
}

TEST_F(Calibrated, AnUntrainedSequenceUsesTheMinimumOfASimilarOne) {
  ASSERT_TRUE(start(one_metric()));
  call(1, [] {
    for (int i = 0; i < 100; ++i) call(2);
    call(
        2, [] { work(1234); }, Type::other);
  });
  const Snapshot snapshot = counts_now();
  EXPECT_EQ(sums(snapshot).at(2), truth.at(2));
  EXPECT_GT(snapshot.bounds[0].untrained_share, 0);
  EXPECT_LT(snapshot.bounds[0].untrained_share, 0.1);
}

TEST_F(Calibrated, WithoutAnyTrainedSequenceNothingIsSubtracted) {
  ASSERT_TRUE(start(one_metric()));
  call(1, [] { work(10000); });
  const Snapshot snapshot = counts_now();
  EXPECT_EQ(sums(snapshot).at(1),
            truth.at(1) + static_cast<int64_t>(after_entry + before_exit + 20));
  EXPECT_EQ(snapshot.bounds[0].untrained_share, 1);
}

// Method 2 works in each call, and only it is in its sequence. Without learning, that is not taken
// for overhead.
TEST_F(Calibrated, WithoutLearningOnlyStoredMinimaAreSubtracted) {
  ASSERT_TRUE(start(one_metric()));
  run();
  stop();
  Calibration calibration;
  calibration.stored = observed_minima(take_snapshot(calibration), {});
  calibration.learns = false;
  ASSERT_TRUE(start(one_metric()));
  truth.clear();
  call(1, [] {
    for (int i = 0; i < 100; ++i)
      call(
          2, [] { work(1234); }, Type::native);
  });
  const Snapshot snapshot = take_snapshot(calibration);
  EXPECT_EQ(sums(snapshot).at(2), truth.at(2));
  EXPECT_GT(snapshot.bounds[0].untrained_share, 0.9);
  // What the recording has observed in other sequences is not stored.
  EXPECT_EQ(observed_minima(snapshot, calibration.stored, false).values.size(),
            calibration.stored.values.size());
  EXPECT_GT(observed_minima(snapshot, calibration.stored, true).values.size(),
            calibration.stored.values.size());
}

TEST_F(Calibrated, EnvironmentalMinimaStay) {
  ASSERT_TRUE(start(one_metric()));
  call(1, [] {
    for (int i = 0; i < 100; ++i) call(2, [] { work(8); });
  });
  Calibration calibration;
  const Sequence leaf = {Type::c_function, Transition::entry, Type::c_function, Transition::exit,
                         Type::c_function};
  calibration.environmental.values[{"FAKE", index_of(leaf)}] = {9, 0};
  EXPECT_EQ(sums(take_snapshot(calibration)).at(2), truth.at(2));
}

// The stored minimum is that of a called method, whose prologue and epilogue take 5 units; the
// environmental minimum has them too. Without them, as in an inlined method, 5 units less remain.
TEST_F(Calibrated, WithEnvironmentalMinimaInlinedMethodsDoNotReplaceTheStoredMinimum) {
  ASSERT_TRUE(start(one_metric()));
  run();
  stop();
  const Sequence leaf = {Type::c_function, Transition::entry, Type::c_function, Transition::exit,
                         Type::c_function};
  Calibration calibration;
  calibration.stored = observed_minima(take_snapshot(calibration), {});
  calibration.stored.values.at({"FAKE", index_of(leaf)}).value += 5;
  calibration.environmental.values[{"FAKE", index_of(leaf)}] = {6, 0};
  calibration.learns = false;
  ASSERT_TRUE(start(one_metric()));
  truth.clear();
  call(1, [] {
    for (int i = 0; i < 100; ++i) {
      call(2);
      call(3, [] { work(5); });
    }
  });
  const auto base = sums(take_snapshot(calibration));
  EXPECT_EQ(base.at(2), 100);
  EXPECT_EQ(base.at(3), 600);
}

TEST_F(Calibrated, TheErrorBoundIsTheDistanceOfModeAndMinimum) {
  ASSERT_TRUE(start(one_metric()));
  call(1, [] {
    for (int i = 0; i < 100; ++i) call(2, [=] { work(i == 50 ? 0 : 6); });
  });
  const Snapshot snapshot = counts_now();
  const Sequence leaf = {Type::c_function, Transition::entry, Type::c_function, Transition::exit,
                         Type::c_function};
  for (const auto& s : snapshot.sequences)
    if (s.sequence == leaf) {
      EXPECT_EQ(s.count, 100u);
      EXPECT_EQ(s.observed, 20 + after_entry + before_exit + 1);
      EXPECT_EQ(s.mode, s.observed + 6);
      EXPECT_TRUE(s.mode_is_exact);
    }
  EXPECT_NEAR(snapshot.bounds[0].spread, 6 * 100 / 201.0, 1e-9);
}

TEST_F(Calibrated, TheModeIsFoundWhereverTheFirstDifferencesWere) {
  ASSERT_TRUE(start(one_metric()));
  call(1, [] {
    call(2, [] { work(1000000); });
    for (uint64_t i = 0; i < 50; ++i) call(2, [=] { work(2000 - 40 * i); });
    for (int i = 0; i < 60; ++i) call(2, [] { work(30); });
    call(2);
  });
  for (const auto& s : counts_now().sequences)
    if (s.sequence.first == Transition::entry && s.sequence.second == Transition::exit) {
      EXPECT_EQ(s.mode, s.observed + 30);
    }
}

// An interrupt in some calls of one of two methods that are called equally often.
TEST_F(Calibrated, OfDifferencesThatAreAboutAsFrequentTheModeIsTheSmallest) {
  const auto mode_with = [](int slow_calls) {
    begin_test();
    EXPECT_TRUE(start(one_metric()));
    call(1, [=] {
      for (int i = 0; i < 400; ++i) {
        call(2, [=] { work(i < slow_calls ? 5000 : 0); });
        call(3, [] { work(1); });
      }
    });
    uint64_t mode = 0;
    for (const auto& s : counts_now().sequences)
      if (s.sequence.first == Transition::entry && s.sequence.second == Transition::exit)
        mode = s.mode - s.observed;
    return mode;
  };
  EXPECT_EQ(mode_with(0), 0u);
  EXPECT_EQ(mode_with(20), 0u);
  EXPECT_EQ(mode_with(21), 1u);
}

TEST_F(Calibrated, ADifferenceBelowZeroCountsAsNone) {
  ASSERT_TRUE(start(one_metric()));
  call(1);
  clock_now -= 1000;
  call(1);
  const Snapshot snapshot = counts_now(false);
  for (const auto& node : snapshot.threads.back().nodes) EXPECT_GE(node.base[0], 0);
}

TEST_F(Calibrated, TheCostOfTheEventsThemselvesIsKnown) {
  ASSERT_TRUE(start(one_metric()));
  for (int i = 0; i < 10; ++i) call(1);
  // Of the last event there is no late read to compare with yet.
  EXPECT_EQ(counts_now().threads.back().own_cost[0], 19 * 20u);
}

TEST_F(Calibrated, EventsWithoutAValueAreCountedAndChargeNothing) {
  Settings settings = one_metric();
  settings.meter.reader = [](uint64_t*) { return 1; };
  ASSERT_TRUE(start(settings));
  call(1);
  call(1);
  const Snapshot snapshot = counts_now();
  EXPECT_EQ(snapshot.losses.unreadable, 3u);
  EXPECT_EQ(sums(snapshot).at(1), 0);
}

}  // namespace
}  // namespace pi::callflow
