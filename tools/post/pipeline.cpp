// SPDX-License-Identifier: MIT
// Pulls a trace's records by time and hands each to whom it concerns.
#include "pipeline.h"

#include <fmt/format.h>

#include "losses.h"
#include "merge.h"

namespace post {
namespace {

constexpr uint64_t progress_records = 1 << 20;

// A process can have ticks before the record that names it; that record's name is then used.
// Damage is not logged here, since every stream is read again.
void collect_fallback_names(ByteSource& source, const TraceFile& file, Processes& processes) {
  DamageLog ignored;
  Merge merge(source, file, ignored, Merge::Select::mte);
  pi::NameEntry name;
  while (merge.next()) {
    const pi::RecordView& record = merge.current().record();
    if (record.major() == PITRACE_MAJOR_MTE && record.minor() == PITRACE_MTE_NAME &&
        pi::decode_name(record, name))
      processes.add_fallback_name(name.pid, name.name);
  }
}

void take_startup(const pi::RecordView& record, RecordTotals& totals) {
  if (record.minor() == PITRACE_SYSTEM_CLOCK && record.int_count() >= 1)
    totals.cpu_mhz = record.int_at(0);
  if (record.minor() == PITRACE_SYSTEM_TPROF && record.int_count() >= 2 && record.int_at(0) == 0)
    totals.ticks_per_second = record.int_at(1);
}

void log_bad(const Stream& stream, DamageLog& damage) {
  damage.add(fmt::format("{}: the record at file offset {} (major {:x}, minor {:x}) makes no sense "
                         "and is ignored",
                         buffer_name(stream.key()), stream.file_offset(), stream.record().major(),
                         stream.record().minor()),
             stream.record().length());
}

// What the writer counted must be in the file.
void check_counts(const TraceFile& file, const Merge& merge, DamageLog& damage) {
  std::map<StreamKey, uint64_t> found;
  for (const auto& stream : merge.streams()) found[stream->key()] += stream->counted();
  for (const auto& [key, counts] : file.info.counts)
    if (found[key] != counts.kept())
      damage.add(fmt::format("{}: {} records should be in the file, {} are", buffer_name(key),
                             counts.kept(), found[key]),
                 0);
}

}  // namespace

RecordTotals run_pipeline(ByteSource& source, const TraceFile& file, DamageLog& damage,
                          const Consumers& consumers, const Progress& progress) {
  if (consumers.processes) collect_fallback_names(source, file, *consumers.processes);
  RecordTotals totals;
  Merge merge(source, file, damage, Merge::Select::all);
  uint64_t bytes = 0;
  for (const StreamLayout& layout : file.streams) bytes += layout.size();
  pi::TprofTick tick;
  const Selection& selection = consumers.selection;
  while (merge.next()) {
    const Stream& stream = merge.current();
    const pi::RecordView& record = stream.record();
    const uint64_t number = totals.records + 1;
    if (number > selection.records.last) {
      totals.stopped = true;
      break;
    }
    ++totals.by_major[record.major()];
    if (consumers.show && number >= selection.records.first) consumers.show->add(stream);
    if (record.major() == PITRACE_MAJOR_TPROF) {
      if (!pi::decode_tprof(record, tick)) [[unlikely]]
        log_bad(stream, damage);
      else if (consumers.ticks &&
               selection.takes_tick(number, totals.by_major[PITRACE_MAJOR_TPROF], record.minor()))
        consumers.ticks->add(tick, stream.cpu(), stream.time());
    } else if (record.major() == PITRACE_MAJOR_MTE) {
      if (consumers.ticks) consumers.ticks->settle();
      if (consumers.processes && !consumers.processes->apply(record, stream.time()))
        log_bad(stream, damage);
    } else if (record.major() == PITRACE_MAJOR_SYSTEM) {
      take_startup(record, totals);
    }
    if (++totals.records % progress_records == 0 && progress &&
        !progress(totals.records,
                  static_cast<double>(merge.bytes_read()) / static_cast<double>(bytes)))
      return totals;
  }
  if (consumers.ticks) consumers.ticks->finish();
  if (!totals.stopped) check_counts(file, merge, damage);
  for (const auto& stream : merge.streams()) totals.counted += stream->counted();
  for (const auto& stream : merge.streams())
    if (stream->gap_count() != 0)
      totals.gaps.push_back({stream->key(), stream->gap_count(), stream->lost(), stream->gaps()});
  return totals;
}

}  // namespace post
