// SPDX-License-Identifier: MIT
// Predicts results and answers of calls to PTT, and the content of answers and mappings.
#include <pitrace/user_hook.h>

#include "statefuzz_model.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace statefuzz {

uint32_t Model::shown(Sees level) const {
  uint32_t bits = 0;
  for (uint32_t i = 0; i < ptt.setup.metrics; ++i) {
    const pitrace_ptt_metric& metric = ptt.setup.metric[i];
    if (metric.kind == PITRACE_PTT_CYCLES || level == Sees::kernel ||
        (level == Sees::user && (metric.flags & PITRACE_PTT_NO_KERNEL)))
      bits |= 1u << i;
  }
  return bits;
}

uint32_t Model::pages_of(uint32_t uid) const {
  uint32_t pages = 0;
  for (const OpenFile& file : files_)
    if (file.ptt && file.uid == uid) pages += file.pages;
  return pages;
}

Expectation Model::predict_init(const pitrace_ptt_init& init, const Caller& by) const {
  if (!init.metrics || init.metrics > PITRACE_PTT_METRICS || init.flags > 3 ||
      init.threads < PITRACE_PTT_THREADS_MIN || init.threads > PITRACE_PTT_THREADS_MAX ||
      !init.pids || init.pids > 4u << 20)
    return EINVAL;
  uint32_t cycles = 0;
  bool countable = true;
  for (uint32_t i = 0; i < init.metrics; ++i) {
    const pitrace_ptt_metric& metric = init.metric[i];
    if (!std::memchr(metric.name, 0, sizeof metric.name)) return EINVAL;
    if (metric.kind > PITRACE_PTT_COUNTER || metric.flags >= 3) return EINVAL;
    if (metric.kind == PITRACE_PTT_CYCLES) {
      if (metric.flags) return EINVAL;
      ++cycles;
    } else if (metric.type != 1) {
      countable = false;
    }
  }
  if (cycles > 1) return EINVAL;
  if (ptt.active && !(init.flags & PITRACE_PTT_FORCE)) return EBUSY;
  const bool counts = cycles < init.metrics;
  Expectation expected = !countable                 ? Expectation{ENOENT, EOPNOTSUPP}
                         : counts && !may_count(by) ? EACCES
                                                    : 0;
  if (!countable && !may_count(by)) expected.add(EACCES);
  return expected;
}

Expectation Model::predict_ptt(const Call& call, const Caller& by) const {
  switch (call.command) {
    case PITRACE_PTT_IOC_INIT:
      return predict_init(argument<pitrace_ptt_init>(call), by);
    case PITRACE_PTT_IOC_TERM:
      return ptt.active ? 0 : EALREADY;
    case PITRACE_PTT_IOC_INTS:
      return argument<uint32_t>(call) > 1 ? EINVAL : 0;
    case PITRACE_PTT_IOC_RESIDUE: {
      bool cycles = false;
      for (uint32_t i = 0; i < ptt.setup.metrics; ++i)
        cycles |= ptt.setup.metric[i].kind == PITRACE_PTT_CYCLES;
      return ptt.active && ptt.ints_now && cycles ? 0 : EINVAL;
    }
    case PITRACE_PTT_IOC_INFO:
      return 0;
    default:
      return ENOTTY;
  }
}

Expectation Model::predict_dump(const Call& call) const {
  if (!is_readable(call)) return EFAULT;
  if (!ptt.active && ptt.has_last == Maybe::no) return EINVAL;
  const auto dump = argument<pitrace_ptt_dump>(call);
  Expectation expected;
  if (dump.threads && dump.cpus) {
    const bool room_is_there = call.number[0] < 2 && call.number[1] < 2;
    expected = room_is_there ? 0 : EFAULT;
    // Accounts of ended threads remain.
    if (ptt.begun > dump.threads / 2 || dump.cpus < 2) expected.add(ENOSPC);
  } else {
    expected = ENOSPC;
    // No thread has an account before the first context switch after INIT.
    if (dump.cpus) expected.add(0);
  }
  if (!is_writable(call)) expected = EFAULT;
  if (!ptt.active && ptt.has_last == Maybe::perhaps) expected.add(EINVAL);
  return expected;
}

// Returns whether the calling thread has an account.
static bool has_account(const Ptt& ptt, pid_t tid) {
  return static_cast<uint32_t>(tid) < ptt.setup.pids;
}

Expectation Model::predict_slot(const Call& call, const Caller& by) const {
  const Thread& thread = process[by.role].thread[by.thread];
  const pid_t tid = shared->desk[by.role][by.thread].tid;
  const bool crowded = ptt.begun > ptt.setup.threads / 2;
  const uint32_t seen = shown(by.file->sees);
  const bool own = by.file->memory == by.memory;
  Expectation expected;
  switch (call.command) {
    case PITRACE_PTT_IOC_INFO:
      expected = 0;
      break;
    case PITRACE_PTT_IOC_READ:
      if (!ptt.active) return ENXIO;
      if (!by.own_thread && ptt.setup.pids < 65536) return {0, ENOSPC, EACCES, EFAULT};
      if (!has_account(ptt, tid)) return ENOSPC;
      expected = seen ? 0 : EACCES;
      if (crowded) expected.add(ENOSPC);
      break;
    case PITRACE_PTT_IOC_ATTACH: {
      if (!own) return EPERM;
      if (!ptt.active) return ENXIO;
      if (!by.file->pages && !by.capable && pages_of(by.file->uid) >= pages_limit) return EDQUOT;
      if (!by.own_thread && ptt.setup.pids < 65536) return {0, ENOSPC, EACCES, EFAULT};
      if (!has_account(ptt, tid)) return ENOSPC;
      const OpenFile* slot = by.own_thread ? thread.slot : nullptr;
      expected = slot ? EALREADY : seen ? 0 : EACCES;
      if (slot && thread.recredited) expected.add(seen ? 0 : EACCES);
      if (crowded) expected.add(ENOSPC);
      break;
    }
    case PITRACE_PTT_IOC_DETACH: {
      if (!own) return EPERM;
      if (!ptt.active) return ENXIO;
      if (!by.own_thread && ptt.setup.pids < 65536) return {EINVAL, ENOSPC};
      if (!has_account(ptt, tid)) return ENOSPC;
      const OpenFile* slot = by.own_thread ? thread.slot : nullptr;
      expected = slot ? 0 : EINVAL;
      if (slot && thread.recredited) expected.add(EINVAL);
      if (crowded) expected.add(ENOSPC);
      return expected;
    }
    default:
      return ENOTTY;
  }
  if (!is_writable(call) && expected.allows(0)) {
    if (expected.exact()) return EFAULT;
    expected.add(EFAULT);
  }
  return expected;
}

// ---- answers ----

namespace {

template <typename Struct>
class Answer {
 public:
  Answer(std::vector<uint8_t>& bytes, std::vector<uint8_t>& mask) : bytes_(bytes), mask_(mask) {
    bytes_.assign(sizeof(Struct), 0);
    mask_.assign(sizeof(Struct), 0);
  }
  template <typename T>
  void set(size_t offset, T value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
    std::memset(mask_.data() + offset, 1, sizeof value);
  }

 private:
  std::vector<uint8_t>& bytes_;
  std::vector<uint8_t>& mask_;
};
#define FIELD(answer, type, field, value) \
  (answer).set(offsetof(type, field), static_cast<decltype(type::field)>(value))

}  // namespace

void Model::answer(const Call& call, int role, std::vector<uint8_t>& bytes,
                   std::vector<uint8_t>& mask) const {
  bytes.clear();
  const OpenFile* file = process[role].handle[call.handle];
  if (!file) return;
  if (call.command == PITRACE_IOC_INFO) {
    Answer<pitrace_info> answer(bytes, mask);
    FIELD(answer, pitrace_info, abi_major, PITRACE_ABI_MAJOR);
    FIELD(answer, pitrace_info, abi_minor, PITRACE_ABI_MINOR);
    FIELD(answer, pitrace_info, state, session.state);
    if (session.owner_pid_known) FIELD(answer, pitrace_info, owner_pid, session.owner_pid);
    FIELD(answer, pitrace_info, interval_id, session.interval_id);
    FIELD(answer, pitrace_info, suspended, session.suspended);
    FIELD(answer, pitrace_info, reserved, 0);
    if (session.owner) {
      FIELD(answer, pitrace_info, mode, session.mode);
      FIELD(answer, pitrace_info, rate, session.rate);
      FIELD(answer, pitrace_info, trace_bytes, session.bytes[0]);
      FIELD(answer, pitrace_info, mte_bytes, session.bytes[1]);
      FIELD(answer, pitrace_info, section_bytes, session.section);
      for (size_t i = 0; i < 32; ++i) {
        uint8_t byte = 0;
        for (size_t bit = 0; bit < 8; ++bit)
          byte = static_cast<uint8_t>(byte | session.enabled[i * 8 + bit] << bit);
        answer.set(offsetof(pitrace_info, enabled) + i, byte);
      }
    }
  } else if (call.command == PITRACE_IOC_IT_INFO) {
    Answer<pitrace_itrace_info> answer(bytes, mask);
    FIELD(answer, pitrace_itrace_info, installed, itrace.installed);
    FIELD(answer, pitrace_itrace_info, on, itrace.on);
    FIELD(answer, pitrace_itrace_info, reserved, 0);
    if (itrace.installed) FIELD(answer, pitrace_itrace_info, flags, itrace.flags);
  } else if (call.command == PITRACE_PTT_IOC_INFO) {
    Answer<pitrace_ptt_info> answer(bytes, mask);
    FIELD(answer, pitrace_ptt_info, active, ptt.active);
    FIELD(answer, pitrace_ptt_info, instance, ptt.instance);
    FIELD(answer, pitrace_ptt_info, ints, ptt.active ? ptt.ints_now : ptt.ints);
    FIELD(answer, pitrace_ptt_info, keep, ptt.keep);
    if (file->ptt || !ptt.active) FIELD(answer, pitrace_ptt_info, owner_pid, 0);
    if (!file->ptt) FIELD(answer, pitrace_ptt_info, withheld, 0);
    if (ptt.has_last != Maybe::perhaps || ptt.active) {
      FIELD(answer, pitrace_ptt_info, metrics, ptt.setup.metrics);
      const uint32_t all = (1u << ptt.setup.metrics) - 1;
      if (file->ptt) FIELD(answer, pitrace_ptt_info, withheld, all & ~shown(file->sees));
    }
    if (ptt.active) FIELD(answer, pitrace_ptt_info, threads, ptt.setup.threads);
  } else if (call.command == PITRACE_PTT_IOC_READ && file->ptt) {
    Answer<pitrace_ptt_read> answer(bytes, mask);
    const uint32_t seen = shown(file->sees);
    for (uint32_t i = 0; i < PITRACE_PTT_METRICS; ++i)
      if (!(seen >> i & 1)) answer.set(offsetof(pitrace_ptt_read, value) + 8 * i, uint64_t{0});
  }
}

void Model::describe_area(Call& call, int role) const {
  const Area& area = process[role].area[call.other];
  Wanted wanted{};
  wanted.content = area.file && area.accessible && !area.stale ? area.content : Content::nothing;
  // A child does not inherit its parent's mappings, except if it shares the memory.
  if (call.where == Where::forked) wanted.content = Content::nothing;
  wanted.kind = area.kind;
  wanted.cpu = area.cpu;
  wanted.data_size = area.data_size;
  if (wanted.content == Content::hook_page) {
    const bool on = session.state == PITRACE_TRACE_ON;
    wanted.owner = session.owner != nullptr;
    wanted.interval_id = on ? session.interval_id : 0;
    for (uint32_t major = 0; major <= PITRACE_MAJOR_MAX; ++major)
      wanted.enabled[major] =
          on && !session.suspended && session.enabled[major] && pitrace_hook_major_possible(major);
  }
  if (wanted.content == Content::slots) {
    wanted.pages = area.file->pages;
    wanted.metrics = ptt.setup.metrics;
    wanted.shown = shown(area.file->sees);
    wanted.vectors = area.file->sees == Sees::kernel;
    for (const Thread& thread : process[role].thread) {
      if (thread.slot != area.file) continue;
      ++wanted.active_max;
      wanted.active_min += !thread.recredited;
    }
    if (!ptt.active) wanted.active_max = wanted.active_min = 0;
  }
  std::memcpy(call.payload, &wanted, sizeof wanted);
}

}  // namespace statefuzz
