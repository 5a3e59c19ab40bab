// SPDX-License-Identifier: MIT
// A limit on a share of the ticks, and the measured share.
#include "limit.h"

#include <fmt/format.h>

#include "report_rows.h"
#include "text/text.h"

namespace post {

std::string limit_name(const Limit& limit) {
  return fmt::format("{} {}{}{}", level_word(limit.level), printable(limit.name),
                     limit.module.empty() ? "" : ":", printable(limit.module));
}

std::string limit_text(const LimitResult& result, uint64_t all_ticks) {
  const std::string what = limit_name(result.limit);
  if (!result.occurs())
    return fmt::format("{}: no tick fell on that name, limit {} %", what, result.limit.percent);
  return fmt::format("{}: {:.2f} % ({} of {} ticks), limit {} %: {}", what, result.percent,
                     result.ticks, all_ticks, result.limit.percent,
                     result.exceeded() ? "exceeded" : "kept");
}

}  // namespace post
