// SPDX-License-Identifier: MIT
// What is subtracted from the differences of each sequence.
#include "calibrate.h"

#include <algorithm>

namespace pi::callflow {
namespace {

// How similar two sequences are: 2 if only the types before and after differ, 1 if the transitions
// are the same.
int similarity(const Sequence& a, const Sequence& b) {
  if (a.first != b.first || a.second != b.second) return 0;
  return a.running == b.running ? 2 : 1;
}

// Of several differences that are about as frequent the smallest: if a program calls two methods
// equally often, it is chance which of them fewer interrupts have hit. Counts are about the same if
// they are no further apart than the standard deviation of such a count.
void set_mode(SequenceReport& report, const Observed& observed) {
  uint64_t most = 0;
  for (const auto& [difference, count] : observed.histogram) most = std::max(most, count);
  const auto about_as_frequent = [&](const auto& bucket) {
    const uint64_t fewer = most - bucket.second;
    return fewer == 0 || fewer <= most / fewer;
  };
  const auto mode =
      std::find_if(observed.histogram.begin(), observed.histogram.end(), about_as_frequent);
  // Another thread may be moving the histogram.
  if (mode == observed.histogram.end()) return;
  report.mode = mode->first;
  report.mode_is_exact = mode->first < observed.inexact_from;
}

class MetricCalibration {
 public:
  MetricCalibration(size_t metric, const std::string& name, const Calibration& calibration)
      : metric_(metric),
        name_(name),
        calibration_(calibration),
        trained_(calibration.stored, name) {}

  void add(size_t index, const Observed& observed) {
    SequenceReport report;
    report.sequence = sequence_at(index);
    report.metric = metric_;
    report.count = observed.count;
    report.observed = observed.minimum;
    uint64_t all = calibration_.learns ? observed.count : 0;
    if (const Minimum* stored = calibration_.stored.find(name_, index)) {
      report.observed =
          calibration_.is_final(*stored) ? stored->value : std::min(report.observed, stored->value);
      all += stored->count;
    }
    if (const Minimum* minimum = calibration_.environmental.find_similar(name_, index))
      report.environment = minimum->value;
    report.possible = can_occur(report.sequence);
    report.trained = report.possible && all >= settled_after;
    if (report.trained) trained_.add(index, report.observed);
    set_mode(report, observed);
    reports_.push_back(report);
  }

  std::vector<SequenceReport> finish() {
    if (calibration_.on)
      for (auto& report : reports_) set_adjustment(report);
    return std::move(reports_);
  }

 private:
  // With few observations a sequence's own minimum would take away what the program does there.
  void set_adjustment(SequenceReport& report) const {
    uint64_t minimum = report.observed;
    if (!report.trained) {
      const auto other = trained_.similar_to(report.sequence);
      if (!other) return;
      minimum = std::min(minimum, *other);
    }
    if (minimum > report.environment) report.adjustment = minimum - report.environment;
  }

  size_t metric_;
  std::string name_;
  const Calibration& calibration_;
  TrainedMinima trained_;
  std::vector<SequenceReport> reports_;
};

}  // namespace

TrainedMinima::TrainedMinima(const Minima& stored, const std::string& metric) {
  for (const auto& [place, minimum] : stored.values)
    if (place.first == metric && minimum.count >= settled_after) add(place.second, minimum.value);
}

std::optional<uint64_t> TrainedMinima::similar_to(const Sequence& sequence) const {
  std::optional<uint64_t> minimum;
  int best = 0;
  for (const auto& trained : trained_) {
    const int similar = similarity(sequence, sequence_at(trained.index));
    if (similar == 0 || similar < best) continue;
    if (similar > best || trained.minimum < *minimum) minimum = trained.minimum;
    best = similar;
  }
  return minimum;
}

std::vector<SequenceReport> calibrate(const AllObserved& observed,
                                      const std::vector<Metric>& metrics,
                                      const Calibration& calibration) {
  std::vector<SequenceReport> all;
  for (size_t metric = 0; metric < metrics.size(); ++metric) {
    MetricCalibration of_metric(metric, metrics[metric].name, calibration);
    for (auto at = observed.lower_bound({metric, 0});
         at != observed.end() && at->first.first == metric; ++at)
      of_metric.add(at->first.second, at->second);
    const auto reports = of_metric.finish();
    all.insert(all.end(), reports.begin(), reports.end());
  }
  return all;
}

std::vector<ErrorBound> error_bounds(const std::vector<SequenceReport>& sequences, size_t metrics) {
  std::vector<ErrorBound> bounds(metrics);
  std::vector<double> counts(metrics);
  for (const auto& s : sequences) {
    const auto count = static_cast<double>(s.count);
    counts[s.metric] += count;
    if (!s.possible) bounds[s.metric].impossible += s.count;
    if (s.trained)
      bounds[s.metric].spread += count * static_cast<double>(s.mode - std::min(s.mode, s.observed));
    else
      bounds[s.metric].untrained_share += count;
  }
  for (size_t i = 0; i < metrics; ++i) {
    if (counts[i] == 0) continue;
    bounds[i].spread /= counts[i];
    bounds[i].untrained_share /= counts[i];
  }
  return bounds;
}

}  // namespace pi::callflow
