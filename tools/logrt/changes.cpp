// SPDX-License-Identifier: MIT
// What changed from one call flow to another.
#include "changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace logrt {
namespace {

double bound(const Total& total, double of_event) {
  return 2 * of_event * static_cast<double>(total.calls);
}

uint64_t difference(uint64_t a, uint64_t b) {
  return a > b ? a - b : b - a;
}

}  // namespace

std::string incomparable(const CallFlow& a, const CallFlow& b) {
  if (a.metric == b.metric && a.unit == b.unit) return "";
  const auto name = [](const CallFlow& flow) {
    return flow.metric.empty() ? "calls only" : flow.metric;
  };
  return fmt::format("{} has {}, {} has {}; name a metric of both with --metric.", a.path, name(a),
                     b.path, name(b));
}

std::vector<Change> changes(const Totals& a, const Totals& b, double bound_of_a,
                            double bound_of_b) {
  std::map<std::string, Change> by_name;
  for (const Total& total : a.rows) by_name[total.name].a = total;
  for (const Total& total : b.rows) by_name[total.name].b = total;
  std::vector<Change> all;
  for (auto& [name, change] : by_name) {
    change.a.name = change.b.name = name;
    change.within_bound =
        change.a.calls == change.b.calls &&
        std::abs(change.base()) <= bound(change.a, bound_of_a) + bound(change.b, bound_of_b);
    all.push_back(std::move(change));
  }
  std::ranges::sort(all, {}, [](const Change& change) {
    return std::tuple(change.within_bound, -std::abs(change.base()),
                      -static_cast<double>(difference(change.a.calls, change.b.calls)),
                      std::string_view(change.a.name));
  });
  return all;
}

}  // namespace logrt
