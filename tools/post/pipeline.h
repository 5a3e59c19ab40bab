// SPDX-License-Identifier: MIT
// Pulls a trace's records by time and hands each to whom it concerns.
#ifndef POST_PIPELINE_H
#define POST_PIPELINE_H

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "arc.h"
#include "byte_source.h"
#include "call_tree.h"
#include "damage_log.h"
#include "micro.h"
#include "nrm2_reader.h"
#include "off_cpu.h"
#include "processes.h"
#include "report_show.h"
#include "selection.h"
#include "stream.h"
#include "tick_counter.h"

namespace post {

// Kinds of records beside ticks, MTE, start-up and time that reports count by name.
struct RecordKind {
  uint32_t major;
  const char* name;  // "system call"
  const char* key;   // "system_call"
};
std::span<const RecordKind> event_kinds();

struct RecordTotals {
  uint64_t records = 0;
  uint64_t counted = 0;  // of these, those that the writer counts as written
  std::array<uint64_t, PITRACE_MAJOR_MAX + 2> by_major{};
  // From the start-up records; 0 when they do not say.
  uint64_t cpu_mhz = 0;
  uint64_t ticks_per_second = 0;
  bool event_based = false;
  uint64_t events_per_tick = 0;

  uint64_t times() const {
    return by_major[PITRACE_MAJOR_TIME] + by_major[PITRACE_MAJOR_TIME_FAKE];
  }

  // Of kinds that are not counted by name.
  uint64_t others() const;

  // Streams that tell themselves where records were lost.
  struct StreamGaps {
    StreamKey key;
    uint64_t count = 0;
    uint64_t records = 0;
    std::vector<Gap> first;
  };
  std::vector<StreamGaps> gaps;
  bool stopped = false;  // as the selection said, before the end of the trace
};

struct Consumers {
  Processes* processes = nullptr;  // with ticks, or neither
  TickCounter* ticks = nullptr;
  ShowReport* show = nullptr;
  Selection selection = {};   // for all but processes, of which every record tells
  CallTree* calls = nullptr;  // these four only with processes
  OffCpu* off_cpu = nullptr;
  Micro* micro = nullptr;
  Arc* arc = nullptr;
};

// Called about every million records with the share of the bytes read, 0 to 1; false stops.
using Progress = std::function<bool(uint64_t records, double share)>;

// Damage goes to the log, and so do records whose contents make no sense.
RecordTotals run_pipeline(ByteSource& source, const TraceFile& file, DamageLog& damage,
                          const Consumers& consumers, const Progress& progress);

}  // namespace post

#endif  // POST_PIPELINE_H
