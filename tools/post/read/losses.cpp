// SPDX-License-Identifier: MIT
// Describes what a trace lacks: lost records, missed hook hits, a throttled clock, an early end.
#include "losses.h"

#include <fmt/format.h>

namespace post {
namespace {

constexpr const char* reasons[PITRACE_LOST_REASONS] = {
    "did not fit into a full buffer", "came after a buffer had become full", "were too long",
    "were lost by the source itself"};

std::string lost_text(const Losses& losses) {
  std::string text = std::to_string(losses.lost());
  if (losses.counted)
    text +=
        fmt::format(" of {} records ({:.2f} %)", losses.total.produced,
                    losses.total.produced == 0 ? 100.0
                                               : 100.0 * static_cast<double>(losses.lost()) /
                                                     static_cast<double>(losses.total.produced));
  else
    text += " records";
  return text + ": " + lost_reasons(losses.total) +
         ". The percentages below are shares of what was recorded.";
}

std::string missed_text(const TraceFile& file, const Losses& losses) {
  std::string text = fmt::format("{} hits of hooks (", losses.missed);
  const char* separator = "";
  for (const auto& [probe, count] : file.info.missed) {
    if (count == 0) continue;
    text += fmt::format("{}{}: {}", separator, probe, count);
    separator = ", ";
  }
  return text + "); names of processes or modules may be missing.";
}

std::string full_text(const TraceFile& file) {
  std::string text;
  for (const StreamKey& key : file.full) text += (text.empty() ? "" : ", ") + buffer_name(key);
  return text + "; recording stopped there. Larger buffers (swtrace init -s, -sm) hold more.";
}

}  // namespace

std::string buffer_name(const StreamKey& key) {
  return fmt::format("CPU {} {}", key.cpu, key.mte ? "MTE" : key.kind());
}

Losses sum_losses(const TraceFile& file) {
  Losses losses;
  losses.counted = !file.info.counts.empty();
  for (const auto& [key, counts] : file.info.counts) {
    losses.total.add(counts);
    if (counts.lost_sum() != 0) losses.lossy.emplace_back(key, counts);
  }
  // Files of other writers contain only the number of records that a stream lost.
  if (!losses.counted) {
    for (const auto& [key, lost] : file.header_lost) {
      StreamCounts counts;
      counts.lost[PITRACE_LOST_FULL] = lost;
      losses.total.add(counts);
      losses.lossy.emplace_back(key, counts);
    }
  }
  for (const auto& [probe, count] : file.info.missed) losses.missed += count;
  return losses;
}

std::string lost_reasons(const StreamCounts& counts) {
  std::string text;
  for (size_t i = 0; i < counts.lost.size(); ++i)
    if (counts.lost[i] != 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts.lost[i], reasons[i]);
  return text;
}

std::vector<LeadAndText> loss_sentences(const TraceFile& file, const Losses& losses) {
  std::vector<LeadAndText> sentences;
  if (losses.lost() != 0) sentences.push_back({"Lost", lost_text(losses)});
  if (!file.full.empty()) sentences.push_back({"Buffer full", full_text(file)});
  if (file.info.ended == "disk full")
    sentences.push_back({"Ended", "the disk was full; what did not fit is missing."});
  if (file.info.ended == "running")
    sentences.push_back({"Ended",
                         "the recorder did not end the trace: it was killed, or the machine "
                         "stopped; what it had not yet written is missing."});
  if (losses.total.overwritten != 0)
    sentences.push_back(
        {"Wrapped",
         fmt::format("{} older records were overwritten (wrap-around mode); the report is "
                     "on the newest ones.",
                     losses.total.overwritten)});
  if (losses.total.unwritten != 0)
    sentences.push_back({"Unwritten", fmt::format("{} records did not get into the file: the disk "
                                                  "was full.",
                                                  losses.total.unwritten)});
  if (losses.missed != 0) sentences.push_back({"Missed", missed_text(file, losses)});
  if (file.info.throttled != 0)
    sentences.push_back(
        {"Throttled", fmt::format("the kernel throttled the sampling clock {} times; "
                                  "shares of idle CPUs are a lower bound.",
                                  file.info.throttled)});
  return sentences;
}

}  // namespace post
