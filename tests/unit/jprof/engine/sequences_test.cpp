// SPDX-License-Identifier: MIT
// Sequences of types and transitions that can and cannot occur.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

#include "fake_program.h"
#include "report.h"

namespace pi::callflow {
namespace {

bool is_java(Type type) {
  return type < Type::compiling;
}

// Plays the shortest program that may produce a sequence, with calls that the rules of JVMs and of
// C allow, and ends all of its calls.
class Player {
 public:
  // False: there is no such program.
  bool play(const Sequence& s) {
    const bool played = s.first == Transition::entry ? play_entry(s) : play_exit(s);
    while (!stack_.empty()) leave_top(Transition::exit);
    return played;
  }

 private:
  struct Frame {
    Type type;
    Place place;
  };

  static Place place_at(size_t depth) { return {1'000'000 - 1000 * depth, method_at(depth)}; }
  static uint64_t method_at(size_t depth) { return depth + 1; }

  // The root is of the type other, and so is the profiler's own work, which calls nothing.
  bool enter_method(Type type) {
    if (type == Type::compiling) return false;
    if (!stack_.empty() && stack_.back().type == Type::other) return false;
    const Place place = is_c(type) ? place_at(stack_.size()) : Place{};
    enter(my_tree, method_at(stack_.size()), type, place);
    stack_.push_back({type, place});
    return true;
  }

  // A caller: the thread itself, or a method.
  bool make_caller(Type type) { return type == Type::other || enter_method(type); }

  bool leave_top(Transition how) {
    const Frame frame = stack_.back();
    if (how == Transition::exit_by_exception && !is_java(frame.type)) return false;
    leave(my_tree, method_at(stack_.size() - 1), frame.type, how, frame.place);
    stack_.pop_back();
    return true;
  }

  bool play_entry(const Sequence& s) {
    if (!make_caller(s.before)) return false;
    if (s.second == Transition::entry) return enter_method(s.running) && enter_method(s.after);
    if (s.before == s.after) return enter_method(s.running) && leave_top(s.second);
    const bool patched = s.before == Type::patched_function && s.running == s.before;
    if (!patched || s.second != Transition::exit) return false;
    // The function of type before has the caller after, and ends with a jump.
    leave_top(Transition::exit);
    if (!make_caller(s.after)) return false;
    const size_t first = stack_.size();
    enter_method(Type::patched_function);
    enter(my_tree, 100, Type::patched_function, {place_at(first).stack, 0});
    return leave_top(Transition::exit);
  }

  bool play_exit(const Sequence& s) {
    if (s.second == Transition::entry)
      return make_caller(s.running) && enter_method(s.before) && leave_top(s.first) &&
             enter_method(s.after);
    // A method that was entered before the recording started, and whose caller was, too.
    if (s.running == Type::other) {
      if (s.after != Type::other || !enter_method(s.before) || !leave_top(s.first)) return false;
      leave(my_tree, 200, Type::interpreted, s.second);
      return true;
    }
    return make_caller(s.after) && enter_method(s.running) && enter_method(s.before) &&
           leave_top(s.first) && leave_top(s.second);
  }

  std::vector<Frame> stack_;
};

class Sequences : public testing::Test {
 protected:
  void SetUp() override { begin_test(); }
  void TearDown() override { stop(); }
};

std::set<size_t> observed(const Snapshot& snapshot) {
  std::set<size_t> all;
  for (const auto& s : snapshot.sequences) all.insert(index_of(s.sequence));
  return all;
}

// Initial frames, which recordings of JVMs have, are of the type other, and end with their own.
size_t two_initial_frames(std::span<uint64_t> methods, Type) {
  methods[0] = 300;
  methods[1] = 301;
  return 2;
}

TEST_F(Sequences, ThoseThatProgramsProduceAreExactlyThosePossible) {
  ASSERT_TRUE(start(one_metric()));
  Player player;
  call(1);  // the first event of a thread has no sequence
  std::set<size_t> possible;
  for (size_t i = 0; i < sequence_count; ++i) {
    const bool played = player.play(sequence_at(i));
    EXPECT_EQ(played, can_occur(sequence_at(i))) << name_of(sequence_at(i));
    if (can_occur(sequence_at(i))) possible.insert(i);
  }
  const Snapshot snapshot = counts_now();
  for (const size_t i : possible)
    EXPECT_TRUE(observed(snapshot).contains(i)) << name_of(sequence_at(i));
  EXPECT_EQ(snapshot.bounds[0].impossible, 0u);
  EXPECT_EQ(observed(snapshot), possible);
  EXPECT_EQ(snapshot.losses.any(), false);
}

TEST_F(Sequences, MethodsThatWereEnteredBeforeTheStartProduceNoOthers) {
  Settings settings = one_metric();
  settings.initial_frames = two_initial_frames;
  ASSERT_TRUE(start(settings));
  my_tree = nullptr;
  call(1, {}, Type::jitted);
  leave(my_tree, 301, Type::interpreted, Transition::exit_by_exception);
  call(2, {}, Type::jitted);
  leave(my_tree, 300, Type::interpreted, Transition::exit);
  call(3, {}, Type::jitted);
  EXPECT_EQ(counts_now().bounds[0].impossible, 0u);
}

// A compiled method that an interpreted one called overflows the stack; the exits of both have no
// event, and their caller ends.
TEST_F(Sequences, CallsThatEndWithoutAnEventAreListedAndTrainNothing) {
  ASSERT_TRUE(start(one_metric()));
  call(1, [] {
    for (int i = 0; i < 100; ++i) {
      call(
          2, [] { call(3, {}, Type::jitted); }, Type::interpreted);
      enter(my_tree, 2, Type::interpreted);
      enter(my_tree, 3, Type::jitted);
      enter(my_tree, 4, Type::jitted_static);
      work(100);
      leave(my_tree, 2, Type::interpreted, Transition::exit_by_exception);
    }
  });
  const Sequence impossible = {Type::jitted, Transition::entry, Type::jitted_static,
                               Transition::exit_by_exception, Type::c_function};
  const Snapshot snapshot = counts_now();
  const auto found = std::find_if(snapshot.sequences.begin(), snapshot.sequences.end(),
                                  [](const auto& s) { return !s.possible; });
  ASSERT_NE(found, snapshot.sequences.end());
  EXPECT_EQ(found->sequence, impossible);
  EXPECT_EQ(found->count, 100u);
  EXPECT_FALSE(found->trained);
  EXPECT_EQ(snapshot.bounds[0].impossible, 100u);
  EXPECT_EQ(observed_minima(snapshot, {}).find("FAKE", index_of(impossible)), nullptr);
  const std::string text = log_rt(snapshot, {}, [](uint64_t) { return "m"; });
  EXPECT_NE(text.find(" Impossible :: 100 calls or returns in 1 sequences that cannot occur"),
            text.npos);
  const size_t row = text.find("J En j XX F            100 ");
  ASSERT_NE(row, text.npos) << text;
  EXPECT_EQ(text.find(" impossible\n", row), text.find('\n', row) - 11);
}

}  // namespace
}  // namespace pi::callflow
