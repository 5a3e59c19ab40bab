// SPDX-License-Identifier: MIT
// What is subtracted from the differences of each sequence.
#ifndef PI_CALLFLOW_CALIBRATE_H
#define PI_CALLFLOW_CALIBRATE_H

#include <cstdint>
#include <map>
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

std::vector<SequenceReport> calibrate(const AllObserved& observed,
                                      const std::vector<Metric>& metrics,
                                      const Calibration& calibration);

std::vector<ErrorBound> error_bounds(const std::vector<SequenceReport>& sequences, size_t metrics);

}  // namespace pi::callflow

#endif  // PI_CALLFLOW_CALIBRATE_H
