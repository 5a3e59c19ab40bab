// SPDX-License-Identifier: MIT
// Predicts the results of calls in the model's state: files, mappings, the trace and its settings.
#include <pitrace/user_hook.h>

#include "statefuzz_model.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

namespace statefuzz {

bool is_readable(const Call& call) {
  return call.pointer == Pointer::good || call.pointer == Pointer::edge ||
         call.pointer == Pointer::readonly;
}

bool is_writable(const Call& call) {
  return call.pointer == Pointer::good || call.pointer == Pointer::edge;
}

bool Model::may_trace(const Caller& by) const {
  return by.capable || (by.member && group == group_id);
}

Sees Model::sees(const Caller& by) const {
  if (paranoid <= 1 || may_trace(by)) return Sees::kernel;
  return paranoid == 2 ? Sees::user : Sees::cycles;
}

Expectation Model::predict_open(const Call& call, const Caller& by) const {
  if (call.command == 1) return 0;
  return may_trace(by) ? 0 : EACCES;
}

// The kernel checks the caller's right to count on CPUs.
bool Model::may_count(const Caller& by) const {
  return by.capable || paranoid <= 0;
}

// ---- mappings ----

bool Model::has_buffer(uint64_t kind, uint64_t cpu) const {
  if (kind >= PITRACE_BUFFERS_ALL || cpu >= 2 || !session.bytes[kind]) return false;
  return cpu == 0 ||
         (kind == PITRACE_BUFFER_STACKS ? session.copies_of_cpu1 : session.buffers_of_cpu1);
}

Expectation Model::predict_map(const Call& call, const Caller& by) const {
  const uint64_t offset = call.number[0], length = call.number[1];
  const auto protection = static_cast<int>(call.number[2]);
  const bool shared_map = call.number[3] & MAP_SHARED;
  if (!length) return EINVAL;
  if (offset & 4095) return EINVAL;
  if (!by.file) return EBADF;
  if (!by.file->readable) return EACCES;
  if (shared_map && (protection & PROT_WRITE) && !by.file->writable) return EACCES;
  const bool changes = protection & (PROT_WRITE | PROT_EXEC);
  const uint64_t pages = (length + 4095) / 4096;
  if (by.file->ptt) {
    if (by.file->memory != by.memory) return EPERM;
    if (offset || pages * 4096 > PITRACE_PTT_AREA_BYTES) return EINVAL;
    return changes ? EACCES : 0;
  }
  if (offset == PITRACE_MMAP_HOOK_PAGE) return changes ? EACCES : pages > 1 ? ENXIO : 0;
  if (session.owner != by.file) return EPERM;
  if (changes) return EACCES;
  const uint64_t kind = (offset >> 48) - 1, cpu = offset >> 32 & 0xffff;
  if (!has_buffer(kind, cpu) || static_cast<uint32_t>(offset)) return ENXIO;
  return pages * 4096 > PITRACE_HEAD_BYTES + 2 * session.bytes[kind] ? ENXIO : 0;
}

Expectation Model::predict_poll(int role, int handle, uint64_t& events, uint64_t& mask) const {
  const OpenFile* file = process[role].handle[handle];
  mask = POLLERR | POLLNVAL;
  events = 0;
  if (!file)
    events = POLLNVAL;
  else if (!file->ptt && session.owner != file)
    events = POLLERR;
  return 0;
}

// ---- the trace ----

Expectation Model::predict_hook(const Call& call) const {
  if (!session.owner) return ENXIO;
  if (!is_readable(call) && call.pointer != Pointer::split) return EFAULT;
  uint8_t bytes[PITRACE_MAX_RECORD] = {};
  std::memcpy(bytes, call.payload, payload_max);
  pitrace_record header;
  std::memcpy(&header, bytes, sizeof header);
  const uint32_t length = header.type_length & PITRACE_LENGTH_MASK;
  if (length > PITRACE_MAX_RECORD) return EMSGSIZE;
  if (length < sizeof header || !pitrace_hook_allowed(header.major, header.minor)) return EINVAL;
  const bool stored = session.state == PITRACE_TRACE_ON && !session.suspended &&
                      pitrace_hook_major_possible(header.major) && session.enabled[header.major];
  if (!stored) return 0;
  // The record is longer than its given bytes only if the pointer is split: see place().
  if (call.pointer == Pointer::split) return EFAULT;
  if (pitrace_check_hook(bytes, length)) return EINVAL;
  return {0, ENOBUFS};
}

Expectation Model::predict_settings(const Call& call, const Caller& by) const {
  const bool owns = session.owner == by.file;
  const bool on = session.state == PITRACE_TRACE_ON;
  switch (call.command) {
    case PITRACE_IOC_RATE: {
      const auto rate = argument<uint32_t>(call);
      if (rate < PITRACE_RATE_MIN || rate > PITRACE_RATE_MAX) return EINVAL;
      return !owns ? EPERM : on ? EBUSY : 0;
    }
    case PITRACE_IOC_ENABLE:
    case PITRACE_IOC_DISABLE:
      if (!owns) return EPERM;
      if (argument<uint32_t>(call) > PITRACE_MAJOR_TPROF_SET) return EINVAL;
      if (on && call.command == PITRACE_IOC_ENABLE && !session.suspended &&
          session.has_other_event && !may_count(by) && !session.enabled[PITRACE_MAJOR_TPROF]) {
        const auto major = argument<uint32_t>(call);
        if (major == 0 || major == PITRACE_MAJOR_TPROF || major == PITRACE_MAJOR_TPROF_SET)
          return EACCES;
      }
      return 0;
    case PITRACE_IOC_STACKS: {
      const auto stacks = argument<pitrace_stacks>(call);
      if (!owns) return EPERM;
      if (on) return EBUSY;
      return stacks.which > 3 || !stacks.depth || stacks.depth > PITRACE_STACK_DEPTH_MAX ? EINVAL
                                                                                         : 0;
    }
    case PITRACE_IOC_COPIES: {
      const auto copies = argument<pitrace_copies>(call);
      if (!owns) return EPERM;
      if (on) return EBUSY;
      if (copies.reserved) return EINVAL;
      if (!copies.bytes) return 0;
      if (copies.bytes % 8 || copies.bytes < PITRACE_COPY_BYTES_MIN ||
          copies.bytes > PITRACE_COPY_BYTES_MAX || copies.buffer_bytes >> 32)
        return EINVAL;
      const uint64_t rounded = (copies.buffer_bytes + 4095) & ~4095ull;
      return rounded < 4 * (copies.bytes + 160ull) ? EINVAL : 0;
    }
    case PITRACE_IOC_EVENT: {
      const auto event = argument<pitrace_event>(call);
      if (!owns) return EPERM;
      if (on) return EBUSY;
      if (event.type == PITRACE_EVENT_TIME) return 0;
      const uint32_t both = PITRACE_EVENT_NO_KERNEL | PITRACE_EVENT_NO_USER;
      if ((event.flags & ~(both | PITRACE_EVENT_RANDOM)) || (event.flags & both) == both)
        return EINVAL;
      if (!event.period || event.period >> 62) return EINVAL;
      uint64_t shortest = event.period;
      if (event.flags & PITRACE_EVENT_RANDOM) shortest -= shortest / 4;
      if (event.type == 1 && event.config <= 1 && shortest < 10000) return EINVAL;
      if (event.type != 1) return {ENOENT, EOPNOTSUPP};
      return may_count(by) ? 0 : EACCES;
    }
    default:
      return 0;
  }
}

Expectation Model::predict_session(const Call& call, const Caller& by) const {
  const bool owns = session.owner == by.file;
  const bool on = session.state == PITRACE_TRACE_ON;
  switch (call.command) {
    case PITRACE_IOC_INFO:
      return 0;
    case PITRACE_IOC_PROBE:
      return argument<uint32_t>(call) < probes ? 0 : ENOENT;
    case PITRACE_IOC_ON:
      if (!owns) return EPERM;
      if (on) return EALREADY;
      return session.has_other_event && session.enabled[PITRACE_MAJOR_TPROF] && !may_count(by)
                 ? EACCES
                 : 0;
    case PITRACE_IOC_OFF:
      return !owns ? EPERM : !on ? EALREADY : 0;
    case PITRACE_IOC_TERMINATE:
      return owns ? 0 : EPERM;
    case PITRACE_IOC_SUSPEND:
      return !owns ? EPERM : !on ? EINVAL : session.suspended ? EALREADY : 0;
    case PITRACE_IOC_RESUME:
      return !owns ? EPERM : !on ? EINVAL : !session.suspended ? EALREADY : 0;
    case PITRACE_IOC_DISCARD:
      if (!owns) return EPERM;
      if (!on) return EINVAL;
      if (session.mode == PITRACE_MODE_NORMAL) return {0, ENOSPC};
      return 0;
    case PITRACE_IOC_ALLOC: {
      const auto alloc = argument<pitrace_alloc>(call);
      const uint64_t limit = (1ull << 32) - PITRACE_HEAD_BYTES;
      if (alloc.mode > PITRACE_MODE_CONTINUOUS || (alloc.flags & ~PITRACE_ALLOC_ANON))
        return EINVAL;
      uint64_t bytes[2] = {alloc.trace_bytes, alloc.mte_bytes};
      for (uint64_t& each : bytes) {
        if (!each || each >= limit) return EINVAL;
        each = (each + 4095) & ~4095ull;
        if (each >= limit) return EINVAL;
      }
      if (alloc.mode == PITRACE_MODE_NORMAL
              ? alloc.section_bytes != 0
              : !alloc.section_bytes || alloc.section_bytes > bytes[0] / 2 ||
                    alloc.section_bytes > bytes[1] / 2)
        return EINVAL;
      if (session.owner) return EBUSY;
      if (bytes[0] + bytes[1] > 1ull << 31) return ENOMEM;
      return 0;
    }
    case PITRACE_IOC_CONSUMED: {
      const auto consumed = argument<pitrace_consumed>(call);
      if (!owns) return EPERM;
      if (consumed.kind >= PITRACE_BUFFERS_ALL) return EINVAL;
      if (consumed.cpu >= 2) return {ENXIO, EINVAL};
      if (!has_buffer(consumed.kind, consumed.cpu)) return ENXIO;
      if (consumed.kind != PITRACE_BUFFER_STACKS &&
          (session.mode == PITRACE_MODE_NORMAL ||
           (session.mode == PITRACE_MODE_WRAP && consumed.kind == PITRACE_BUFFER_TRACE)))
        return EINVAL;
      if (consumed.position >> 60) return EINVAL;
      return {0, EINVAL};
    }
    case PITRACE_IOC_AI_ON:
      return by.file->ai ? EALREADY : 0;
    case PITRACE_IOC_AI_OFF:
      return by.file->ai ? 0 : EINVAL;
    case PITRACE_IOC_AI_READ: {
      const auto cpu = argument<uint32_t>(call);
      if (!by.file->ai) return EINVAL;
      return cpu == 0 || (cpu == 1 && cpu1_online) ? 0 : ENXIO;
    }
    default:
      return predict_settings(call, by);
  }
}

// ---- ITrace ----

bool Model::is_enabled(pid_t pid) const {
  for (const Range& range : itrace.ranges)
    if (static_cast<uint32_t>(pid) >= range.first && static_cast<uint32_t>(pid) <= range.last)
      return true;
  return false;
}

Expectation Model::predict_enable(const pitrace_itrace_pids& pids, const Caller& by) const {
  const bool owns = session.owner == by.file;
  const auto self = static_cast<uint32_t>(process[by.role].pid);
  bool lasting = false;
  if (!by.own_thread && by.where != Where::same_memory) {
    // A child's own pid is not known.
    if (!owns) return EPERM;
  } else if (by.where == Where::same_memory || pids.first != self || pids.last != self) {
    if (!owns) return EPERM;
  }
  if (!(by.own_thread && pids.first == self && pids.last == self)) {
    lasting = by.capable;
    if (!by.capable && pids.first != pids.last) return EACCES;
    if (!by.capable) {
      const Process* target = nullptr;
      for (int role = 0; role < roles; ++role)
        if (process[role].alive && process[role].pid == static_cast<pid_t>(pids.first) &&
            role_table[static_cast<size_t>(role)].uid == by.euid)
          target = &process[role];
      // Nonexistent pids are far above all existing ones.
      if (!target) return pids.first > 1u << 22 ? ESRCH : EACCES;
    }
  }
  if (pids.first > pids.last) return EINVAL;
  if (!itrace.installed) return EINVAL;
  for (const Range& known : itrace.ranges)
    if (known.first == pids.first && known.last == pids.last && known.lasting == lasting) return 0;
  const size_t max_ranges = owns ? PITRACE_ITRACE_RANGES : PITRACE_ITRACE_RANGES_OTHERS;
  return itrace.ranges.size() >= max_ranges ? ENOSPC : 0;
}

Expectation Model::predict_itrace(const Call& call, const Caller& by) const {
  const bool owns = session.owner == by.file;
  switch (call.command) {
    case PITRACE_IOC_IT_INFO:
      return 0;
    case PITRACE_IOC_IT_INSTALL: {
      const auto wanted = argument<pitrace_itrace>(call);
      if (!owns) return EPERM;
      const bool continuous = wanted.flags & PITRACE_ITRACE_CONTINUOUS;
      if (continuous && session.mode != PITRACE_MODE_CONTINUOUS) return EINVAL;
      constexpr uint32_t known = 0x01 | 0x02 | 0x04 | 0x10 | 0x100 | 0x200 | 0x400 | 0x800;
      if ((wanted.flags & ~known) || (wanted.flags & 0x300) == 0x300) return EINVAL;
      if (wanted.threads > PITRACE_ITRACE_THREADS_MAX) return EINVAL;
      if (continuous != (wanted.reserve != 0)) return EINVAL;
      if (!(wanted.flags & PITRACE_ITRACE_NO_KERNEL) && !by.capable) return EACCES;
      return itrace.installed ? EBUSY : 0;
    }
    case PITRACE_IOC_IT_REMOVE:
      return !owns ? EPERM : itrace.installed ? 0 : EALREADY;
    case PITRACE_IOC_IT_DISABLE:
      return owns ? 0 : EPERM;
    case PITRACE_IOC_IT_ENABLE:
      return predict_enable(argument<pitrace_itrace_pids>(call), by);
    case PITRACE_IOC_IT_ON: {
      const auto what = argument<uint32_t>(call);
      if (what > PITRACE_ITRACE_SELF) return EINVAL;
      if (what == PITRACE_ITRACE_ALL && !owns) return EPERM;
      if (!itrace.installed || session.state != PITRACE_TRACE_ON) return EINVAL;
      if (what == PITRACE_ITRACE_ALL) return itrace.on ? EALREADY : 0;
      if (!by.own_thread) return {0, EINVAL, EALREADY, ENOSPC};
      if (!is_enabled(process[by.role].pid)) return EINVAL;
      const Maybe followed = process[by.role].thread[by.thread].followed;
      Expectation expected = followed == Maybe::yes ? EALREADY : 0;
      if (followed == Maybe::perhaps) expected.add(EALREADY);
      if (itrace.few_threads && followed != Maybe::yes) expected.add(ENOSPC);
      return expected;
    }
    case PITRACE_IOC_IT_OFF: {
      const auto what = argument<uint32_t>(call);
      if (what > PITRACE_ITRACE_SELF) return EINVAL;
      if (what == PITRACE_ITRACE_ALL)
        return !owns ? EPERM : !itrace.installed ? EINVAL : itrace.on ? 0 : EALREADY;
      if (!by.own_thread) return {0, EALREADY};
      switch (process[by.role].thread[by.thread].followed) {
        case Maybe::yes:
          return 0;
        case Maybe::no:
          return EALREADY;
        default:
          return {0, EALREADY};
      }
    }
    default:
      return ENOTTY;
  }
}

// ---- all ioctls ----

Expectation Model::predict_ioctl(const Call& call, const Caller& by) const {
  if (!by.file) return EBADF;
  const bool known = index_of_command(call.command) != index_of_command(0);
  const uint32_t number = _IOC_NR(call.command);
  const bool slot_command = call.command == PITRACE_PTT_IOC_ATTACH ||
                            call.command == PITRACE_PTT_IOC_DETACH ||
                            call.command == PITRACE_PTT_IOC_READ;
  if (!known) return ENOTTY;
  if (by.file->ptt)
    return slot_command || call.command == PITRACE_PTT_IOC_INFO ? predict_slot(call, by)
                                                                : Expectation(ENOTTY);
  if (slot_command) return ENOTTY;
  if (call.command == PITRACE_IOC_HOOK) return predict_hook(call);
  if (call.command == PITRACE_PTT_IOC_DUMP) return predict_dump(call);
  if ((_IOC_DIR(call.command) & _IOC_WRITE) && !is_readable(call)) return EFAULT;
  Expectation expected = number >= 0x50   ? predict_ptt(call, by)
                         : number >= 0x40 ? predict_itrace(call, by)
                                          : predict_session(call, by);
  // Copying the answer is the last step.
  if ((_IOC_DIR(call.command) & _IOC_READ) && !is_writable(call) && expected.exact() &&
      expected.only() == 0)
    return EFAULT;
  return expected;
}

Expectation Model::predict(const Call& call, int role, int thread) const {
  const Caller by = caller(call, role, thread);
  const Area& area = process[role].area[call.other % areas];
  switch (call.kind) {
    case Kind::ioctl:
      return predict_ioctl(call, by);
    case Kind::open:
      return predict_open(call, by);
    case Kind::close:
    case Kind::duplicate:
      return by.file ? 0 : EBADF;
    case Kind::map:
      return predict_map(call, by);
    case Kind::unmap:
      return area.file ? 0 : ENOENT;
    case Kind::protect:
      return call.number[0] & (PROT_WRITE | PROT_EXEC) ? Expectation(EACCES) : Expectation(0);
    case Kind::remap:
      if (call.number[0] > area.length) return {EFAULT, EINVAL};
      return 0;
    case Kind::advise: {
      const auto advice = static_cast<int>(call.number[0]);
      // The kernel refuses to dump special mappings, and to drop locked ones.
      if (advice == MADV_DODUMP) return EINVAL;
      // Children do not inherit them.
      if (advice == MADV_DOFORK) return EINVAL;
      if (advice == MADV_REMOVE || advice == MADV_FREE || advice == MADV_POPULATE_WRITE)
        return {EINVAL, EACCES, EFAULT, ENOSYS, EOPNOTSUPP};
      return 0;
    }
    case Kind::poke:
      return {EIO, EFAULT, EPERM};
    case Kind::look:
    case Kind::compare:
      return 0;
    case Kind::poll:
    case Kind::pause:
    case Kind::credentials:
      return 0;
    case Kind::send:
      return by.file ? Expectation{0, EAGAIN} : Expectation(EBADF);
    case Kind::receive:
      return mail[role].empty() ? EAGAIN : 0;
    case Kind::parameter:
      return by.capable ? 0 : EACCES;
  }
  return 0;
}

}  // namespace statefuzz
