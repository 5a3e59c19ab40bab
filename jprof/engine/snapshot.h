// SPDX-License-Identifier: MIT
// A copy of what was recorded until now, calibrated.
//
// Calibration (section 4.1 of the paper): between two events a thread also executes a part of the
// probes: after the late read of the first, before the early read of the second. The smallest
// difference ever seen in a sequence of types and transitions is this overhead and what the program
// itself always executes there, the environmental minimum. So
//   BASE = sum over all differences of (difference - DELTA of its sequence)
//   DELTA of a sequence = its observed minimum - its environmental minimum, at least 0.
// As each node counts its differences by sequence, all of them are corrected with the final minima,
// in whatever order they were seen.
#ifndef PI_CALLFLOW_SNAPSHOT_H
#define PI_CALLFLOW_SNAPSHOT_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "meter.h"
#include "minima.h"
#include "types.h"

namespace pi::callflow {

struct ThreadTree;

constexpr size_t no_parent = SIZE_MAX;

struct CallNode {
  uint64_t method = 0;
  size_t parent = no_parent;  // index in TreeCopy::nodes, smaller than the node's own
  Type type = Type::other;
  bool entered_before = false;  // was running when the recording started
  uint32_t level = 0;           // 0: the thread
  uint32_t number = 0;          // in the thread's recording, see running_node()
  uint64_t calls = 0;
  uint64_t callees = 0;  // calls from it
  uint64_t dispatches = 0;
  uint64_t interrupts = 0;
  std::array<int64_t, max_metrics> base{};   // calibrated; callees excluded
  std::array<int64_t, max_metrics> delta{};  // what calibration has subtracted
};

struct Losses {
  uint64_t nodes = 0;       // calls that are counted in their caller: the tree is full
  uint64_t frames = 0;      // calls that are not counted: the stack is full
  uint64_t reentered = 0;   // events that interrupted an event of their thread
  uint64_t abandoned = 0;   // events that a signal handler left by siglongjmp()
  uint64_t unreadable = 0;  // events for which the meter had no value
  uint64_t log = 0;         // events that could not be written to the file of events
  uint64_t threads = 0;     // threads without a tree
  uint64_t samples = 0;     // samples for which there was no space
  bool any() const {
    return (nodes | frames | reentered | abandoned | unreadable | log | threads | samples) != 0;
  }
};

struct TreeCopy {
  uint32_t tid = 0;
  uint64_t recording = 0;  // see running_node(); 0: of no recording
  std::string name;
  bool ended = false;
  std::vector<CallNode>
      nodes;  // depth first, callees in the order of their first call; [0] is the thread
  uint64_t events = 0;
  uint64_t unwound = 0;  // frames that ended without an event: longjmp(), exceptions
  std::array<uint64_t, max_metrics> own_cost{};  // of the events themselves, between the two reads
};

// One sequence of one metric in this recording.
struct SequenceReport {
  Sequence sequence{};
  size_t metric = 0;
  uint64_t count = 0;
  uint64_t observed = 0;      // smallest difference, of this recording and the stored minima; the
                              // stored one alone where that is final
  uint64_t mode = 0;          // most frequent difference of this recording, the smallest of those
                              // that are about as frequent
  bool mode_is_exact = true;  // false: mode is the beginning of a range of differences
  uint64_t environment = 1;
  uint64_t adjustment = 0;  // subtracted from each difference
  bool possible = true;     // can_occur()
  bool trained = false;     // possible, and observed at least settled_after times, see
                            // Calibration::learns; else the minimum of a similar sequence is used,
                            // or nothing is subtracted
};

// The calibration's uncertainty for one metric.
struct ErrorBound {
  double spread = 0;           // mean of mode - minimum over all differences, in the metric's unit
  double untrained_share = 0;  // of all differences: in sequences that are not trained
  uint64_t impossible = 0;     // differences in sequences that cannot occur
};

// How the trees of samples were made, which have no calls: a node's values are those of the samples
// that found it innermost, and a thread's own those of samples without frames.
struct Sampling {
  std::string source;                                      // when a sample was taken, and by what
  bool has_native = false;                                 // functions of native code, too
  uint64_t walked = 0;                                     // samples
  std::vector<std::pair<std::string, uint64_t>> unwalked;  // why a sample has no frames of Java
};

struct Snapshot {
  std::vector<Metric> metrics;
  bool calibrated = true;
  bool has_dispatches = false;  // dispatches and interrupts were counted
  std::vector<TreeCopy> threads;
  std::vector<SequenceReport> sequences;  // by metric, then by index_of()
  std::vector<ErrorBound> bounds;         // one for each metric
  Losses losses;
  std::optional<Sampling> sampling;  // nothing: calls were counted
};

struct Calibration {
  bool on = true;
  // The recording's own observations count as training. False: only the stored ones do, because
  // what is executed in other sequences is more than overhead: in Java the search for an
  // exception's handler, native methods, loading classes.
  bool learns = true;
  Minima stored;         // observed in earlier recordings
  Minima environmental;  // 1 where not listed

  // Whether smaller differences than the stored one do not count: environmental minima are those of
  // methods that are called, and smaller differences those of methods that are inlined.
  bool is_final(const Minimum& stored_one) const {
    return !learns && !environmental.values.empty() && stored_one.count >= settled_after;
  }
};

// Copies what was recorded. From any thread, at any time, but one at a time and not from a signal
// handler; threads that run meanwhile continue, and for each of them the last event may be counted
// in part.
Snapshot take_snapshot(const Calibration& calibration);

// Measures what the calling thread's events in work() take, with the meter of the recording, which
// does not contain them. Returns their minima, with the stored ones. mine: as in enter(). From any
// thread, but not from a signal handler; work() must not start or stop recordings. Without a
// recording: the stored ones.
Minima train_beside(ThreadTree*& mine, void (*work)(), const Minima& stored);

// The minima of the snapshot's recording, with the stored ones: to be stored. Without learning
// (Calibration::learns) only those of the stored sequences. Never those of sequences that cannot
// occur.
Minima observed_minima(const Snapshot& snapshot, const Minima& stored, bool learns = true);

}  // namespace pi::callflow

#endif  // PI_CALLFLOW_SNAPSHOT_H
