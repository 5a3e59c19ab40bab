// SPDX-License-Identifier: MIT
// Concurrent calls of all threads: their results are not predicted, but some results are never
// valid.
#include "statefuzz.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace statefuzz {

namespace {

constexpr uint32_t commands[] = {
    PITRACE_IOC_ON,         PITRACE_IOC_OFF,        PITRACE_IOC_TERMINATE,   PITRACE_IOC_INFO,
    PITRACE_IOC_ALLOC,      PITRACE_IOC_ALLOC,      PITRACE_IOC_ENABLE,      PITRACE_IOC_DISABLE,
    PITRACE_IOC_RATE,       PITRACE_IOC_SUSPEND,    PITRACE_IOC_RESUME,      PITRACE_IOC_DISCARD,
    PITRACE_IOC_CONSUMED,   PITRACE_IOC_HOOK,       PITRACE_IOC_HOOK,        PITRACE_IOC_STACKS,
    PITRACE_IOC_COPIES,     PITRACE_IOC_COPIES,     PITRACE_IOC_EVENT,       PITRACE_IOC_AI_ON,
    PITRACE_IOC_AI_OFF,     PITRACE_IOC_AI_READ,    PITRACE_IOC_IT_INSTALL,  PITRACE_IOC_IT_REMOVE,
    PITRACE_IOC_IT_ON,      PITRACE_IOC_IT_OFF,     PITRACE_IOC_IT_INFO,     PITRACE_IOC_IT_ENABLE,
    PITRACE_IOC_IT_DISABLE, PITRACE_IOC_PROBE,      PITRACE_PTT_IOC_INIT,    PITRACE_PTT_IOC_TERM,
    PITRACE_PTT_IOC_DUMP,   PITRACE_PTT_IOC_INTS,   PITRACE_PTT_IOC_RESIDUE, PITRACE_PTT_IOC_INFO,
    PITRACE_PTT_IOC_ATTACH, PITRACE_PTT_IOC_ATTACH, PITRACE_PTT_IOC_DETACH,  PITRACE_PTT_IOC_READ,
    PITRACE_PTT_IOC_READ};

template <typename T>
void put(Call& call, const T& value) {
  static_assert(sizeof value <= payload_max);
  std::memcpy(call.payload, &value, sizeof value);
}

void fill_session(Random& random, Call& call) {
  switch (call.command) {
    case PITRACE_IOC_ALLOC: {
      pitrace_alloc alloc{};
      alloc.trace_bytes = alloc.mte_bytes = 65536ull << random.below(3);
      alloc.mode = static_cast<uint32_t>(random.below(3));
      alloc.section_bytes = alloc.mode == PITRACE_MODE_NORMAL ? 0 : 16384;
      return put(call, alloc);
    }
    case PITRACE_IOC_ENABLE:
    case PITRACE_IOC_DISABLE: {
      const uint32_t majors[] = {0x10, 0x12, 0x13, 0x19, 0x04, 0x05, 0x03, 0x30, 0, 0xff};
      return put(call, random.pick(majors));
    }
    case PITRACE_IOC_RATE:
      return put(call, static_cast<uint32_t>(random.below(2000)));
    case PITRACE_IOC_CONSUMED:
      return put(call,
                 pitrace_consumed{static_cast<uint32_t>(random.below(3)),
                                  static_cast<uint32_t>(random.below(2)), random.below(1 << 18)});
    case PITRACE_IOC_STACKS:
      return put(call, pitrace_stacks{static_cast<uint32_t>(random.below(4)), 16});
    case PITRACE_IOC_COPIES:
      return put(call, pitrace_copies{random.one_in(3) ? 0 : 4096u, 0, random.below(1 << 18)});
    case PITRACE_IOC_EVENT:
      return put(call, pitrace_event{random.one_in(2) ? PITRACE_EVENT_TIME : 1u, 4, random.below(4),
                                     0, 0, 1000000});
    case PITRACE_IOC_HOOK: {
      struct {
        pitrace_record header;
        uint32_t ints[100];
      } record{};
      record.header.type_length =
          static_cast<uint16_t>(sizeof(pitrace_record) + 4 * random.below(100));
      record.header.major = 0x30;
      return put(call, record);
    }
    default:
      return;
  }
}

void fill(Random& random, Call& call) {
  call.size = static_cast<uint16_t>(_IOC_SIZE(call.command));
  call.number[1] = 1;  // selects the other rows of a dump
  if (random.one_in(12)) {
    for (int i = 0; i < 24; ++i) call.payload[i] = static_cast<uint8_t>(random.next());
    return;
  }
  const auto pid = static_cast<uint32_t>(::getpid());
  switch (call.command) {
    case PITRACE_IOC_HOOK:
      call.size = 412;
      return fill_session(random, call);
    case PITRACE_IOC_IT_INSTALL: {
      pitrace_itrace wanted{};
      const uint32_t flags[] = {0,
                                PITRACE_ITRACE_NO_KERNEL,
                                PITRACE_ITRACE_NO_KERNEL | 0x400,
                                PITRACE_ITRACE_COUNT,
                                PITRACE_ITRACE_INTERRUPTS,
                                PITRACE_ITRACE_NO_KERNEL | PITRACE_ITRACE_CONTINUOUS};
      wanted.flags = random.pick(flags) | (shared->bold ? 0 : PITRACE_ITRACE_NO_KERNEL);
      wanted.threads = random.one_in(3) ? 2 : 64;
      wanted.reserve = wanted.flags & PITRACE_ITRACE_CONTINUOUS ? 16384 : 0;
      return put(call, wanted);
    }
    case PITRACE_IOC_IT_ON:
    case PITRACE_IOC_IT_OFF:
      return put(call, static_cast<uint32_t>(random.below(2)));
    case PITRACE_IOC_IT_ENABLE:
      return put(call, pitrace_itrace_pids{pid, pid});
    case PITRACE_IOC_PROBE:
    case PITRACE_IOC_AI_READ:
      return put(call, static_cast<uint32_t>(random.below(3)));
    case PITRACE_PTT_IOC_INTS:
      return put(call, static_cast<uint32_t>(random.below(2)));
    case PITRACE_PTT_IOC_INIT: {
      pitrace_ptt_init init{};
      init.metrics = 1 + static_cast<uint32_t>(random.below(2));
      init.flags = static_cast<uint32_t>(random.below(4));
      init.threads = random.one_in(2) ? 1024 : 4096;
      init.pids = random.one_in(8) ? 300 : 65536;
      init.metric[1].kind = PITRACE_PTT_COUNTER;
      init.metric[1].type = 1;
      init.metric[1].config = random.below(5);
      return put(call, init);
    }
    case PITRACE_PTT_IOC_DUMP: {
      pitrace_ptt_dump dump{};
      dump.threads = random.one_in(4) ? 0 : 1000;
      dump.cpus = 64;
      return put(call, dump);
    }
    default:
      return fill_session(random, call);
  }
}

void choose_ioctl(Random& random, Call& call) {
  call.kind = Kind::ioctl;
  call.command = random.pick(commands);
  fill(random, call);
  if (random.one_in(16)) {
    const Pointer pointers[] = {Pointer::edge,   Pointer::null,     Pointer::low,
                                Pointer::kernel, Pointer::readonly, Pointer::noncanonical};
    call.pointer = random.pick(pointers);
  }
  call.compat = call.pointer == Pointer::good && random.one_in(8);
}

void choose_map(Random& random, Call& call) {
  const uint64_t offsets[] = {0,
                              PITRACE_MMAP_HOOK_PAGE,
                              PITRACE_MMAP_OFFSET(0, 0),
                              PITRACE_MMAP_OFFSET(0, 1),
                              PITRACE_MMAP_OFFSET(1, 0),
                              PITRACE_MMAP_OFFSET(2, 0)};
  const uint64_t lengths[] = {4096, PITRACE_PTT_AREA_BYTES, 4096 + 2 * 65536};
  call.kind = Kind::map;
  call.number[0] = random.pick(offsets);
  call.number[1] = call.number[0] ? lengths[random.below(3)] : PITRACE_PTT_AREA_BYTES;
  call.number[2] = PROT_READ;
  call.number[3] = MAP_SHARED;
}

// Chooses a call, usually a cheap one.
Call choose(Random& random, int role) {
  Call call;
  call.handle = static_cast<uint8_t>(random.below(handles));
  call.other = static_cast<uint8_t>(random.below(areas));
  const uint64_t dice = random.below(100);
  if (dice < 62) {
    choose_ioctl(random, call);
  } else if (dice < 72) {
    call.kind = Kind::open;
    // Handles in the upper half are usually PTT devices.
    call.command = call.handle >= handles / 2;
    call.number[0] = O_RDWR;
  } else if (dice < 76) {
    call.kind = Kind::close;
  } else if (dice < 82) {
    choose_map(random, call);
  } else if (dice < 85) {
    call.kind = Kind::unmap;
  } else if (dice < 87) {
    call.kind = Kind::send;
    call.number[0] = random.below(roles);
  } else if (dice < 90) {
    call.kind = Kind::receive;
  } else if (dice < 91) {
    call.kind = Kind::credentials;
  } else if (dice < 93) {
    call.kind = Kind::poll;
  } else if (dice < 94) {
    call.kind = Kind::pause;
    call.number[0] = random.below(300);
  } else if (dice < 95 && role_table[role].root()) {
    call.kind = Kind::parameter;
    call.number[0] = random.one_in(4) ? static_cast<uint64_t>(File::processor) : random.below(3);
    const uint64_t values[] = {random.below(4), group_id, random.below(3)};
    call.number[1] = call.number[0] < 3 ? values[call.number[0]] : random.below(2);
  } else {
    choose_ioctl(random, call);
    if (random.one_in(6))
      call.where = static_cast<Where>(1 + random.below(role_table[role].root() ? 3 : 4));
  }
  return call;
}

// Returns whether the result is one that a call may return, whatever other calls do. Memory may be
// short where allocation failures are injected.
bool is_documented(int role, const Call& call, const Result& result) {
  switch (result.error) {
    case 0:
      // Only root, members of the group and the set-user-id program may open the device.
      return call.kind != Kind::open || call.command == 1 || role_table[role].root() ||
             role_table[role].member || call.where == Where::set_user;
    case EBADF:
    case ENOMEM:
    case EINVAL:
    case EFAULT:
    case EPERM:
    case EACCES:
      return true;
    case ENOTTY:
    case EALREADY:
    case ENOSPC:
    case ENXIO:
    case EBUSY:
      return call.kind != Kind::open || result.error == EBUSY;
    case ENOENT:
      return true;
    case EDQUOT:
      return call.kind == Kind::ioctl && call.command == PITRACE_PTT_IOC_ATTACH;
    case EMSGSIZE:
    case ENOBUFS:
      return (call.kind == Kind::ioctl && call.command == PITRACE_IOC_HOOK) ||
             (call.kind == Kind::send && shared->failing);
    case EOPNOTSUPP:
      return call.kind == Kind::ioctl;
    case ESRCH:
      return call.command == PITRACE_IOC_IT_ENABLE;
    case EAGAIN:
    case ETOOMANYREFS:
      return call.kind == Kind::send || call.kind == Kind::receive || call.where != Where::self;
    case ENODEV:
      return call.kind == Kind::map;
    case EINTR:
      return false;
    default:
      return false;
  }
}

}  // namespace

void storm(int role, Desk& desk) {
  Random random(desk.storm);
  Result& result = desk.result[0];
  for (uint64_t i = 0; i < desk.storm_calls; ++i) {
    desk.position = static_cast<uint32_t>(i);
    desk.call[0] = choose(random, role);
    const Call& call = desk.call[0];
    execute(call, result);
    if (is_documented(role, call, result) && (!result.wrong || shared->failing)) continue;
    ++shared->counts.mismatches;
    say_finding(std::string("storm: ") + role_table[static_cast<size_t>(role)].name + ": error " +
                std::to_string(result.error) + " " + result.what + ": " + describe(call));
  }
}

}  // namespace statefuzz
