// SPDX-License-Identifier: MIT
// Limits on shares of the ticks, as a user has written them, and whether a trace keeps them. The
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

// The error names the line; path is only for that.
pi::Result<std::vector<Limit>> parse_budget(std::string_view text, const std::string& path);

std::vector<LimitResult> measure(const std::vector<Limit>& limits, const Profile& profile);

}  // namespace post

#endif  // POST_BUDGET_H
