// SPDX-License-Identifier: MIT
// Counts the records of each kind in a trace.
#include "record_totals.h"

namespace post {

std::span<const RecordKind> event_kinds() {
  static constexpr RecordKind kinds[] = {{PITRACE_MAJOR_DISPATCH, "dispatch", "dispatch"},
                                         {PITRACE_MAJOR_SWITCH, "switch", "switch"},
                                         {PITRACE_MAJOR_INTERRUPT, "interrupt", "interrupt"},
                                         {PITRACE_MAJOR_SYSCALL, "system call", "system_call"},
                                         {PITRACE_MAJOR_EXCEPTION, "exception", "exception"}};
  return kinds;
}

uint64_t RecordTotals::others() const {
  uint64_t named = by_major[PITRACE_MAJOR_TPROF] + by_major[PITRACE_MAJOR_MTE] +
                   by_major[PITRACE_MAJOR_SYSTEM] + times();
  for (const RecordKind& kind : event_kinds()) named += by_major[kind.major];
  return records - named;
}

}  // namespace post
