// SPDX-License-Identifier: MIT
// Reads a trace's records by time and passes each to the subscribers of its major.
#include "pipeline.h"

#include <fmt/format.h>
#include <pi/decode.h>
#include <pi/decode_itrace.h>

#include "read/losses.h"
#include "read/merge.h"
#include "read/stack_frames.h"

namespace post {
namespace {

constexpr uint64_t progress_records = 1 << 20;

void take_startup(const pi::RecordView& record, uint64_t time, RecordTotals& totals) {
  if (totals.epoch == 0) totals.epoch = epoch_in(record, time).value_or(0);
  if (record.minor() == PITRACE_SYSTEM_CLOCK && record.int_count() >= 1)
    totals.cpu_mhz = record.int_at(0);
  if (record.minor() != PITRACE_SYSTEM_TPROF || record.int_count() < 2) return;
  totals.event_based = record.int_at(0) == 1;
  if (record.int_at(0) == 0) totals.ticks_per_second = record.int_at(1);
  if (!totals.event_based) return;
  // Performance Inspector wrote a 32-bit number and a zero.
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

bool check_tick(const Stream& stream, pi::TprofTick& tick, DamageLog& damage) {
  const pi::RecordView& record = stream.record();
  if (!pi::decode_tprof(record, tick)) [[unlikely]]
    return false;
  if (record.int_count() > 4 && !pi::stack_of_tprof(record).exists()) [[unlikely]]
    log_bad_stack(stream, damage);
  return true;
}

bool check_dispatch(const Stream& stream, DamageLog& damage) {
  const pi::RecordView& record = stream.record();
  pi::Dispatch dispatch;
  pi::Wakeup wakeup;
  pi::Migration migration;
  pi::Running running;
  if (!pi::decode_dispatch(record, dispatch))
    return pi::decode_wakeup(record, wakeup) || pi::decode_migration(record, migration) ||
           pi::decode_running(record, running);
  if (record.int_count() > 2 && !pi::stack_of_dispatch(record).exists())
    log_bad_stack(stream, damage);
  return true;
}

bool check_itrace(const pi::RecordView& record) {
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

// Whether the record can be decoded, for majors whose records can be checked without any state.
// tick: the record, when it is one.
bool check_record(const Stream& stream, pi::TprofTick& tick, DamageLog& damage) {
  const pi::RecordView& record = stream.record();
  if (record.major() == PITRACE_MAJOR_TPROF) return check_tick(stream, tick, damage);
  if (record.major() == PITRACE_MAJOR_DISPATCH) return check_dispatch(stream, damage);
  // Only the recorder writes stacks, to streams of their own.
  if (record.major() == PITRACE_MAJOR_STACK) return stream.key().stacks;
  return !pi::is_itrace(record) || check_itrace(record);
}

// An interpreted method, instead of an address in the interpreter.
void use_own_name(pi::TprofTick& tick, const Arrival& arrival) {
  if (!tick.user || arrival.record().int_count() <= 4) return;
  pi::StackView stack = pi::stack_of_tprof(arrival.record());
  stack.join(arrival.user_frames);
  if (const uint64_t name = stack.own_name(); name != 0) tick.address = name;
}

// Passes the record to its subscribers.
void hand_on(const Arrival& arrival, bool valid, const Subscriptions& subscriptions,
             DamageLog& damage) {
  if (valid)
    for (Subscriber* subscriber : subscriptions.of_major(arrival.record().major()))
      valid = subscriber->take(arrival) && valid;
  for (Subscriber* subscriber : subscriptions.of_every_major())
    valid = subscriber->take(arrival) && valid;
  if (!valid) [[unlikely]]
    log_bad(arrival.stream, damage);
}

void finish(const Merge& merge, const Subscriptions& subscriptions) {
  for (Subscriber* subscriber : subscriptions.all()) {
    for (const auto& stream : merge.streams()) subscriber->end_stream(*stream);
    subscriber->end_trace();
  }
}

// All records that the writer counted must be in the file.
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

void collect_fallback_names(ByteSource& source, const TraceFile& file, Processes& processes) {
  processes.use_frame_names(file.frame_names);
  DamageLog ignored;  // every stream is read again
  Merge merge(source, file, ignored, Merge::Select::mte);
  pi::NameEntry name;
  pi::LinkEntry link;
  while (merge.next()) {
    const pi::RecordView& record = merge.current().record();
    if (record.major() != PITRACE_MAJOR_MTE) continue;
    if (record.minor() == PITRACE_MTE_NAME && pi::decode_name(record, name))
      processes.add_fallback_name(name.pid, name.name);
    else if (record.minor() == PITRACE_MTE_PARENT && record.int_count() >= 2 &&
             pi::decode_link(record, link))
      processes.add_first_parent(link.pid, link.flags == PITRACE_PARENT_EXISTING ? link.other : 0);
  }
}

RecordTotals run_pipeline(ByteSource& source, const TraceFile& file, DamageLog& damage,
                          const Selection& selection, const Subscriptions& subscriptions,
                          const Progress& progress) {
  RecordTotals totals;
  TickFilter* const filter = subscriptions.filter();
  Merge merge(source, file, damage, Merge::Select::all);
  uint64_t bytes = 0;
  for (const StreamLayout& layout : file.streams) bytes += layout.size();
  const bool by_record = selection.by_record();
  const uint64_t begin = selection.times.any() ? begin_of(source, file) : 0;
  pi::TprofTick tick;
  StackFrames stacks;
  while (merge.next()) {
    const Stream& stream = merge.current();
    const pi::RecordView& record = stream.record();
    const uint64_t number = totals.records + 1;
    if (number > selection.records.last) {
      totals.stopped = true;
      break;
    }
    const uint64_t of_major = ++totals.by_major[record.major()];
    bool valid = check_record(stream, tick, damage);
    if (record.major() == PITRACE_MAJOR_STACK) valid = valid && stacks.take(stream.cpu(), record);
    Arrival arrival{stream, nullptr, true, false, stacks.find(stream.cpu(), record)};
    if (by_record) [[unlikely]]
      arrival.in_range =
          number >= selection.records.first &&
          selection.takes_place(static_cast<int64_t>(stream.time() - begin), stream.cpu());
    if (record.major() == PITRACE_MAJOR_TPROF) {
      if (of_major == 1) totals.first_tick = stream.time();
      totals.last_tick = stream.time();
      if (valid) {
        use_own_name(tick, arrival);
        arrival.tick = &tick;
        arrival.tick_selected =
            !by_record ||
            (arrival.in_range && selection.takes_tick(number, of_major, record.minor()));
        if (filter && arrival.tick_selected)
          arrival.tick_selected = filter->takes(tick, stream.time());
      }
    } else if (record.major() == PITRACE_MAJOR_SYSTEM) {
      take_startup(record, stream.time(), totals);
    }
    hand_on(arrival, valid, subscriptions, damage);
    if (++totals.records % progress_records == 0 && progress &&
        !progress(totals.records,
                  static_cast<double>(merge.bytes_read()) / static_cast<double>(bytes)))
      return totals;
  }
  finish(merge, subscriptions);
  if (!totals.stopped) check_counts(file, merge, damage);
  for (const auto& stream : merge.streams()) totals.counted += stream->counted();
  for (const auto& stream : merge.streams())
    if (stream->gap_count() != 0)
      totals.gaps.push_back({stream->key(), stream->gap_count(), stream->lost(), stream->gaps()});
  return totals;
}

}  // namespace post
