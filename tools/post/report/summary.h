// SPDX-License-Identifier: MIT
// The data from which all reports are written.
#ifndef POST_SUMMARY_H
#define POST_SUMMARY_H

#include <deque>
#include <string>
#include <vector>

#include "analysis/sample_tree.h"
#include "analysis/tick_counter.h"
#include "hints.h"
#include "limit.h"
#include "options/options.h"
#include "read/losses.h"
#include "read/nrm2_reader.h"
#include "read/record_totals.h"
#include "read/subscriber.h"
#include "state/processes.h"
#include "text/damage_log.h"
#include "text/string_table.h"

namespace post {

struct HtmlBase;
struct HtmlTable;

// The caller keeps the objects that it refers to until the reports are written.
struct Summary {
  const TraceFile& file;
  const RecordTotals& records;
  const SampleTree& tree;
  StringTable& names;
  const DamageLog& damage;
  const ReportOptions& options;
  TickTotals ticks;
  Losses losses;
  std::vector<std::string> symbol_notes;
  const std::deque<ProcessLifetime>& lifetimes;
  std::vector<LimitResult> budget = {};        // in the order of the file
  std::vector<const Subscriber*> counts = {};  // that the wanted reports need
  std::vector<std::string> selection_remarks = {};
  const Symbolizer* symbolizer = nullptr;  // demangles names; nullptr: they stay mangled
  std::vector<Hint> hints = {};
  const HtmlBase* base = nullptr;  // another trace, with which the HTML page compares this one
  const std::vector<HtmlTable>* tables = nullptr;  // of other programs, for the HTML page

  // Data that reports need in addition to the ticks; nullptr when no requested report needs it.
  template <class T>
  const T* find() const {
    for (const Subscriber* subscriber : counts)
      if (const T* found = dynamic_cast<const T*>(subscriber)) return found;
    return nullptr;
  }

  bool event_based() const { return records.event_based || file.info.tick == "event"; }
};

// Ticks below this are left out of the reports.
uint64_t clip_ticks(const Summary& summary);

// Hz, or 0 when the trace does not contain it.
uint64_t processor_speed(const Summary& summary);

// Mean distance of two ticks of a CPU in nanoseconds, or 0 when the trace does not contain it or
// its ticks are event-based.
uint64_t tick_distance(const Summary& summary);

// Of an event-based trace: the number of events per tick, 0 when the trace does not contain it, and
// their name.
uint64_t events_per_tick(const Summary& summary);
std::string event_name(const Summary& summary);

double percent(uint64_t part, uint64_t whole);
// The same as text: one decimal, in five columns. Only all ticks are shown as 100, and only no tick
// as 0.
std::string share_text(uint64_t part, uint64_t whole);

}  // namespace post

#endif  // POST_SUMMARY_H
