// SPDX-License-Identifier: MIT
// Describes what a trace lacks: lost records, missed hook hits, a throttled clock, an early end.
#ifndef POST_LOSSES_H
#define POST_LOSSES_H

#include <string>
#include <utility>
#include <vector>

#include "nrm2_reader.h"

namespace post {

struct Losses {
  bool counted = false;  // the file contains the number of records produced
  StreamCounts total;
  std::vector<std::pair<StreamKey, StreamCounts>> lossy;  // the buffers that lost any
  uint64_t missed = 0;                                    // hits of hooks that were skipped

  uint64_t lost() const { return total.lost_sum(); }
};

Losses sum_losses(const TraceFile& file);

// "CPU 1 trace"
std::string buffer_name(const StreamKey& key);

// "20 did not fit into a full buffer, 3 were too long"
std::string lost_reasons(const StreamCounts& counts);

// Sentences with a short lead, for the report's head and for messages; none when the trace is
// complete.
struct LeadAndText {
  std::string lead;
  std::string text;
};
std::vector<LeadAndText> loss_sentences(const TraceFile& file, const Losses& losses);

}  // namespace post

#endif  // POST_LOSSES_H
