// SPDX-License-Identifier: MIT
// Tests whether a trace is complete; a trace that is not changes the exit status, always or with
// --strict.
#include "completeness.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace post {

bool is_damaged(const TraceFile& file, const DamageLog& damage) {
  const std::string& ended = file.info.ended;
  return damage.any() || ended == "disk full" || ended == "running";
}

std::string what_is_missing(const TraceFile& file, const Losses& losses) {
  std::vector<std::string> parts;
  if (losses.lost() != 0) parts.push_back(fmt::format("{} records were lost", losses.lost()));
  if (losses.missed != 0)
    parts.push_back(fmt::format("{} hits of hooks were missed", losses.missed));
  // A buffer can become full with its last record: then no record was lost, but recording ended
  // before the run did.
  if (!file.full.empty()) parts.push_back("recording ended early in a full buffer");
  if (!losses.counted)
    parts.push_back(
        "the file does not contain how many records were produced, as when its recorder "
        "was killed");
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace post
