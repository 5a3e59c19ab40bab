// SPDX-License-Identifier: MIT
// The ticks of one trace by names that are the same in other traces: processes without ids.
#ifndef POST_PROFILE_H
#define POST_PROFILE_H

#include <cstdint>
#include <string>
#include <vector>

#include "read/losses.h"
#include "report/summary.h"

namespace post {

struct ProfileRow {
  std::string process;
  std::string module;
  std::string symbol;
  uint64_t ticks = 0;
  auto operator<=>(const ProfileRow&) const = default;
};

struct Profile {
  std::string path;  // of the file it came from
  uint64_t ticks = 0;
  uint64_t time_ns = 0;    // from the first tick to the last
  uint64_t tick_ns = 0;    // between two ticks of a processor; 0: not known
  uint64_t no_module = 0;  // ticks
  uint64_t no_symbol = 0;
  uint32_t processors = 0;
  std::string tick;  // what causes it: "time", or the event's name
  std::string source;
  std::string scope;
  std::string kernel;
  std::string selection;                  // what was taken of the trace; empty: all
  uint64_t events_per_tick = 0;           // 0: not known, or ticks by time
  std::vector<LeadAndText> lacks;         // sentences on losses and damage
  std::vector<std::string> symbol_notes;  // why names are missing
  bool damaged = false;                   // see is_damaged()
  std::string missing;                    // see what_is_missing()
  std::vector<ProfileRow> rows;           // each combination of names once, sorted

  // Ticks a second; 0 when there is no time between the ticks.
  double rate(uint64_t part) const;
};

// path: the trace's name in messages.
Profile make_profile(const Summary& summary, std::string path);

// Sorts rows, and adds up those with equal names.
void unite_rows(std::vector<ProfileRow>& rows);

}  // namespace post

#endif  // POST_PROFILE_H
