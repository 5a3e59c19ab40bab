// SPDX-License-Identifier: MIT
// Parses a budget: a file of limits on methods, classes and packages. Measures a call flow against
// them. The form of the file is documented in logrt(1).
#ifndef LOGRT_BUDGET_H
#define LOGRT_BUDGET_H

#include <pi/result.h>

#include <string>
#include <string_view>
#include <vector>

#include "totals.h"

namespace logrt {

struct Limit {
  enum class Of : uint8_t { calls, base, base_of_call, cumulated };
  size_t line = 0;
  Level level = Level::method;
  std::string name;
  Of of = Of::base;
  double limit = 0;
};

std::string_view word_of(Limit::Of of);

struct LimitResult {
  Limit limit;
  bool found = false;  // the call flow has such a method, class or package
  double value = 0;

  bool exceeded() const { return value > limit.limit; }
};

// The error names path and the line.
pi::Result<std::vector<Limit>> parse_budget(std::string_view text, const std::string& path);

// Errors: those of total(), and a limit of a metric that the call flow does not have.
pi::Result<std::vector<LimitResult>> measure(const std::vector<Limit>& limits,
                                             const CallFlow& flow);

}  // namespace logrt

#endif  // LOGRT_BUDGET_H
