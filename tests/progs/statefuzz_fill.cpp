// SPDX-License-Identifier: MIT
// Generates the arguments of statefuzz's ioctls.
#include <unistd.h>

#include <cstring>

#include "statefuzz_generate.h"

namespace statefuzz {

namespace {

template <typename T>
void put(Call& call, const T& value) {
  static_assert(sizeof value <= payload_max);
  std::memcpy(call.payload, &value, sizeof value);
}

}  // namespace

void Generator::fill(int role, Call& call) {
  call.size = static_cast<uint16_t>(_IOC_SIZE(call.command));
  const uint32_t number = _IOC_NR(call.command);
  if (number >= 0x50) return fill_ptt(call);
  if (number >= 0x40) return fill_itrace(role, call);
  if (call.command == PITRACE_IOC_HOOK) return fill_hook(call);
  fill_session(call);
}

void Generator::fill_session(Call& call) {
  switch (call.command) {
    case PITRACE_IOC_ALLOC: {
      constexpr uint64_t sizes[] = {1, 4096, 65536, 65536, 100000, 1 << 20, 4 << 20};
      pitrace_alloc alloc{};
      alloc.trace_bytes = random_.pick(sizes);
      alloc.mte_bytes = random_.pick(sizes);
      alloc.mode = static_cast<uint32_t>(random_.below(3));
      alloc.flags = static_cast<uint32_t>(random_.below(2));
      if (alloc.mode != PITRACE_MODE_NORMAL) {
        if (alloc.trace_bytes < 65536) alloc.trace_bytes = 65536;
        if (alloc.mte_bytes < 65536) alloc.mte_bytes = 65536;
        alloc.section_bytes = 16384;
      }
      constexpr uint64_t wrong[] = {0, ~0ull, 1ull << 32, (1ull << 32) - 4096,
                                    (1ull << 32) - 65536};
      switch (random_.below(24)) {
        case 0:
          alloc.trace_bytes = random_.pick(wrong);
          break;
        case 1:
          alloc.mte_bytes = random_.pick(wrong);
          break;
        case 2:
          alloc.mode = static_cast<uint32_t>(random_.next());
          break;
        case 3:
          alloc.flags = static_cast<uint32_t>(random_.next());
          break;
        case 4:
          alloc.section_bytes = random_.next() >> random_.below(64);
          break;
        case 5:
          alloc.trace_bytes = alloc.mte_bytes = (1ull << 32) - 65536;
          break;
        default:
          break;
      }
      return put(call, alloc);
    }
    case PITRACE_IOC_ENABLE:
    case PITRACE_IOC_DISABLE: {
      constexpr uint32_t majors[] = {0x10, 0x12, 0x13, 0x19, 0x19, 0x04, 0x05,  0x03,
                                     0x30, 0x31, 0x30, 0,    0xff, 0xfe, 0x100, 0xffffffff};
      return put(call, random_.pick(majors));
    }
    case PITRACE_IOC_RATE: {
      constexpr uint32_t rates[] = {0,  1, 100, 1000, 5000, PITRACE_RATE_MAX, PITRACE_RATE_MAX + 1,
                                    ~0u};
      return put(call, random_.pick(rates));
    }
    case PITRACE_IOC_CONSUMED: {
      constexpr uint64_t positions[] = {0, 1, 4096, 16384, 1ull << 62, ~0ull};
      constexpr uint32_t processors[] = {0, 1, 0, 1, 2, 63, 8191, 0xffff, ~0u};
      pitrace_consumed consumed{};
      consumed.kind = static_cast<uint32_t>(random_.one_in(12) ? random_.next() : random_.below(3));
      consumed.cpu = random_.pick(processors);
      consumed.position = random_.pick(positions);
      return put(call, consumed);
    }
    case PITRACE_IOC_STACKS: {
      constexpr uint32_t depths[] = {0, 1, 16, 127, 128, ~0u};
      return put(call,
                 pitrace_stacks{static_cast<uint32_t>(random_.below(5)), random_.pick(depths)});
    }
    case PITRACE_IOC_COPIES: {
      constexpr uint32_t bytes[] = {0, 4, 512, 520, 4096, 61440, 61448, ~0u};
      constexpr uint64_t buffers[] = {0, 4096, 1 << 16, 1 << 18, 1ull << 32, ~0ull};
      return put(call, pitrace_copies{random_.pick(bytes), random_.one_in(8) ? 1u : 0u,
                                      random_.pick(buffers)});
    }
    case PITRACE_IOC_EVENT: {
      constexpr uint64_t periods[] = {0, 100, 10000, 1000000, 1ull << 61, 1ull << 62, ~0ull};
      constexpr uint32_t types[] = {PITRACE_EVENT_TIME, PITRACE_EVENT_TIME, 1, 1, 1, 0, 0x7ffffff0};
      pitrace_event event{};
      event.type = random_.pick(types);
      // Task clock, page faults, context switches, migrations: these do not occur at each
      // instruction.
      event.config = random_.below(4) + 1;
      event.flags = static_cast<uint32_t>(random_.below(9));
      event.period = random_.pick(periods);
      if (event.type == 1 && event.period < 10000 && event.config == 1) event.period = 1000000;
      return put(call, event);
    }
    case PITRACE_IOC_PROBE: {
      constexpr uint32_t indices[] = {0, 1, 7, 20, 1000, ~0u};
      return put(call, random_.pick(indices));
    }
    case PITRACE_IOC_AI_READ: {
      constexpr uint32_t processors[] = {0, 1, 2, 1000, ~0u};
      return put(call, random_.pick(processors));
    }
    default:
      return;
  }
}

void Generator::fill_hook(Call& call) {
  struct {
    pitrace_record header;
    uint32_t words[300];
  } record{};
  constexpr uint16_t majors[] = {0x30, 0x30, 0x30, 0x31, 0x10, 0x19, 0, 0xff, 0x100};
  const uint32_t words = static_cast<uint32_t>(random_.below(140));
  uint32_t length = sizeof record.header + 4 * words;
  record.header.major = random_.pick(majors);
  record.header.minor =
      random_.one_in(3) ? PITRACE_MTE_JITTED : static_cast<uint32_t>(random_.below(128));
  for (uint32_t& word : record.words) word = static_cast<uint32_t>(random_.next());
  uint32_t type = PITRACE_TYPE_INTS;
  if (random_.one_in(3)) {
    // Ints, then one string up to the record's end.
    type = PITRACE_TYPE_STRINGS;
    const uint32_t ints = static_cast<uint32_t>(random_.below(4));
    if (words > ints + 2) {
      record.words[0] = ints;
      record.words[1 + ints] = 4 * (words - ints - 2) - static_cast<uint32_t>(random_.below(4));
    }
  }
  switch (random_.below(16)) {
    case 0:
      length = static_cast<uint32_t>(random_.below(65536)) & PITRACE_LENGTH_MASK;
      break;
    case 1:
      length = 0;
      break;
    case 2:
      type = static_cast<uint32_t>(random_.below(4));
      break;
    default:
      break;
  }
  record.header.type_length = static_cast<uint16_t>(length | type);
  put(call, record);
  const uint32_t there = length < sizeof record.header ? sizeof record.header : length;
  call.size = static_cast<uint16_t>(there < PITRACE_MAX_RECORD ? there : PITRACE_MAX_RECORD);
}

void Generator::fill_itrace(int role, Call& call) {
  switch (call.command) {
    case PITRACE_IOC_IT_INSTALL: {
      constexpr uint32_t flags[] = {PITRACE_ITRACE_NO_KERNEL,
                                    PITRACE_ITRACE_NO_KERNEL,
                                    PITRACE_ITRACE_NO_KERNEL | PITRACE_ITRACE_COUNT,
                                    PITRACE_ITRACE_NO_KERNEL | PITRACE_ITRACE_CHILDREN,
                                    PITRACE_ITRACE_NO_KERNEL | PITRACE_ITRACE_INTERRUPTS,
                                    PITRACE_ITRACE_NO_USER,
                                    0,
                                    PITRACE_ITRACE_COUNT | PITRACE_ITRACE_STEP,
                                    PITRACE_ITRACE_NO_KERNEL | PITRACE_ITRACE_NO_USER,
                                    PITRACE_ITRACE_NO_KERNEL | PITRACE_ITRACE_CONTINUOUS,
                                    0x80};
      constexpr uint32_t threads[] = {
          0, 4096, 1, 1, 3, 3, 64, 64, 64, 64, 64, 64, PITRACE_ITRACE_THREADS_MAX + 1};
      pitrace_itrace wanted{};
      wanted.flags = random_.pick(flags);
      wanted.threads = random_.one_in(24) ? PITRACE_ITRACE_THREADS_MAX : random_.pick(threads);
      wanted.reserve =
          (wanted.flags & PITRACE_ITRACE_CONTINUOUS) != 0 || random_.one_in(20) ? 16384 : 0;
      return put(call, wanted);
    }
    case PITRACE_IOC_IT_ON:
    case PITRACE_IOC_IT_OFF:
      return put(call,
                 static_cast<uint32_t>(random_.one_in(20) ? random_.next() : random_.below(2)));
    case PITRACE_IOC_IT_ENABLE: {
      const auto pid_of = [this](int of) { return static_cast<uint32_t>(model_.process[of].pid); };
      uint32_t pid = pid_of(role);
      pitrace_itrace_pids pids{pid, pid};
      switch (random_.below(12)) {
        case 0:
        case 1:
        case 2:
          pid = pid_of(static_cast<int>(random_.below(roles)));
          pids = {pid, pid};
          break;
        case 3:
          pids = {0x7fffffff, 0x7fffffff};
          break;
        case 4:
          pids = {1, 1};
          break;
        case 5:
          pids = {pid, pid - 1};
          break;
        case 6:
          pids = {0x60000000, 0x60000000 + static_cast<uint32_t>(random_.below(1000))};
          break;
        default:
          break;
      }
      return put(call, pids);
    }
    default:
      return;
  }
}

void Generator::fill_init(Call& call) {
  pitrace_ptt_init init{};
  init.metrics = 1 + static_cast<uint32_t>(random_.one_in(2) ? random_.below(3) : 0);
  init.flags = static_cast<uint32_t>(random_.below(4));
  init.threads = random_.one_in(3) ? PITRACE_PTT_THREADS_MIN : 4096;
  init.pids = random_.one_in(10) ? 400 : random_.one_in(24) ? 4u << 20 : 65536;
  const auto cycles = random_.below(init.metrics + 1);
  for (uint32_t i = 0; i < init.metrics; ++i) {
    pitrace_ptt_metric& metric = init.metric[i];
    metric.kind = i == cycles ? PITRACE_PTT_CYCLES : PITRACE_PTT_COUNTER;
    metric.id = i;
    std::memcpy(metric.name, "metric", 7);
    if (metric.kind == PITRACE_PTT_CYCLES) continue;
    metric.type = 1;
    metric.config = random_.below(5);
    metric.flags = static_cast<uint32_t>(random_.below(3));
  }
  constexpr uint32_t wrong[] = {0, 1, 9, 1023, 0xffffffff};
  switch (random_.below(24)) {
    case 0:
      init.metrics = random_.pick(wrong);
      break;
    case 1:
      init.threads = random_.pick(wrong);
      break;
    case 2:
      init.pids = random_.one_in(2) ? 0 : (4u << 20) + 1;
      break;
    case 3:
      init.flags = static_cast<uint32_t>(random_.next());
      break;
    case 4:
      init.metric[0].kind = 2;
      break;
    case 5:
      init.metric[0].flags = 3;
      break;
    case 6:
      init.metric[0] = {PITRACE_PTT_COUNTER, 0, 0x7ffffff0, 0, 0, 0, 0, {}};
      break;
    case 7:
      std::memset(init.metric[0].name, 'x', sizeof init.metric[0].name);
      break;
    case 8:
      init.metric[0] = {PITRACE_PTT_COUNTER, 0, 0, 0, 0, 0, 0, {}};
      break;
    default:
      break;
  }
  put(call, init);
}

void Generator::fill_ptt(Call& call) {
  switch (call.command) {
    case PITRACE_PTT_IOC_INIT:
      return fill_init(call);
    case PITRACE_PTT_IOC_INTS:
      return put(call,
                 static_cast<uint32_t>(random_.one_in(8) ? random_.next() : random_.below(2)));
    case PITRACE_PTT_IOC_DUMP: {
      constexpr uint64_t rows[] = {0, 0, 0, 0, 0, 5, 6, 7, 8};
      pitrace_ptt_dump dump{};
      dump.threads = random_.one_in(3) ? 0 : 1000;
      dump.cpus = random_.one_in(3) ? 0 : 64;
      call.number[0] = random_.pick(rows);
      call.number[1] = random_.one_in(6) ? random_.pick(rows) : 1;
      if (call.number[1] == 0) call.number[1] = 1;
      return put(call, dump);
    }
    default:
      return;
  }
}

}  // namespace statefuzz
