// SPDX-License-Identifier: MIT
// Turns perf's records into trace records.
#include "perf_convert.h"

#include <linux/perf_event.h>
#include <sys/mman.h>

#include <cstring>
#include <utility>

#include "proc/cgroup.h"
#include "proc/module_name.h"

namespace pi::perfutil {
namespace {

constexpr size_t header_bytes = sizeof(perf_event_header);

// The fields that sample_id_all puts at the end of a record: pid and tid, time, cpu, identifier.
struct SampleId {
  uint32_t pid, tid;
  uint64_t time;
  uint32_t cpu, reserved;
  uint64_t identifier;
};

// A field of the record. The caller must have checked the record's size.
template <class T>
T field(std::span<const std::byte> record, size_t offset) {
  T value;
  std::memcpy(&value, record.data() + offset, sizeof value);
  return value;
}

perf_event_header header_of(std::span<const std::byte> record) {
  return field<perf_event_header>(record, 0);
}

SampleId sample_id_of(std::span<const std::byte> record) {
  return field<SampleId>(record, record.size() - sizeof(SampleId));
}

uint64_t time_of(std::span<const std::byte> record) {
  return sample_id_of(record).time;
}

// Whether the record has these fixed bytes after the header, and a sample id after them.
bool has_room(std::span<const std::byte> record, size_t fixed) {
  return record.size() >= header_bytes + fixed + sizeof(SampleId);
}

// The text between offset and the sample id, up to its first zero.
std::string_view text_at(std::span<const std::byte> record, size_t offset) {
  const auto* text = reinterpret_cast<const char*>(record.data()) + offset;
  return {text, ::strnlen(text, record.size() - sizeof(SampleId) - offset)};
}

namespace tick {  // a sample of tick_sample_type; with stacks the number of entries and these
                  // follow
constexpr size_t identifier = header_bytes, ip = identifier + 8, pid = ip + 8, tid = pid + 4,
                 time = tid + 4, size = time + 16, chain = size;
}
// The id of a task whose ids the kernel has released: see perf_event_pid_type() there.
constexpr uint32_t no_id = 0xffffffff;

namespace cpu_switch {  // PERF_RECORD_SWITCH_CPU_WIDE; PERF_RECORD_SWITCH has nothing of its own
constexpr size_t other_pid = header_bytes, other_tid = other_pid + 4, fixed = 8;
}
namespace map {  // PERF_RECORD_MMAP2
constexpr size_t pid = header_bytes, address = pid + 8, length = address + 8,
                 page_offset = length + 8, device_major = page_offset + 8,
                 device_minor = device_major + 4, inode = page_offset + 16, protection = inode + 16,
                 name = protection + 8;
}  // namespace map
namespace task {  // PERF_RECORD_FORK, _EXIT; PERF_RECORD_COMM starts with pid and tid
constexpr size_t pid = header_bytes, parent = pid + 4, tid = parent + 4, parent_tid = tid + 4,
                 fixed = 24;
constexpr size_t comm_tid = pid + 4, comm_name = comm_tid + 4;
}  // namespace task
namespace spaces {  // PERF_RECORD_NAMESPACES: pid, tid, number, then device and inode of each
constexpr size_t pid = header_bytes, tid = pid + 4, number = tid + 4, links = number + 8,
                 link_bytes = 16;
}

// In a 32-bit program everything is below this; in a 64-bit program the vdso is above.
constexpr uint64_t end_of_32_bits = uint64_t{1} << 32;

}  // namespace

void PerfConverter::reset() {
  lost_in_last_ = 0;
  throttled_ = 0;
  pending_names_.clear();
  switch_outs_.clear();
  switch_stacks_.clear();
}

uint64_t PerfConverter::lost_in(std::span<const std::byte> record) {
  const uint32_t type = header_of(record).type;
  if (type != PERF_RECORD_LOST && type != PERF_RECORD_LOST_SAMPLES) return 0;
  // LOST has an id before the number.
  const size_t offset = header_bytes + (type == PERF_RECORD_LOST ? 8 : 0);
  return record.size() < offset + 8 ? 0 : field<uint64_t>(record, offset);
}

void PerfConverter::count_lost(std::span<const std::byte> record, UserBuffer& buffer) {
  lost_in_last_ = lost_in(record);
  buffer.count_lost_by_source(lost_in_last_);
}

void PerfConverter::convert_tick(std::span<const std::byte> record, UserBuffer& trace) {
  lost_in_last_ = 0;
  switch (header_of(record).type) {
    case PERF_RECORD_SAMPLE:
      if (!sample(record, trace)) trace.count_lost_by_source(1);
      break;
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
      if (!context_switch(record, trace)) trace.count_lost_by_source(1);
      break;
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
      count_lost(record, trace);
      break;
    case PERF_RECORD_THROTTLE:
      ++throttled_;
      break;
    default:
      break;
  }
}

uint64_t PerfConverter::tick_time(std::span<const std::byte> record) {
  const uint32_t type = header_of(record).type;
  if (type == PERF_RECORD_SAMPLE)
    return record.size() >= tick::size ? field<uint64_t>(record, tick::time) : 0;
  const bool is_switch = type == PERF_RECORD_SWITCH || type == PERF_RECORD_SWITCH_CPU_WIDE;
  return is_switch && has_room(record, 0) ? time_of(record) : 0;
}

void PerfConverter::convert_side_band(std::span<const std::byte> record, UserBuffer& mte) {
  lost_in_last_ = 0;
  const uint32_t type = header_of(record).type;
  if (type == PERF_RECORD_LOST || type == PERF_RECORD_LOST_SAMPLES) return count_lost(record, mte);
  if (!enabled_.test(PITRACE_MAJOR_MTE)) return;
  bool whole = true;
  if (type == PERF_RECORD_MMAP2) whole = mmap2(record, mte);
  if (type == PERF_RECORD_COMM) whole = comm(record, mte);
  if (type == PERF_RECORD_FORK) whole = fork(record, mte);
  if (type == PERF_RECORD_EXIT) whole = exit(record, mte);
  if (type == PERF_RECORD_NAMESPACES) whole = namespaces(record, mte);
  if (!whole) mte.count_lost_by_source(1);
}

const size_t PerfConverter::chain_offset = tick::chain;

bool PerfConverter::is_sample(std::span<const std::byte> record) {
  return header_of(record).type == PERF_RECORD_SAMPLE && record.size() >= tick::size;
}

UnwoundTail PerfConverter::tail_of(std::span<const std::byte> record,
                                   std::span<const std::byte> chain) const {
  const size_t end = tick::chain + sizeof(uint64_t) + chain.size();
  if (!unwound_ || record.size() < end + sizeof(UnwoundTail)) return {};
  return field<UnwoundTail>(record, end);
}

bool PerfConverter::sample(std::span<const std::byte> record, UserBuffer& trace) {
  if (record.size() < tick::size) return false;
  const auto chain = PerfStack::entries_of(record.subspan(tick::chain), stacks_.which != 0);
  if (!chain) return false;
  const auto tid = field<uint32_t>(record, tick::tid);
  if (switch_stacks_.count(field<uint64_t>(record, tick::identifier)) != 0) {
    SwitchOut& last = switch_outs_[&trace];
    last.known = true;
    last.tid = tid;
    last.stack.read(*chain, stacks_, max_frames_, PerfStack::Leaf::kept, tail_of(record, *chain));
    return true;
  }
  if (!enabled_.test(PITRACE_MAJOR_TPROF)) return true;
  const auto mode = header_of(record).misc & PERF_RECORD_MISC_CPUMODE_MASK;
  const bool user = mode == PERF_RECORD_MISC_USER;
  stack_.read(*chain, stacks_, max_frames_,
              user ? PerfStack::Leaf::in_user : PerfStack::Leaf::in_kernel,
              tail_of(record, *chain));
  trace.put_tprof(field<uint64_t>(record, tick::time), user, field<uint32_t>(record, tick::pid),
                  tid, field<uint64_t>(record, tick::ip), stack_.stack());
  return true;
}

// perf reports each switch as switch-out and switch-in. In the system scope both records name both
// threads, and the switch-out whether prev was preempted; the switch-in is used where the
// switch-out is missing (seen on 6.18 when the idle task is prev). In the process scope each record
// names its own thread only: the idle task stands for all other threads. A thread that is preempted
// after the kernel has released its ids has no_id: the switch to it is counted as lost.
bool PerfConverter::context_switch(std::span<const std::byte> record, UserBuffer& trace) {
  const auto header = header_of(record);
  const bool whole_cpu = header.type == PERF_RECORD_SWITCH_CPU_WIDE;
  const bool switched_out = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
  if (!has_room(record, whole_cpu ? cpu_switch::fixed : 0)) return false;
  if (!enabled_.test(PITRACE_MAJOR_DISPATCH)) return true;
  const SampleId id = sample_id_of(record);
  SwitchOut& last = switch_outs_[&trace];
  const auto other = whole_cpu ? field<uint32_t>(record, cpu_switch::other_tid) : 0;
  if (!switched_out) {
    const bool reported = whole_cpu && last.runs == id.tid;
    // Process scope: a thread has ended on this CPU, for which there is no record.
    const bool after_thread =
        whole_cpu ? other != 0 : last.runs != 0 && last.runs != SwitchOut::unknown;
    last.known = false;
    last.runs = id.tid;
    if (reported) return true;
    if (id.tid == no_id)
      trace.count_lost_by_source(1);
    else
      trace.put_dispatch(id.time, id.pid, id.tid,
                         after_thread ? PITRACE_STATE_OTHER : PITRACE_STATE_RUNNABLE);
    return true;
  }
  uint32_t state = PITRACE_STATE_BLOCKED;
  if ((header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0)
    state = PITRACE_STATE_RUNNABLE | PITRACE_STATE_PREEMPTED;
  if (id.tid == 0) state = PITRACE_STATE_RUNNABLE;  // the idle task is always runnable
  const bool has_stack = std::exchange(last.known, false) && last.tid == id.tid;
  last.runs = other;
  if (other == no_id) {
    trace.count_lost_by_source(1);
    return true;
  }
  trace.put_dispatch(id.time, whole_cpu ? field<uint32_t>(record, cpu_switch::other_pid) : 0, other,
                     state, has_stack ? last.stack.stack() : Stack{});
  return true;
}

void PerfConverter::put_switch(const Switch& change, UserBuffer& trace) {
  SwitchOut& last = switch_outs_[&trace];
  if (last.runs != change.prev_tid)
    trace.put_ints(change.time, PITRACE_MAJOR_DISPATCH, PITRACE_DISPATCH_RUNS,
                   {change.prev_pid, change.prev_tid});
  last.runs = change.next_tid;
  const bool has_stack = std::exchange(last.known, false) && last.tid == change.prev_tid;
  trace.put_dispatch(change.time, change.next_pid, change.next_tid, change.state,
                     has_stack ? last.stack.stack() : Stack{});
}

bool PerfConverter::mmap2(std::span<const std::byte> record, UserBuffer& mte) {
  if (!has_room(record, map::name - header_bytes)) return false;
  if ((field<uint32_t>(record, map::protection) & PROT_EXEC) == 0) return true;
  const ModuleName module = classify_module(text_at(record, map::name));
  if (module.stamp == PITRACE_STAMP_VDSO) put_word_size(record, mte);
  if (module.stamp == PITRACE_STAMP_ANON && !anonymous_) return true;

  pitrace_module entry{};
  entry.pid = field<uint32_t>(record, map::pid);
  entry.stamp = module.stamp;
  entry.address = field<uint64_t>(record, map::address);
  entry.size = field<uint64_t>(record, map::length);
  entry.offset = module.stamp == 0 ? field<uint64_t>(record, map::page_offset) : 0;
  // PERF_RECORD_MISC_MMAP_BUILD_ID is ignored: we do not ask for build-ids, see perf_events.cpp.
  entry.inode = field<uint64_t>(record, map::inode);
  mte.put_module(time_of(record), entry, module.name);
  return true;
}

// The record of an exec has the name, but not the program's word size. The address of the vdso
// shows it, which the kernel maps at the end of the exec.
void PerfConverter::put_word_size(std::span<const std::byte> record, UserBuffer& mte) {
  const auto pid = field<uint32_t>(record, map::pid);
  const auto pending = pending_names_.find(pid);
  if (pending == pending_names_.end()) return;
  if (field<uint64_t>(record, map::address) < end_of_32_bits)
    mte.put_name(time_of(record), PITRACE_MTE_NAME, {pid, PITRACE_NAME_32}, pending->second);
  pending_names_.erase(pending);
}

bool PerfConverter::comm(std::span<const std::byte> record, UserBuffer& mte) {
  if (!has_room(record, task::comm_name - header_bytes)) return false;
  const auto pid = field<uint32_t>(record, task::pid);
  const auto tid = field<uint32_t>(record, task::comm_tid);
  const uint64_t time = time_of(record);
  const std::string_view name = text_at(record, task::comm_name);
  if (header_of(record).misc & PERF_RECORD_MISC_COMM_EXEC) {
    mte.put_ints(time, PITRACE_MAJOR_MTE, PITRACE_MTE_CREATE, {pid});
    pending_names_.insert_or_assign(pid, std::string(name));
  }
  if (pid == tid)
    mte.put_name(time, PITRACE_MTE_NAME, {pid, PITRACE_NAME_64}, name);
  else
    mte.put_name(time, PITRACE_MTE_THREAD_NAME, {pid, tid}, name);
  // What starts a service moves itself into its group before the exec.
  if (header_of(record).misc & PERF_RECORD_MISC_COMM_EXEC)
    if (const auto cgroup = read_cgroup(proc_, pid))
      mte.put_name(time, PITRACE_MTE_CGROUP, {pid, cgroup->hierarchy}, cgroup->path);
  return true;
}

bool PerfConverter::fork(std::span<const std::byte> record, UserBuffer& mte) {
  if (!has_room(record, task::fixed)) return false;
  const auto pid = field<uint32_t>(record, task::pid);
  const auto parent = field<uint32_t>(record, task::parent);
  if (pid != parent)
    mte.put_ints(time_of(record), PITRACE_MAJOR_MTE, PITRACE_MTE_PARENT,
                 {pid, parent, PITRACE_PARENT_FORK, field<uint32_t>(record, task::parent_tid)});
  else
    mte.put_ints(
        time_of(record), PITRACE_MAJOR_MTE, PITRACE_MTE_CREATE_THREAD,
        {pid, field<uint32_t>(record, task::tid), field<uint32_t>(record, task::parent_tid)});
  return true;
}

// Comes after the record of a fork. NSpid and NStgid can be read only while the task lives; of one
// that has ended already only the namespace is known.
bool PerfConverter::namespaces(std::span<const std::byte> record, UserBuffer& mte) {
  if (!has_room(record, spaces::links - header_bytes)) return false;
  const auto number = field<uint64_t>(record, spaces::number);
  if (number <= PID_NS_INDEX) return true;
  if (!has_room(record, spaces::links + (PID_NS_INDEX + 1) * spaces::link_bytes - header_bytes))
    return false;
  const auto space = field<uint64_t>(record, spaces::links + PID_NS_INDEX * spaces::link_bytes + 8);
  if (space == namespace_ids_.own_namespace()) return true;
  const auto pid = field<uint32_t>(record, spaces::pid);
  const auto tid = field<uint32_t>(record, spaces::tid);
  const auto inside = namespace_ids_.find(pid, tid).value_or(NamespaceIds{});
  mte.put_ints(time_of(record), PITRACE_MAJOR_MTE, PITRACE_MTE_NAMESPACE_IDS,
               {pid, tid, inside.pid, inside.tid, static_cast<uint32_t>(space)});
  return true;
}

bool PerfConverter::exit(std::span<const std::byte> record, UserBuffer& mte) {
  if (!has_room(record, task::fixed)) return false;
  const auto pid = field<uint32_t>(record, task::pid);
  const auto tid = field<uint32_t>(record, task::tid);
  mte.put_ints(time_of(record), PITRACE_MAJOR_MTE, PITRACE_MTE_KILL_THREAD, {pid, tid});
  if (pid == tid) pending_names_.erase(pid);
  if (pid == tid) mte.put_ints(time_of(record), PITRACE_MAJOR_MTE, PITRACE_MTE_KILL, {pid});
  return true;
}

std::optional<pi_process_change> PerfConverter::process_change(std::span<const std::byte> record,
                                                               std::string& path) {
  const perf_event_header header = header_of(record);
  pi_process_change change{};
  if (header.type == PERF_RECORD_MMAP2 && has_room(record, map::name - header_bytes) &&
      (field<uint32_t>(record, map::protection) & PROT_EXEC) != 0) {
    change.kind = PI_PROCESS_MAPPED;
    change.pid = field<uint32_t>(record, map::pid);
    change.address = field<uint64_t>(record, map::address);
    change.bytes = field<uint64_t>(record, map::length);
    change.offset = field<uint64_t>(record, map::page_offset);
    change.inode = field<uint64_t>(record, map::inode);
    change.device_major = field<uint32_t>(record, map::device_major);
    change.device_minor = field<uint32_t>(record, map::device_minor);
    path = text_at(record, map::name);
  } else if (header.type == PERF_RECORD_COMM && (header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0 &&
             has_room(record, task::comm_name - header_bytes)) {
    change.kind = PI_PROCESS_EXECUTED;
    change.pid = field<uint32_t>(record, task::pid);
  } else if ((header.type == PERF_RECORD_FORK || header.type == PERF_RECORD_EXIT) &&
             has_room(record, task::fixed)) {
    const bool ends = header.type == PERF_RECORD_EXIT;
    change.kind = ends ? PI_PROCESS_ENDED : PI_PROCESS_FORKED;
    change.pid = field<uint32_t>(record, task::pid);
    change.parent = field<uint32_t>(record, task::parent);
    const uint32_t tid = field<uint32_t>(record, task::tid);
    if (ends ? change.pid != tid : change.pid == change.parent) return std::nullopt;
  } else {
    return std::nullopt;
  }
  change.time = time_of(record);
  return change;
}

}  // namespace pi::perfutil
