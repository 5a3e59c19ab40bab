// SPDX-License-Identifier: MIT
// A program that the tests play: its calls, its work and the overhead of its probes, all in units
// of a clock that only these change.
#ifndef PI_TESTS_FAKE_PROGRAM_H
#define PI_TESTS_FAKE_PROGRAM_H

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine.h"
#include "snapshot.h"

namespace pi::callflow {

inline thread_local ThreadTree* my_tree = nullptr;

inline uint64_t clock_now = 0;         // the fake metric
inline uint64_t second_clock_now = 0;  // three units for each one of the first
inline std::function<void()> during_read;

inline void tick(uint64_t units) {
  clock_now += units;
  second_clock_now += 3 * units;
}

// An event itself takes 40 units, half of them in each read.
inline int read_clock(uint64_t* values) {
  if (during_read) during_read();
  values[0] = clock_now;
  tick(20);
  return 0;
}

inline int read_two_clocks(uint64_t* values) {
  values[1] = second_clock_now;
  return read_clock(values);
}

inline Settings one_metric() {
  Settings settings;
  settings.meter = {MeterKind::reader, {{"FAKE", "units"}}, read_clock, nullptr};
  return settings;
}

inline Settings two_metrics() {
  Settings settings;
  settings.meter = {
      MeterKind::reader, {{"FAKE", "units"}, {"THREE", "units"}}, read_two_clocks, nullptr};
  return settings;
}

// Overhead of probes outside the two reads, which calibration must find out.
constexpr uint64_t before_entry = 31;
constexpr uint64_t after_entry = 17;
constexpr uint64_t before_exit = 23;
constexpr uint64_t after_exit = 41;

// The true units of each method, without overhead.
inline std::map<uint64_t, int64_t> truth;
inline std::vector<uint64_t> running;

inline void work(uint64_t units) {
  tick(units);
  if (!running.empty()) truth[running.back()] += static_cast<int64_t>(units);
}

// A call of a function that does body. Each part of a function between two events executes at least
// one unit, as the environmental minimum says.
inline void call(uint64_t method, const std::function<void()>& body = {},
                 Type type = Type::c_function) {
  work(1);
  tick(before_entry);
  enter(my_tree, method, type);
  tick(after_entry);
  running.push_back(method);
  if (body) body();
  work(1);
  tick(before_exit);
  leave(my_tree, method, type, Transition::exit);
  tick(after_exit);
  running.pop_back();
}

inline void begin_test() {
  stop();
  clock_now = second_clock_now = 0;
  during_read = nullptr;
  truth.clear();
  running.clear();
}

inline Snapshot counts_now(bool calibrated = true) {
  Calibration calibration;
  calibration.on = calibrated;
  return take_snapshot(calibration);
}

// "0 0\n1 5 7 ...": level, method and calls of each node of one thread.
inline std::string shape(const TreeCopy& thread) {
  std::string text;
  for (const auto& node : thread.nodes) {
    if (node.level == 0) continue;
    text += std::string(2 * (node.level - 1), ' ') + std::to_string(node.method) + ' ' +
            std::to_string(node.calls) + (node.entered_before ? " before\n" : "\n");
  }
  return text;
}

inline std::string shape() {
  const Snapshot snapshot = counts_now();
  return snapshot.threads.empty() ? "nothing" : shape(snapshot.threads.back());
}

inline std::map<uint64_t, int64_t> sums(const Snapshot& snapshot, size_t metric = 0) {
  std::map<uint64_t, int64_t> all;
  for (const auto& thread : snapshot.threads)
    for (const auto& node : thread.nodes)
      if (node.level > 0) all[node.method] += node.base[metric];
  return all;
}

}  // namespace pi::callflow

#endif  // PI_TESTS_FAKE_PROGRAM_H
