// SPDX-License-Identifier: MIT
// What a trace lacks, in a few words: for a page and a screen.
#ifndef POST_PAGE_FACTS_H
#define POST_PAGE_FACTS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "summary.h"

namespace post {

// What the trace lacks; empty for nothing. recording: that it has no end yet is nothing amiss.
std::string lost_text(const Summary& summary, bool recording = false);

// The sentence for a trace that lacks nothing.
std::string nothing_lost_text(const Summary& summary);

// What the trace's source cannot see, a few words each.
std::vector<std::string> not_seen(const TraceInfo& info);

// "1 tick", "2 ticks"
std::string plural(uint64_t count, std::string_view one, std::string_view many);

}  // namespace post

#endif  // POST_PAGE_FACTS_H
