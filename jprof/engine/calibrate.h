// SPDX-License-Identifier: MIT
// What is subtracted from the differences of each sequence.
#ifndef PI_CALLFLOW_CALIBRATE_H
#define PI_CALLFLOW_CALIBRATE_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "snapshot.h"

namespace pi::callflow {

// The differences of one sequence and metric, of all threads.
struct Observed {
  uint64_t count = 0;
  uint64_t minimum = UINT64_MAX;
  std::map<uint64_t, uint64_t> histogram;  // first difference of a bucket, and how many are in it
  uint64_t inexact_from = UINT64_MAX;      // buckets from here on have several differences
};

// By metric and sequence.
using AllObserved = std::map<std::pair<size_t, size_t>, Observed>;

// The minima of the sequences of one metric that were observed often enough.
class TrainedMinima {
 public:
  TrainedMinima(const Minima& stored, const std::string& metric);
  void add(size_t index, uint64_t minimum) { trained_.push_back({index, minimum}); }
  // The smallest minimum of the most similar ones; nothing if none has the same transitions.
  std::optional<uint64_t> similar_to(const Sequence& sequence) const;

 private:
  struct Trained {
    size_t index;
    uint64_t minimum;
  };

  std::vector<Trained> trained_;
};

std::vector<SequenceReport> calibrate(const AllObserved& observed,
                                      const std::vector<Metric>& metrics,
                                      const Calibration& calibration);

std::vector<ErrorBound> error_bounds(const std::vector<SequenceReport>& sequences, size_t metrics);

}  // namespace pi::callflow

#endif  // PI_CALLFLOW_CALIBRATE_H
