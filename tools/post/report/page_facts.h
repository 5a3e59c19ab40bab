// SPDX-License-Identifier: MIT
// Short sentences on missing data of a trace, for the page and the browser.
#ifndef POST_PAGE_FACTS_H
#define POST_PAGE_FACTS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "summary.h"

namespace post {

// Names the missing data; empty if the trace is complete. recording: a missing end is not an error.
std::string lost_text(const Summary& summary, bool recording = false);

// The sentence for a complete trace.
std::string nothing_lost_text(const Summary& summary);

// What the trace's source cannot record, a few words each.
std::vector<std::string> not_seen(const TraceInfo& info);

// "1 tick", "2 ticks"
std::string plural(uint64_t count, std::string_view one, std::string_view many);

}  // namespace post

#endif  // POST_PAGE_FACTS_H
