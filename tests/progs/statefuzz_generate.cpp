// SPDX-License-Identifier: MIT
// Chooses users, calls and changes of the module's state: most are valid, some are wrong in one
// field.
#include "statefuzz_generate.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace statefuzz {

namespace {

constexpr uint32_t device_commands[] = {
    PITRACE_IOC_ON,         PITRACE_IOC_OFF,        PITRACE_IOC_TERMINATE, PITRACE_IOC_INFO,
    PITRACE_IOC_INFO,       PITRACE_IOC_ALLOC,      PITRACE_IOC_ENABLE,    PITRACE_IOC_DISABLE,
    PITRACE_IOC_RATE,       PITRACE_IOC_SUSPEND,    PITRACE_IOC_RESUME,    PITRACE_IOC_DISCARD,
    PITRACE_IOC_CONSUMED,   PITRACE_IOC_CONSUMED,   PITRACE_IOC_HOOK,      PITRACE_IOC_HOOK,
    PITRACE_IOC_HOOK,       PITRACE_IOC_HOOK,       PITRACE_IOC_STACKS,    PITRACE_IOC_COPIES,
    PITRACE_IOC_EVENT,      PITRACE_IOC_AI_ON,      PITRACE_IOC_AI_OFF,    PITRACE_IOC_AI_READ,
    PITRACE_IOC_AI_READ,    PITRACE_IOC_IT_INSTALL, PITRACE_IOC_IT_REMOVE, PITRACE_IOC_IT_ON,
    PITRACE_IOC_IT_OFF,     PITRACE_IOC_IT_INFO,    PITRACE_IOC_IT_ENABLE, PITRACE_IOC_IT_ENABLE,
    PITRACE_IOC_IT_DISABLE, PITRACE_IOC_PROBE,      PITRACE_PTT_IOC_INIT,  PITRACE_PTT_IOC_TERM,
    PITRACE_PTT_IOC_DUMP,   PITRACE_PTT_IOC_DUMP,   PITRACE_PTT_IOC_INTS,  PITRACE_PTT_IOC_RESIDUE,
    PITRACE_PTT_IOC_INFO};
constexpr uint32_t slot_commands[] = {PITRACE_PTT_IOC_ATTACH, PITRACE_PTT_IOC_ATTACH,
                                      PITRACE_PTT_IOC_DETACH, PITRACE_PTT_IOC_READ,
                                      PITRACE_PTT_IOC_READ,   PITRACE_PTT_IOC_INFO};

}  // namespace

int Generator::choose_role() {
  constexpr int list[] = {0, 0, 0, 0, 1, 2, 2, 3, 4, 4, 4};
  return random_.pick(list);
}

// Returns usually an open handle of that kind, if there is one.
int Generator::handle_of(int role, bool ptt) {
  const auto start = static_cast<int>(random_.below(handles));
  if (random_.one_in(24)) return start;
  for (int i = 0; i < handles; ++i) {
    const int handle = (start + i) % handles;
    const OpenFile* file = model_.process[role].handle[handle];
    if (file && file->ptt == ptt) return handle;
  }
  return start;
}

bool Generator::find_owner(int& role, int& handle) {
  const auto start = static_cast<int>(random_.below(roles * handles));
  for (int i = 0; i < roles * handles; ++i) {
    const int at = (start + i) % (roles * handles);
    const Process& each = model_.process[at / handles];
    if (!each.alive || !model_.session.owner || each.handle[at % handles] != model_.session.owner)
      continue;
    role = at / handles;
    handle = at % handles;
    return true;
  }
  return false;
}

void Generator::choose_pointer(Call& call) {
  call.size = std::max<uint16_t>(call.size, 4);
  if (random_.one_in(10)) {
    constexpr Pointer list[] = {Pointer::split, Pointer::split,       Pointer::readonly,
                                Pointer::null,  Pointer::low,         Pointer::kernel,
                                Pointer::text,  Pointer::noncanonical};
    call.pointer = random_.pick(list);
    const uint32_t header = call.command == PITRACE_IOC_HOOK ? sizeof(pitrace_record) : 0;
    if (call.pointer == Pointer::split && call.size <= header) call.pointer = Pointer::null;
    if (call.pointer == Pointer::split)
      call.split = 1 + static_cast<uint32_t>(random_.below(call.size - header));
  } else if (random_.one_in(4)) {
    call.pointer = Pointer::edge;
  }
  call.compat = call.pointer <= Pointer::low && random_.one_in(10);
}

void Generator::choose_ioctl(int role, Call& call) {
  const bool slots =
      role_table[static_cast<size_t>(role)].uid >= 65534 ? !random_.one_in(4) : random_.one_in(3);
  call.kind = Kind::ioctl;
  call.handle = static_cast<uint8_t>(handle_of(role, slots));
  call.command = slots ? random_.pick(slot_commands) : random_.pick(device_commands);
  fill(role, call);
  if (random_.one_in(30)) {
    const uint32_t odd[] = {call.command ^ 1u << _IOC_SIZESHIFT, call.command ^ 1u << _IOC_DIRSHIFT,
                            call.command ^ 0x100,
                            _IO(PITRACE_IOC_MAGIC, static_cast<uint32_t>(random_.below(256))),
                            static_cast<uint32_t>(random_.next())};
    call.command = random_.pick(odd);
    // Exclude the kernel's generic commands, which work on any file.
    if (_IOC_TYPE(call.command) == 'T' || _IOC_TYPE(call.command) == 'f' ||
        _IOC_TYPE(call.command) == 0x94)
      call.command = 0;
    if (index_of_command(call.command) != index_of_command(0))
      call.size = static_cast<uint16_t>(_IOC_SIZE(call.command));
  }
  choose_pointer(call);
}

void Generator::choose_map(int role, Call& call) {
  const bool slots = random_.one_in(2);
  call.kind = Kind::map;
  call.handle = static_cast<uint8_t>(handle_of(role, slots));
  call.other = static_cast<uint8_t>(random_.below(areas));
  call.number[2] = PROT_READ;
  call.number[3] = random_.one_in(8) ? MAP_PRIVATE : MAP_SHARED;
  if (slots) {
    call.number[1] = random_.one_in(3) ? 4096 + random_.below(8) * 4096 : PITRACE_PTT_AREA_BYTES;
  } else if (random_.one_in(3)) {
    call.number[0] = PITRACE_MMAP_HOOK_PAGE;
    call.number[1] = 4096;
  } else {
    const uint64_t kind = random_.below(PITRACE_BUFFERS_ALL);
    call.number[0] = PITRACE_MMAP_OFFSET(kind, random_.below(2));
    call.number[1] = random_.one_in(3) ? 4096 : PITRACE_HEAD_BYTES + 2 * model_.session.bytes[kind];
  }
  switch (random_.below(12)) {
    case 0:
      call.number[2] = PROT_READ | PROT_WRITE;
      break;
    case 1:
      call.number[2] = PROT_READ | PROT_EXEC;
      break;
    case 2:
      call.number[1] += 4096;
      break;
    case 3:
      call.number[0] += 4096;
      break;
    case 4:
      call.number[2] = PROT_NONE;
      break;
    case 5:
      call.number[0] = PITRACE_MMAP_OFFSET(random_.below(4), random_.below(70));
      break;
    default:
      break;
  }
}

void Generator::choose_area_call(int role, Call& call) {
  const auto start = static_cast<int>(random_.below(areas));
  int found = -1;
  for (int i = 0; i < areas && found < 0; ++i)
    if (model_.process[role].area[(start + i) % areas].file) found = (start + i) % areas;
  if (found < 0) return choose_map(role, call);
  const Area& area = model_.process[role].area[found];
  call.other = static_cast<uint8_t>(found);
  switch (random_.below(12)) {
    case 0:
      call.kind = Kind::unmap;
      break;
    case 1: {
      constexpr uint64_t list[] = {
          PROT_READ, PROT_READ, PROT_NONE, PROT_READ | PROT_WRITE, PROT_READ | PROT_EXEC,
          PROT_WRITE};
      call.kind = Kind::protect;
      call.number[0] = random_.pick(list);
      break;
    }
    case 2:
      call.kind = Kind::remap;
      call.number[0] = area.length + (random_.one_in(2) ? 4096 : 0);
      break;
    case 3: {
      constexpr uint64_t list[] = {MADV_DONTNEED, MADV_DODUMP, MADV_WILLNEED, MADV_REMOVE,
                                   MADV_FREE,     MADV_RANDOM, MADV_DOFORK,   MADV_DONTFORK};
      call.kind = Kind::advise;
      call.number[0] = random_.pick(list);
      break;
    }
    case 4:
      call.kind = Kind::poke;
      break;
    default:
      call.kind = Kind::look;
      model_.describe_area(call, role);
  }
}

Call Generator::any(int role) {
  Call call;
  call.handle = static_cast<uint8_t>(random_.below(handles));
  call.other = static_cast<uint8_t>(random_.below(handles));
  const uint64_t dice = random_.below(100);
  if (dice < 58) {
    choose_ioctl(role, call);
    // If no such file is open, usually open one.
    if (!model_.process[role].handle[call.handle] && !random_.one_in(4)) {
      call = Call{};
      call.handle = static_cast<uint8_t>(random_.below(handles));
      call.kind = Kind::open;
      call.command = call.handle >= handles / 2 ? 1 : 0;
      call.number[0] = O_RDWR;
    }
  } else if (dice < 61) {
    constexpr uint64_t flags[] = {O_RDWR, O_RDWR, O_RDWR, O_RDONLY, O_WRONLY, O_RDWR | O_NONBLOCK};
    call.kind = Kind::open;
    call.command = call.handle >= handles / 2 ? 1 : 0;
    call.number[0] = random_.pick(flags);
  } else if (dice < 63) {
    call.kind = Kind::close;
  } else if (dice < 65) {
    call.kind = Kind::duplicate;
  } else if (dice < 74) {
    choose_map(role, call);
  } else if (dice < 90) {
    choose_area_call(role, call);
  } else if (dice < 92) {
    call.kind = Kind::poll;
  } else if (dice < 94) {
    call.kind = Kind::send;
    call.number[0] = random_.below(roles);
  } else if (dice < 97) {
    call.kind = Kind::receive;
  } else if (dice < 98) {
    call.kind = Kind::credentials;
  } else {
    constexpr int64_t values[][4] = {{1, 2, 3, 0}, {-1, group_id, group_id, 12}, {0, 1, 2, 2048}};
    call.kind = Kind::parameter;
    call.number[0] = random_.below(3);
    call.number[1] = static_cast<uint64_t>(values[call.number[0]][random_.below(4)]);
  }
  return call;
}

// A thread with a mapped slot compares it.
bool Generator::choose_compare(int role, const Thread& own, Call& call) {
  const Process& process = model_.process[role];
  const Ptt& ptt = model_.ptt;
  if (!own.slot || !own.offset_known || own.recredited || !ptt.active || !random_.one_in(4))
    return false;
  uint64_t cycles = 0;
  while (cycles < ptt.setup.metrics && ptt.setup.metric[cycles].kind != PITRACE_PTT_CYCLES)
    ++cycles;
  const int handle = handle_of(role, true);
  const OpenFile* file = process.handle[handle];
  if (cycles == ptt.setup.metrics || !file || !file->ptt || ptt.begun > ptt.setup.threads / 2)
    return false;
  call.handle = static_cast<uint8_t>(handle);
  call.other = static_cast<uint8_t>(random_.below(areas));
  for (uint8_t area = 0; area < areas; ++area)
    if (process.area[area].file == own.slot && process.area[area].accessible) {
      call.kind = Kind::compare;
      call.other = area;
      call.number[0] = own.offset;
      call.number[1] = cycles;
      return true;
    }
  for (uint8_t at = 0; at < handles; ++at)
    if (process.handle[at] == own.slot) call.handle = at;
  call.kind = Kind::map;
  call.number[1] = PITRACE_PTT_AREA_BYTES;
  call.number[2] = PROT_READ;
  call.number[3] = MAP_SHARED;
  return true;
}

Call Generator::choose(int role, int thread, bool may_cost) {
  Call first;
  if (choose_compare(role, model_.process[role].thread[thread], first)) return first;
  for (int tries = 0; tries < 16; ++tries) {
    Call call = any(role);
    if (!model_.is_costly(call, role, thread)) return call;
    if (may_cost && (shared->bold || !model_.is_followed_in_kernel(role, thread))) return call;
    // A call that must fail is cheap.
    const Expectation expected = model_.predict(call, role, thread);
    if (!expected.allows(0)) return call;
  }
  Call call;
  call.kind = Kind::poll;
  return call;
}

// Chooses a step towards tracing a thread, or away from it.
void Generator::choose_itrace_step(int& role, int& thread, Call& call) {
  call.command = PITRACE_IOC_IT_INSTALL;
  if (!model_.itrace.installed) return;
  call.command = random_.one_in(2) ? PITRACE_IOC_IT_ON : PITRACE_IOC_IT_ENABLE;
  if (model_.itrace.ranges.empty()) call.command = PITRACE_IOC_IT_ENABLE;
  if (random_.one_in(6))
    call.command = random_.one_in(2) ? PITRACE_IOC_IT_OFF : PITRACE_IOC_IT_REMOVE;
  if (call.command != PITRACE_IOC_IT_ON || random_.one_in(3)) return;
  // A thread of an enabled process turns itself on.
  for (const Range& range : model_.itrace.ranges)
    for (int i = 0; i < roles; ++i)
      if (static_cast<uint32_t>(model_.process[i].pid) == range.first && random_.one_in(2)) {
        role = i;
        thread = static_cast<int>(random_.below(threads_of_each));
        return;
      }
}

// Chooses a call in another process than that of its thread.
void Generator::choose_child(int role, Call& call) {
  constexpr Where list[] = {Where::forked, Where::forked, Where::same_memory, Where::executed,
                            Where::set_user};
  call = any(role);
  switch (call.kind) {
    case Kind::ioctl:
    case Kind::open:
      call.where = random_.pick(list);
      break;
    case Kind::look:
      call.where = random_.one_in(3) ? Where::same_memory : Where::forked;
      model_.describe_area(call, role);
      break;
    case Kind::map: {
      // With shared memory the mapping would remain in the parent.
      constexpr Where others[] = {Where::forked, Where::executed, Where::set_user};
      call.where = random_.pick(others);
      break;
    }
    default:
      call = Call{};
      choose_ioctl(role, call);
      call.where = random_.pick(list);
  }
  if (call.where == Where::set_user && role_table[static_cast<size_t>(role)].root())
    call.where = Where::executed;
}

bool Generator::choose_end(int& role, int& thread, Call& call) {
  int handle = 0;
  if (!find_owner(role, handle)) return false;
  call.kind = Kind::ioctl;
  call.command = random_.one_in(2) ? PITRACE_IOC_IT_REMOVE : PITRACE_IOC_OFF;
  call.handle = static_cast<uint8_t>(handle);
  thread = static_cast<int>(random_.below(threads_of_each));
  return true;
}

Call Generator::choose_change(int& role, int& thread) {
  Call call = any_change(role, thread);
  for (int i = 0;
       i < threads_of_each && !shared->bold && model_.is_followed_in_kernel(role, thread); ++i)
    thread = (thread + 1) % threads_of_each;
  if (!shared->bold && model_.is_followed_in_kernel(role, thread))
    return choose(role, thread, false);
  return call;
}

Call Generator::any_change(int& role, int& thread) {
  constexpr uint32_t free_list[] = {PITRACE_IOC_ALLOC, PITRACE_IOC_ALLOC, PITRACE_IOC_ALLOC,
                                    PITRACE_PTT_IOC_INIT, PITRACE_IOC_AI_ON};
  constexpr uint32_t init_list[] = {PITRACE_IOC_ON,       PITRACE_IOC_ON,    PITRACE_IOC_ENABLE,
                                    PITRACE_IOC_ENABLE,   PITRACE_IOC_EVENT, PITRACE_IOC_STACKS,
                                    PITRACE_IOC_COPIES,   PITRACE_IOC_RATE,  PITRACE_IOC_IT_INSTALL,
                                    PITRACE_IOC_TERMINATE};
  constexpr uint32_t on_list[] = {
      PITRACE_IOC_OFF,    PITRACE_IOC_SUSPEND, PITRACE_IOC_RESUME,     PITRACE_IOC_DISCARD,
      PITRACE_IOC_ENABLE, PITRACE_IOC_DISABLE, PITRACE_IOC_IT_INSTALL, PITRACE_IOC_IT_ENABLE,
      PITRACE_IOC_IT_ON,  PITRACE_IOC_IT_ON,   PITRACE_IOC_IT_OFF,     PITRACE_IOC_IT_REMOVE};
  constexpr uint32_t ptt_list[] = {PITRACE_PTT_IOC_TERM, PITRACE_PTT_IOC_INIT,
                                   PITRACE_PTT_IOC_INTS};
  role = choose_role();
  thread = static_cast<int>(random_.below(threads_of_each));
  Call call;
  const uint64_t dice = random_.below(24);
  if (dice < 3) {
    choose_child(role, call);
    return call;
  }
  if (dice == 3 && random_.one_in(4)) {
    role = 0;
    call.kind = Kind::parameter;
    call.number[0] = static_cast<uint64_t>(File::processor);
    call.number[1] = !model_.cpu1_online;
    return call;
  }
  if (dice == 4) return choose(role, thread, true);
  call.kind = Kind::ioctl;
  int handle = -1;
  if (dice < 7) {
    call.command = model_.ptt.active ? random_.pick(ptt_list) : uint32_t{PITRACE_PTT_IOC_INIT};
    if (!model_.ptt.active && random_.one_in(8)) call.command = PITRACE_PTT_IOC_TERM;
  } else if (!model_.session.owner) {
    call.command = random_.pick(free_list);
  } else {
    call.command =
        model_.session.state == PITRACE_TRACE_ON ? random_.pick(on_list) : random_.pick(init_list);
    const int before = role;
    if (model_.session.state == PITRACE_TRACE_ON && random_.one_in(2))
      choose_itrace_step(role, thread, call);
    if (role == before && !random_.one_in(8)) find_owner(role, handle);
  }
  if (handle < 0) {
    // Choose a user with an open trace device.
    for (int i = 0; i < roles; ++i) {
      handle = handle_of(role, false);
      const OpenFile* file = model_.process[role].handle[handle];
      if (file && !file->ptt) break;
      role = (role + 1) % roles;
    }
  }
  call.handle = static_cast<uint8_t>(handle);
  fill(role, call);
  return call;
}

}  // namespace statefuzz
