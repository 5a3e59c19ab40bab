// SPDX-License-Identifier: MIT
// Converts the records of a recording of perf to trace records.
#include "recording.h"

#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <queue>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "perf/perf_copy.h"
#include "perfutil.h"
#include "proc/module_name.h"
#include "source/major_set.h"

namespace pi::perfutil {
namespace {

constexpr uint64_t ring_bytes = 256 << 10;
constexpr uint64_t section_bytes = 128 << 10;
constexpr uint32_t max_cpus = 8192;       // of a Linux kernel on x86
constexpr uint32_t kernel_default = 127;  // kernel.perf_event_max_stack
constexpr size_t max_family = 1 << 20;
// For the tables of one stack, each of which is compiled within less.
constexpr std::chrono::seconds patience{120};

uint16_t mode_of(Bytes record) {
  return number_at<perf_event_header>(record, 0).misc & PERF_RECORD_MISC_CPUMODE_MASK;
}

bool is_of_guest(Bytes record) {
  const uint16_t mode = mode_of(record);
  return mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER;
}

bool is_clock(const perf_event_attr& attr) {
  return attr.type == PERF_TYPE_SOFTWARE &&
         (attr.config == PERF_COUNT_SW_CPU_CLOCK || attr.config == PERF_COUNT_SW_TASK_CLOCK);
}

bool is_sampled(const RecordedEvent& event) {
  const perf_event_attr& attr = event.attr;
  const bool dummy = attr.type == PERF_TYPE_SOFTWARE && attr.config == PERF_COUNT_SW_DUMMY;
  return attr.sample_period != 0 && !dummy;
}

// Of a thread that ends, after the kernel has released its ids.
constexpr uint32_t no_id = 0xffffffff;

// Of samples with the stack of a thread that leaves its CPU; ticks have 0.
constexpr uint64_t switch_identifier = 1;

// The same event of different kinds of cores of one processor.
std::string_view without_core(std::string_view name) {
  for (const std::string_view core : {"cpu_core/", "cpu_atom/", "cpu_lowpower/"})
    if (name.starts_with(core)) return name.substr(core.size());
  return name;
}

// Whether the record of a fork is of a process, and not of a thread.
bool is_of_process(Bytes record) {
  return record.size() >= header_bytes + 8 &&
         number_at<uint32_t>(record, header_bytes) != number_at<uint32_t>(record, header_bytes + 4);
}

// PERF_CONTEXT_USER_DEFERRED, since 6.19: another record has the callers in user code.
bool is_deferred(Bytes chain) {
  constexpr auto mark = static_cast<uint64_t>(-640);
  for (size_t at = 0; at < chain.size(); at += field_bytes)
    if (number_at<uint64_t>(chain, at) == mark) return true;
  return false;
}

uint32_t frames_of(const perf_event_attr& attr) {
  return attr.sample_max_stack != 0 ? attr.sample_max_stack : kernel_default;
}

}  // namespace

// In the recording's pid namespaces nothing can be looked up: its processes ran elsewhere.
Recording::Recording(PerfFile& file, std::string wanted, size_t max_bytes, Take take,
                     RecordedCode* code)
    : file_(file),
      wanted_(std::move(wanted)),
      take_(std::move(take)),
      order_([this](uint64_t time, uint32_t cpu, uint32_t kind,
                    std::span<std::byte> record) { put(time, cpu, kind, record); },
             max_bytes),
      buffers_(ring_bytes, ring_bytes, PITRACE_MODE_CONTINUOUS, section_bytes),
      converter_(true, "/dev/null"),
      code_(code),
      unwinding_(StackUnwinding::Limits{.age = patience}) {
  converter_.set_enabled(majors_meant(PITRACE_MAJOR_TPROF_SET) |
                         majors_meant(PITRACE_MAJOR_DISPATCH));
  for (const RecordedEvent& event : file_.events.events())
    has_copies_ |= event.has(PERF_SAMPLE_STACK_USER);
  if (code_ == nullptr) return;
  unwinding_.set({code_->resolver(), PI_STACK_BYTES_MAX});
  unwinding_.set_depth(PITRACE_STACK_USER_DEPTH_MAX);
  unwinding_.begin();
}

// Of several streams the one is read on whose last record is the oldest.
Status Recording::convert(std::span<PerfStream* const> streams) {
  using Turn = std::pair<uint64_t, size_t>;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
  for (size_t i = 0; i < streams.size(); ++i) turns.emplace(0, i);
  has_rounds_ = streams.size() == 1;
  while (status_ && !turns.empty()) {
    const auto [time, number] = turns.top();
    turns.pop();
    PerfStream& stream = *streams[number];
    if (!stream.next()) continue;
    if (stream.type() == static_cast<uint32_t>(PerfUserRecord::tracing_data))
      file_.take_feature(static_cast<uint32_t>(PerfFeature::tracing_data), stream.attached());
    see(stream.record());
    turns.emplace(std::max(time, order_.take_last_added()), number);
  }
  if (chosen_.empty()) choose();
  order_.end();
  while (!held_.empty()) release_switch(held_.begin()->first, 0, 0);
  left_out_.out_of_order = order_.out_of_order();
  if (!sched_.has_switches() && !has_switch_records_) left_out_.sched_switch = sched_.unused();
  take_sections(true);
  return status_;
}

void Recording::fail(Error error) {
  if (status_) status_ = std::move(error);
}

// Counted as lost in the buffer of the first CPU, as the record does not say of which it is.
void Recording::damaged() {
  if (UserBuffer* trace = buffer(0, PITRACE_BUFFER_TRACE)) trace->count_lost_by_source(1);
}

void Recording::see(Bytes record) {
  const auto type = number_at<uint32_t>(record, 0);
  switch (type) {
    case PERF_RECORD_SAMPLE:
      return see_sample(record);
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
      return see_map(record);
    case PERF_RECORD_COMM:
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
      return see_other(record, of_side_band);
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
    case PERF_RECORD_THROTTLE:
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
      return see_other(record, of_ticks);
    default:
      return see_user_record(record);
  }
}

void Recording::see_user_record(Bytes record) {
  const auto type = number_at<uint32_t>(record, 0);
  if (!is_known_record(type)) return damaged();
  switch (static_cast<PerfUserRecord>(type)) {
    case PerfUserRecord::round_finished:
      if (has_rounds_) order_.end_round();
      return;
    case PerfUserRecord::thread_map:
      return file_.take_thread_map(record);
    case PerfUserRecord::attributes:
      return see_attributes(record);
    case PerfUserRecord::event_update:
      return see_update(record);
    case PerfUserRecord::build_id:
      return file_.take_build_id(record);
    case PerfUserRecord::feature:
      if (record.size() >= header_bytes + 8)
        file_.take_feature(static_cast<uint32_t>(std::min<uint64_t>(
                               number_at<uint64_t>(record, header_bytes), UINT32_MAX)),
                           record.subspan(header_bytes + 8));
      return;
    default:
      return;
  }
}

// In a recording that was written to a pipe: the attributes, then the ids.
void Recording::see_attributes(Bytes record) {
  if (!file_.piped || !chosen_.empty()) return;
  const Bytes content = record.subspan(header_bytes);
  const auto attr = EventTable::parse_attr(content);
  if (!attr) return damaged();
  constexpr size_t size_offset = offsetof(perf_event_attr, size);
  const auto size =
      std::max<size_t>(number_at<uint32_t>(content, size_offset), PERF_ATTR_SIZE_VER0);
  std::vector<uint64_t> ids;
  for (size_t at = size; at + sizeof(uint64_t) <= content.size(); at += sizeof(uint64_t))
    ids.push_back(number_at<uint64_t>(content, at));
  has_copies_ |= (attr->sample_type & PERF_SAMPLE_STACK_USER) != 0;
  if (!file_.events.add(*attr, ids)) fail({PU_ERROR_FILE, "has too many events."});
}

void Recording::see_update(Bytes record) {
  constexpr uint64_t is_name = 2;
  constexpr size_t id = header_bytes + 8, text = id + 8;
  if (record.size() < text || number_at<uint64_t>(record, header_bytes) != is_name) return;
  file_.events.set_name_of(number_at<uint64_t>(record, id), text_at(record, text));
}

std::vector<std::string> Recording::sampled_events() const {
  std::vector<std::string> names;
  for (const RecordedEvent& event : file_.events.events())
    if (is_sampled(event)) names.push_back(event.name);
  return names;
}

// Decides at the first sample: then all attributes are known.
void Recording::choose() {
  file_.events.complete();
  const auto& events = file_.events.events();
  chosen_.assign(events.size(), false);
  std::string_view first;
  for (size_t i = 0; i < events.size(); ++i) {
    if (!is_sampled(events[i])) continue;
    const std::string& name = events[i].name;
    if (wanted_.empty() && first.empty()) first = without_core(name);
    chosen_[i] = wanted_.empty() ? without_core(name) == first
                                 : ::fnmatch(wanted_.c_str(), name.c_str(), 0) == 0;
    if (chosen_[i]) describe_ticks(events[i]);
  }
  sched_.choose(file_);
  if (sched_.has_switches()) converter_.add_switch_stacks(switch_identifier);
  if (ticks_.stacks.which != 0) converter_.set_stacks(ticks_.stacks, ticks_.max_frames);
  converter_.set_unwound(unwinds());
}

// Several events can be chosen: their names are listed, and the rest is that of the first one.
void Recording::describe_ticks(const RecordedEvent& event) {
  const perf_event_attr& attr = event.attr;
  if (!ticks_.event.empty()) {
    constexpr size_t max_text = 1000;
    if (ticks_.event.size() < max_text) ticks_.event += ", " + event.name;
    return;
  }
  ticks_.event = event.name;
  ticks_.by_time = is_clock(attr);
  ticks_.by_frequency = attr.freq != 0;
  (ticks_.by_frequency ? ticks_.frequency : ticks_.period) = attr.sample_period;
  ticks_.cpus = event.has(PERF_SAMPLE_CPU);
  ticks_.copies = event.has(PERF_SAMPLE_STACK_USER);
  ticks_.branches = event.has(PERF_SAMPLE_BRANCH_STACK) &&
                    (attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK) != 0;
  if (event.has(PERF_SAMPLE_CALLCHAIN))
    ticks_.stacks.which = (attr.exclude_callchain_kernel != 0 ? 0 : PITRACE_STACKS_KERNEL) |
                          (attr.exclude_callchain_user != 0 ? 0 : PITRACE_STACKS_USER);
  ticks_.max_frames = frames_of(attr);
  ticks_.stacks.depth = std::min<uint32_t>(ticks_.max_frames, PITRACE_STACK_USER_DEPTH_MAX);
  if (!unwinds()) return;
  ticks_.stacks.which |= PITRACE_STACKS_USER;
  ticks_.stacks.depth = PITRACE_STACK_USER_DEPTH_MAX;
}

void Recording::count_period(uint64_t period) {
  ++ticks_.count;
  ticks_.least = std::min(ticks_.least, period);
  ticks_.most = std::max(ticks_.most, period);
  ticks_.events += static_cast<long double>(period);
}

void Recording::see_sample(Bytes record) {
  if (chosen_.empty()) choose();
  const RecordedEvent* event = file_.events.of_sample(record);
  if (event == nullptr) return damaged();
  const SchedRecords::Kind sched = sched_.kind(number_of(*event));
  if (!is_chosen(*event) && sched == SchedRecords::Kind::none) {
    ++left_out_.other_events[event->name];
    return;
  }
  const auto fields = fields_of_sample(record, *event);
  if (!fields) return damaged();
  if (is_of_guest(record)) {
    ++left_out_.of_guests;
    return;
  }
  if (fields->pid != 0 && !family_.contains(fields->pid)) others_ = true;
  if (is_chosen(*event)) {
    count_period(fields->period);
    left_out_.deferred += is_deferred(fields->chain);
    add_sample(record, *event, *fields);
  }
  if (sched != SchedRecords::Kind::none) see_sched(sched, record, *event, *fields);
}

void Recording::add_sample(Bytes record, const RecordedEvent& event, const RecordFields& fields) {
  const uint64_t mask = event.attr.sample_regs_user;
  if (unwinds() && NormalForm::can_be_unwound(fields.copy, mask))
    return order_.add(fields.time, fields.cpu, of_copies,
                      form_.sample_with_copy(record, fields, mask));
  // A thread of the kernel has no user registers.
  if (unwinds() && fields.copy.abi != PERF_SAMPLE_REGS_ABI_NONE) {
    ++left_out_.no_copies;
    return order_.add(fields.time, fields.cpu, of_ticks, form_.cut_sample(record, fields));
  }
  order_.add(fields.time, fields.cpu, of_ticks,
             form_.sample(record, fields, ticks_.stacks.which != 0));
}

// A switch comes after a sample with the stack of the thread that leaves.
void Recording::see_sched(SchedRecords::Kind kind, Bytes record, const RecordedEvent& event,
                          RecordFields fields) {
  const auto content = sched_.read(kind, fields);
  if (!content) return damaged();
  const bool is_switch = kind == SchedRecords::Kind::context_switch;
  if (is_switch && fields.tid != no_id && fields.tid != content->tid) sched_.refuse_namespace();
  if (!sched_.has_switches()) return;
  if (is_switch && ticks_.stacks.which != 0) {
    fields.identifier = switch_identifier;
    add_sample(record, event, fields);
  }
  order_.add(fields.time, fields.cpu, is_switch ? of_switches : of_wakeups,
             form_.own({content->tid, content->other, content->value, fields.pid}, fields));
}

void Recording::see_map(Bytes record) {
  constexpr std::string_view kernel_name = "[kernel.kallsyms]";
  const auto fields = fields_of_other(record, file_.events.of_other(record));
  if (!fields) return damaged();
  if (is_of_guest(record)) return;
  MapRecord map = NormalForm::content_of_map(record, *fields);
  // The kernel's text has no protection in the record with which perf also tells its build-id.
  if (map.path.empty() || (!map.executable && !map.of_kernel)) return;
  if (!map.build_id.empty())
    file_.add_build_id(map.of_kernel ? std::string(kernel_name) : map.path, map.build_id);
  if (!map.of_kernel && map.build_id.empty()) file_.add_mapped_file(map.path, map.inode);
  if (map.of_kernel) {
    // The name of the symbol whose address is in the record follows that of the kernel.
    if (kernel_.symbol.empty() && map.path.starts_with(kernel_name)) {
      kernel_.symbol = map.path.substr(kernel_name.size());
      kernel_.address = map.offset;
    }
    return;
  }
  order_.add(fields->time, fields->cpu, of_side_band, form_.map(record, *fields));
}

// Which processes descend from the first one that is named.
void Recording::see_process(Bytes record, const RecordFields& fields) {
  if (fields.body < header_bytes + 8) return;
  const auto pid = number_at<uint32_t>(record, header_bytes);
  const auto parent = number_at<uint32_t>(record, header_bytes + 4);
  const auto type = number_at<uint32_t>(record, 0);
  if (first_process_ == 0 && type == PERF_RECORD_COMM) {
    first_process_ = pid;
    family_.insert(pid);
  }
  if (type == PERF_RECORD_FORK && family_.contains(parent) && family_.size() < max_family)
    family_.insert(pid);
}

void Recording::see_other(Bytes record, Kind kind) {
  const auto header = number_at<perf_event_header>(record, 0);
  const RecordedEvent* event = file_.events.of_other(record);
  const auto fields = fields_of_other(record, event);
  if (!fields) return damaged();
  if (kind == of_side_band) see_process(record, *fields);
  const bool is_switch =
      header.type == PERF_RECORD_SWITCH || header.type == PERF_RECORD_SWITCH_CPU_WIDE;
  if (is_switch && chosen_.empty()) choose();
  if (is_switch && sched_.has_switches()) return;  // with less than the tracepoint's
  if (is_switch && (event == nullptr || !event->has(PERF_SAMPLE_CPU))) {
    ++left_out_.switches;
    return;
  }
  has_switch_records_ |= is_switch;
  const bool existed = header.type == PERF_RECORD_FORK &&
                       (header.misc & PERF_RECORD_MISC_FORK_EXEC) != 0 && is_of_process(record);
  order_.add(fields->time, fields->cpu, existed ? existing_process : kind,
             form_.other(record, *fields));
}

UserBuffer* Recording::buffer(uint32_t cpu, uint32_t kind) {
  if (cpu >= max_cpus) return nullptr;
  if (!buffers_.has(cpu))
    if (const Status added = buffers_.add_cpu(cpu); !added) {
      fail(added.error());
      return nullptr;
    }
  return &buffers_.at(cpu, kind);
}

// Of a process that ran before the recording, perf's record of a fork only names the parent.
void Recording::put_existing(uint64_t time, Bytes record, UserBuffer& mte) {
  if (record.size() < header_bytes + 8) return;
  const auto pid = number_at<uint32_t>(record, header_bytes);
  const auto parent = number_at<uint32_t>(record, header_bytes + 4);
  mte.put_ints(time, PITRACE_MAJOR_MTE, PITRACE_MTE_PARENT, {pid, parent, PITRACE_PARENT_EXISTING});
}

// As samples come in the order of time, each waits for the tables that it needs.
void Recording::put_copy(uint64_t time, Bytes record, UserBuffer& trace) {
  unwinding_.hold(0, held_record(time, record, PerfConverter::chain_offset));
  unwinding_.finish(time, [&](uint32_t, HeldStack& held, const ResolvedStack* resolved) {
    if (resolved) replace_frames(held, PerfConverter::chain_offset, *resolved);
    converter_.convert_tick(held.record, trace);
  });
}

// Which process a thread belongs to: all three begin with its process.
void Recording::note_process(Bytes record) {
  const auto type = number_at<uint32_t>(record, 0);
  const bool ends = type == PERF_RECORD_EXIT, begins = type == PERF_RECORD_FORK;
  const size_t tid = header_bytes + (begins || ends ? 8 : 4);
  if ((begins || ends || type == PERF_RECORD_COMM) && record.size() >= tid + 4)
    sched_.set_process(number_at<uint32_t>(record, tid), number_at<uint32_t>(record, header_bytes));
}

// Writes the switch that is held for this CPU. pid, tid: of the thread that runs there now.
void Recording::release_switch(uint32_t cpu, uint32_t pid, uint32_t tid) {
  const auto place = held_.find(cpu);
  if (place == held_.end()) return;
  auto [change, trace] = place->second;
  held_.erase(place);
  if (tid == change.next_tid && pid != no_id) sched_.set_process(tid, pid);
  // Of a thread that no other record names: most are the first one of their process.
  change.next_pid = sched_.process_of(change.next_tid).value_or(change.next_tid);
  converter_.put_switch(change, *trace);
}

void Recording::put_sched(uint64_t time, uint32_t cpu, uint32_t kind, Bytes record,
                          UserBuffer& trace) {
  const auto number = [&](size_t at) { return number_at<uint32_t>(record, header_bytes + 4 * at); };
  const uint32_t tid = number(0), other = number(1), value = number(2), pid = number(3);
  release_switch(cpu, pid, kind == of_wakeups ? other : tid);
  if (!sched_.has_switches()) return;
  if (kind == of_wakeups)
    return trace.put_ints(time, PITRACE_MAJOR_DISPATCH, PITRACE_DISPATCH_WAKEUP,
                          {tid, other, value});
  if (pid != no_id) sched_.set_process(tid, pid);
  const auto next = sched_.process_of(other);
  held_.insert({cpu, {{time, sched_.process_of(tid).value_or(tid), tid, 0, other, value}, &trace}});
  if (next) release_switch(cpu, *next, other);
}

void Recording::tell_code(uint64_t time, Bytes record) {
  std::string path;
  auto change = PerfConverter::process_change(record, path);
  const auto end = threads_.see(record);
  if (end || (change && change->kind == PI_PROCESS_ENDED)) change = end;
  if (!change) return;
  change->time = time;
  change->path = path.c_str();
  if (change->kind == PI_PROCESS_MAPPED) {
    const auto known = file_.build_ids.find(path);
    const bool is_vdso = classify_module(path).stamp == PITRACE_STAMP_VDSO;
    code_->add({path, known != file_.build_ids.end() ? known->second : "",
                file_.is_of_this_host(is_vdso)});
  }
  unwinding_.change(*change);
}

// A record that has no time, or is out of order, gets one here.
void Recording::put(uint64_t time, uint32_t cpu, uint32_t kind, std::span<std::byte> record) {
  if (!status_) return;
  UserBuffer* place = buffer(cpu, kind < of_side_band ? PITRACE_BUFFER_TRACE : PITRACE_BUFFER_MTE);
  if (place == nullptr) return damaged();
  if (start_time_ == 0) start_time_ = time;
  NormalForm::set_time(record, time);
  if (kind >= of_side_band) note_process(record);
  if (kind == of_side_band && code_ != nullptr && has_copies_) tell_code(time, record);
  if (kind == of_ticks || kind == of_copies) {
    const auto [pid, tid] = NormalForm::thread_of_sample(record);
    release_switch(cpu, pid, tid);
    if (PerfConverter::lost_in(record) != 0) converter_.forget_running(*place);
  }
  if (kind == of_ticks)
    converter_.convert_tick(record, *place);
  else if (kind == of_copies)
    put_copy(time, record, *place);
  else if (kind == of_switches || kind == of_wakeups)
    put_sched(time, cpu, kind, record, *place);
  else if (kind == of_side_band)
    converter_.convert_side_band(record, *place);
  else
    put_existing(time, record, *place);
  take_sections(false);
}

void Recording::take_sections(bool all) {
  if (!all && !buffers_.take_section_ready()) return;
  for (const BufferView& view : buffers_.unread()) {
    if (!status_) return;
    if (view.records.empty() || (!all && view.records.size() < section_bytes)) continue;
    if (const int error = take_(view); error != 0) return fail({error, {}});
    buffers_.at(view.cpu, view.kind).consume(view.position + view.records.size());
  }
}

}  // namespace pi::perfutil
