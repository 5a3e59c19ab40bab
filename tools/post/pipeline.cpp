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
  if (record.minor() != PITRACE_SYSTEM_TPROF || record.int_count() < 2) return;
  totals.event_based = record.int_at(0) == 1;
  if (record.int_at(0) == 0) totals.ticks_per_second = record.int_at(1);
  if (!totals.event_based) return;
  // The original wrote a number of 32 bits and a zero.
  const bool two_halves = record.int_count() >= 3 && record.int_at(2) != 0;
  totals.events_per_tick = two_halves ? record.long_at(1) : record.int_at(1);
}

void log_bad(const Stream& stream, DamageLog& damage) {
  damage.add(fmt::format("{}: the record at file offset {} (major {:x}, minor {:x}) makes no sense "
                         "and is ignored",
                         buffer_name(stream.key()), stream.file_offset(), stream.record().major(),
                         stream.record().minor()),
             stream.record().length());
}

void log_bad_stack(const Stream& stream, DamageLog& damage) {
  damage.add(fmt::format("{}: the stack in the record at file offset {} is longer than the record "
                         "and is ignored",
                         buffer_name(stream.key()), stream.file_offset()),
             0);
}

// Hands on a tick, and its stack.
void take_tick(const Stream& stream, const Consumers& consumers, DamageLog& damage, bool wanted) {
  const pi::RecordView& record = stream.record();
  pi::TprofTick tick;
  if (!pi::decode_tprof(record, tick)) [[unlikely]] {
    log_bad(stream, damage);
    return;
  }
  if (record.int_count() > 4 && !pi::stack_of_tprof(record).exists()) [[unlikely]]
    log_bad_stack(stream, damage);
  if (!wanted) return;
  if (consumers.ticks) consumers.ticks->add(tick, stream.cpu(), stream.time());
  if (consumers.calls) consumers.calls->add(tick, record, stream.cpu(), stream.time());
  if (consumers.micro) consumers.micro->add(tick, stream.time());
}

// Whether a dispatch is one, whoever wants it.
void check_dispatch(const Stream& stream, DamageLog& damage) {
  const pi::RecordView& record = stream.record();
  pi::Dispatch dispatch;
  pi::Wakeup wakeup;
  pi::Migration migration;
  if (pi::decode_dispatch(record, dispatch)) {
    if (record.int_count() > 2 && !pi::stack_of_dispatch(record).exists())
      log_bad_stack(stream, damage);
  } else if (!pi::decode_wakeup(record, wakeup) && !pi::decode_migration(record, migration)) {
    log_bad(stream, damage);
  }
}

// Of a record of ITrace.
bool makes_sense(const pi::RecordView& record) {
  pi::ItraceBranch branch;
  pi::ItraceCut cut;
  pi::ItraceGap gap;
  pi::ItraceThread thread;
  pi::ItraceStart start;
  pi::ItraceStop stop;
  return pi::decode_branch(record, branch) || pi::decode_cut(record, cut) ||
         pi::decode_gap(record, gap) || pi::decode_itrace_thread(record, thread) ||
         pi::decode_itrace_start(record, start) || pi::decode_itrace_stop(record, stop);
}

// Whether a record of ITrace is one, whoever wants it.
void take_itrace(const Stream& stream, const Consumers& consumers, DamageLog& damage, bool wanted) {
  if (consumers.arc ? consumers.arc->add(stream, wanted) : makes_sense(stream.record())) return;
  log_bad(stream, damage);
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

RecordTotals run_pipeline(ByteSource& source, const TraceFile& file, DamageLog& damage,
                          const Consumers& consumers, const Progress& progress) {
  if (consumers.processes) collect_fallback_names(source, file, *consumers.processes);
  RecordTotals totals;
  Merge merge(source, file, damage, Merge::Select::all);
  uint64_t bytes = 0;
  for (const StreamLayout& layout : file.streams) bytes += layout.size();
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
      take_tick(stream, consumers, damage,
                selection.takes_tick(number, totals.by_major[PITRACE_MAJOR_TPROF], record.minor()));
    } else if (pi::is_itrace(record)) {
      take_itrace(stream, consumers, damage, number >= selection.records.first);
    } else if (record.major() == PITRACE_MAJOR_MTE) {
      if (consumers.ticks) consumers.ticks->settle();
      if (consumers.processes && !consumers.processes->apply(record, stream.time()))
        log_bad(stream, damage);
      if (consumers.off_cpu) consumers.off_cpu->add_mte(record, stream.time());
    } else if (record.major() == PITRACE_MAJOR_SYSTEM) {
      take_startup(record, totals);
    } else if (record.major() == PITRACE_MAJOR_DISPATCH) {
      check_dispatch(stream, damage);
    }
    if (consumers.off_cpu && !stream.key().mte && number >= selection.records.first)
      consumers.off_cpu->add(stream);
    if (++totals.records % progress_records == 0 && progress &&
        !progress(totals.records,
                  static_cast<double>(merge.bytes_read()) / static_cast<double>(bytes)))
      return totals;
  }
  if (consumers.ticks) consumers.ticks->finish();
  if (consumers.arc) consumers.arc->finish();
  if (consumers.off_cpu) {
    for (const auto& stream : merge.streams()) consumers.off_cpu->finish(*stream);
    consumers.off_cpu->finish();
  }
  if (!totals.stopped) check_counts(file, merge, damage);
  for (const auto& stream : merge.streams()) totals.counted += stream->counted();
  for (const auto& stream : merge.streams())
    if (stream->gap_count() != 0)
      totals.gaps.push_back({stream->key(), stream->gap_count(), stream->lost(), stream->gaps()});
  return totals;
}

}  // namespace post
