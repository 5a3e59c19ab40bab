// SPDX-License-Identifier: MIT
// Parses a budget: a file of limits on shares of the ticks. Measures a trace against them. The
// form of the file is documented in post(1).
#ifndef POST_BUDGET_H
#define POST_BUDGET_H

#include <pi/result.h>

#include <string>
#include <string_view>
#include <vector>

#include "profile.h"
#include "report/limit.h"

namespace post {

// The error names path and the line.
pi::Result<std::vector<Limit>> parse_budget(std::string_view text, const std::string& path);

std::vector<LimitResult> measure(const std::vector<Limit>& limits, const Profile& profile);

}  // namespace post

#endif  // POST_BUDGET_H
