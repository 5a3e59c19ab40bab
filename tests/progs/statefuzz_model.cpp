// SPDX-License-Identifier: MIT
// statefuzz's model of the module's state, and the effects of a successful call.
#include "statefuzz_model.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace statefuzz {

std::string Expectation::text() const {
  std::string text;
  for (const int error : errors_) text += (text.empty() ? "" : " or ") + std::to_string(error);
  return text;
}

Caller Model::caller(const Call& call, int role, int thread) const {
  const Role& user = role_table[static_cast<size_t>(role)];
  Caller by{};
  by.role = role;
  by.thread = thread;
  by.where = call.where;
  by.capable = user.root() || call.where == Where::set_user;
  by.euid = by.capable ? 0 : user.uid;
  by.member = user.member;
  by.memory = call.where == Where::self || call.where == Where::same_memory ? process[role].pid : 0;
  by.own_thread = call.where == Where::self;
  by.file = process[role].handle[call.handle];
  return by;
}

// ---- files and their references ----

void Model::put(OpenFile* file) {
  if (!file || --file->references) return;
  if (session.owner == file) terminate();
  if (file->ai) --ai_users;
  if (ptt.active && ptt.owner == file) stop_ptt();
  for (Process& each : process)
    for (Thread& thread : each.thread)
      if (thread.slot == file) thread.slot = nullptr;
  files_.remove_if([file](const OpenFile& each) { return &each == file; });
}

void Model::set_handle(int role, int handle, OpenFile* file) {
  OpenFile* old = process[role].handle[handle];
  if (file) ++file->references;
  process[role].handle[handle] = file;
  put(old);
}

void Model::drop_area(Area& area) {
  OpenFile* file = area.file;
  area = Area{};
  put(file);
}

void Model::begin(int role, pid_t pid) {
  process[role] = Process{};
  process[role].alive = true;
  process[role].pid = pid;
  ptt.begun += threads_of_each;
}

void Model::end(int role) {
  Process& gone = process[role];
  gone.alive = false;
  // The kernel drops mappings first, then descriptors.
  for (Area& area : gone.area) drop_area(area);
  for (int handle = 0; handle < handles; ++handle) set_handle(role, handle, nullptr);
  for (Thread& thread : gone.thread) thread = Thread{};
}

// ---- facilities of the module ----

void Model::stop_following() {
  itrace.on = false;
  for (Process& each : process)
    for (Thread& thread : each.thread) thread.followed = Maybe::no;
}

void Model::trace_ends() {
  session.state = PITRACE_TRACE_INIT;
  session.suspended = false;
  stop_following();
}

void Model::terminate() {
  if (session.state == PITRACE_TRACE_ON) trace_ends();
  stop_following();
  itrace.installed = false;
  itrace.ranges.clear();
  const uint32_t interval_id = session.interval_id;
  session = Session{};
  session.interval_id = interval_id;
}

void Model::stop_ptt() {
  ptt.active = false;
  ptt.owner = nullptr;
  ptt.keep = false;
  ptt.has_last = Maybe::yes;
  for (Process& each : process)
    for (Thread& thread : each.thread) thread.slot = nullptr;
}

void Model::set_majors(uint32_t major, bool on) {
  if (major == PITRACE_MAJOR_ALL) {
    session.enabled.reset();
    for (uint32_t i = 1; on && i <= PITRACE_MAJOR_MAX; ++i) session.enabled.set(i);
  } else if (major == PITRACE_MAJOR_TPROF_SET) {
    session.enabled.set(PITRACE_MAJOR_TPROF, on);
    session.enabled.set(PITRACE_MAJOR_MTE, on);
  } else {
    session.enabled.set(major, on);
  }
}

// ---- calls ----

bool Model::changes_state(const Call& call) const {
  switch (call.kind) {
    case Kind::look:
    case Kind::compare:
    case Kind::poll:
    case Kind::poke:
    case Kind::pause:
      return false;
    case Kind::ioctl:
      switch (call.command) {
        case PITRACE_IOC_INFO:
        case PITRACE_IOC_HOOK:
        case PITRACE_IOC_CONSUMED:
        case PITRACE_IOC_PROBE:
        case PITRACE_IOC_AI_READ:
        case PITRACE_IOC_IT_INFO:
        case PITRACE_IOC_DISCARD:
        case PITRACE_PTT_IOC_DUMP:
        case PITRACE_PTT_IOC_INFO:
        case PITRACE_PTT_IOC_READ:
          return false;
        default:
          return true;
      }
    default:
      return true;
  }
}

void Model::apply_itrace(const Call& call, const Caller& by) {
  switch (call.command) {
    case PITRACE_IOC_IT_INSTALL: {
      const auto wanted = argument<pitrace_itrace>(call);
      itrace = ITrace{};
      itrace.installed = true;
      itrace.flags = wanted.flags | PITRACE_ITRACE_RING;
      itrace.few_threads = wanted.threads && wanted.threads < 1000;
      return;
    }
    case PITRACE_IOC_IT_REMOVE:
      stop_following();
      itrace.installed = false;
      return;
    case PITRACE_IOC_IT_ENABLE: {
      const auto pids = argument<pitrace_itrace_pids>(call);
      const auto self = static_cast<uint32_t>(process[by.role].pid);
      const bool own = by.own_thread && pids.first == self && pids.last == self;
      const Range range{pids.first, pids.last, !own && by.capable};
      for (const Range& known : itrace.ranges)
        if (known.first == range.first && known.last == range.last &&
            known.lasting == range.lasting)
          return;
      itrace.ranges.push_back(range);
      return;
    }
    case PITRACE_IOC_IT_DISABLE:
      itrace.ranges.clear();
      return;
    case PITRACE_IOC_IT_ON:
      if (argument<uint32_t>(call) == PITRACE_ITRACE_ALL) {
        itrace.on = true;
        for (Process& each : process)
          if (each.alive && is_enabled(each.pid))
            for (Thread& thread : each.thread)
              if (thread.followed == Maybe::no) thread.followed = Maybe::perhaps;
      } else if (by.own_thread) {
        // A full buffer ends tracing.
        process[by.role].thread[by.thread].followed =
            session.mode == PITRACE_MODE_NORMAL ? Maybe::perhaps : Maybe::yes;
      }
      return;
    case PITRACE_IOC_IT_OFF:
      if (argument<uint32_t>(call) == PITRACE_ITRACE_ALL)
        stop_following();
      else if (by.own_thread)
        process[by.role].thread[by.thread].followed = Maybe::no;
      return;
    default:
      return;
  }
}

void Model::apply_ptt(const Call& call, const Caller& by, int error) {
  Thread& thread = process[by.role].thread[by.thread];
  switch (call.command) {
    case PITRACE_PTT_IOC_INIT:
      if (ptt.active) stop_ptt();
      ptt.setup = argument<pitrace_ptt_init>(call);
      ptt.has_last = Maybe::no;
      ptt.ints_now = ptt.ints;
      if (error) return;
      ptt.active = true;
      ++ptt.instance;
      ptt.keep = ptt.setup.flags & PITRACE_PTT_KEEP;
      ptt.owner = ptt.keep ? nullptr : by.file;

      ptt.begun = roles * threads_of_each;
      return;
    case PITRACE_PTT_IOC_TERM:
      stop_ptt();
      return;
    case PITRACE_PTT_IOC_INTS:
      ptt.ints = argument<uint32_t>(call) != 0;
      return;
    case PITRACE_PTT_IOC_ATTACH:
      // The slot may have been taken although its offset could not be returned.
      if (error && error != EFAULT) {
        if (error == EALREADY || error == EACCES || error == ENOSPC) by.file->pages = 1;
        return;
      }
      by.file->pages = 1;
      if (!by.own_thread) return;
      thread.slot = by.file;
      thread.offset_known = false;
      thread.recredited = false;
      return;
    case PITRACE_PTT_IOC_DETACH:
      if (by.own_thread) thread.slot = nullptr;
      return;
    default:
      return;
  }
}

void Model::apply_ioctl(const Call& call, const Caller& by, int error) {
  if (_IOC_NR(call.command) >= 0x50) {
    if (!error || call.command == PITRACE_PTT_IOC_ATTACH ||
        (call.command == PITRACE_PTT_IOC_INIT &&
         (error == ENOENT || error == EOPNOTSUPP || error == EACCES)))
      apply_ptt(call, by, error);
    return;
  }
  if (error) {
    // A trace that fails to start has still ended its interval.
    if (call.command == PITRACE_IOC_ON && by.file == session.owner && error != EALREADY)
      ++session.interval_id;

    return;
  }
  if (_IOC_NR(call.command) >= 0x40) return apply_itrace(call, by);
  switch (call.command) {
    case PITRACE_IOC_ALLOC: {
      const auto alloc = argument<pitrace_alloc>(call);
      session.owner = by.file;
      session.owner_pid = by.own_thread ? process[by.role].pid : 0;
      session.owner_pid_known = by.own_thread;
      session.state = PITRACE_TRACE_INIT;
      session.mode = alloc.mode;
      session.rate = PITRACE_RATE_DEFAULT;
      session.section = alloc.section_bytes;
      session.bytes[0] = (alloc.trace_bytes + 4095) & ~4095ull;
      session.bytes[1] = (alloc.mte_bytes + 4095) & ~4095ull;
      session.enabled.reset();
      session.suspended = false;
      session.buffers_of_cpu1 = cpu1_online;
      return;
    }
    case PITRACE_IOC_ON:
      session.state = PITRACE_TRACE_ON;
      ++session.interval_id;
      return;
    case PITRACE_IOC_OFF:
      return trace_ends();
    case PITRACE_IOC_TERMINATE:
      return terminate();
    case PITRACE_IOC_ENABLE:
    case PITRACE_IOC_DISABLE:
      return set_majors(argument<uint32_t>(call), call.command == PITRACE_IOC_ENABLE);
    case PITRACE_IOC_RATE:
      session.rate = argument<uint32_t>(call);
      return;
    case PITRACE_IOC_SUSPEND:
      session.suspended = true;
      return;
    case PITRACE_IOC_RESUME:
      session.suspended = false;
      return;
    case PITRACE_IOC_EVENT:
      session.has_other_event = argument<pitrace_event>(call).type != PITRACE_EVENT_TIME;
      return;
    case PITRACE_IOC_COPIES:
      return session.set_copies(argument<pitrace_copies>(call), cpu1_online);
    case PITRACE_IOC_AI_ON:
      by.file->ai = true;
      ++ai_users;
      return;
    case PITRACE_IOC_AI_OFF:
      by.file->ai = false;
      --ai_users;
      return;
    default:
      return;
  }
}

void Model::apply_map(const Call& call, const Caller& by) {
  Area& area = process[by.role].area[call.other];
  ++by.file->references;
  drop_area(area);
  area.file = by.file;
  area.length = (call.number[1] + 4095) & ~4095ull;
  area.accessible = call.number[2] & PROT_READ;
  if (by.file->ptt) {
    area.content = Content::slots;
  } else if (call.number[0] == PITRACE_MMAP_HOOK_PAGE) {
    area.content = Content::hook_page;
  } else {
    area.content = Content::buffer;
    area.kind = static_cast<uint32_t>(call.number[0] >> 48) - 1;
    area.cpu = static_cast<uint32_t>(call.number[0] >> 32) & 0xffff;
    area.data_size = session.bytes[area.kind];
  }
}

void Model::apply(const Call& call, int role, int thread, int error) {
  const Caller by = caller(call, role, thread);
  if (call.where != Where::self) {
    ++ptt.begun;
    // Files and mappings of a child end with it.
    if (call.kind != Kind::ioctl) return;
  }
  if (call.kind == Kind::ioctl) {
    if (by.file) apply_ioctl(call, by, error);
    return;
  }
  if (error) return;
  Process& own = process[role];
  Area& area = own.area[call.other % areas];
  switch (call.kind) {
    case Kind::open: {
      OpenFile& file = files_.emplace_back();
      file.ptt = call.command == 1;
      file.memory = by.memory;
      file.uid = by.euid;
      file.sees = sees(by);
      const auto access = call.number[0] & O_ACCMODE;
      file.readable = access != O_WRONLY;
      file.writable = access != O_RDONLY;
      return set_handle(role, call.handle, &file);
    }
    case Kind::close:
      return set_handle(role, call.handle, nullptr);
    case Kind::duplicate:
      return set_handle(role, call.other, by.file);
    case Kind::map:
      return apply_map(call, by);
    case Kind::unmap:
      return drop_area(area);
    case Kind::protect:
      area.accessible = call.number[0] & PROT_READ;
      return;
    case Kind::remap:
      area.length = (call.number[0] + 4095) & ~4095ull;
      return;
    case Kind::advise:
      if (call.number[0] == MADV_DONTNEED && area.content != Content::slots) area.stale = true;
      return;
    case Kind::send: {
      const auto to = static_cast<size_t>(call.number[0]);
      ++by.file->references;
      mail[to].push_back(by.file);
      return;
    }
    case Kind::receive: {
      OpenFile* file = mail[role].front();
      mail[role].pop_front();
      set_handle(role, call.handle, file);
      --file->references;
      return;
    }
    case Kind::credentials:
      own.thread[thread].recredited = own.thread[thread].slot;
      return;
    case Kind::parameter: {
      const auto value = static_cast<int64_t>(call.number[1]);
      switch (static_cast<File>(call.number[0])) {
        case File::paranoid:
          paranoid = static_cast<int>(value);
          return;
        case File::group:
          group = value;
          return;
        case File::pages:
          pages_limit = static_cast<uint32_t>(value);
          return;
        case File::processor:
          cpu1_online = value;
          if (value && session.owner) session.buffers_of_cpu1 = true;
          session.copies_of_cpu1 |= value && session.bytes[2];
          return;
        default:
          return;
      }
    }
    default:
      return;
  }
}

void Model::learn(const Call& call, int role, int thread, const Result& result) {
  if (call.kind != Kind::ioctl || result.error) return;
  if (call.command == PITRACE_PTT_IOC_ATTACH && call.where == Where::self) {
    Thread& own = process[role].thread[thread];
    std::memcpy(&own.offset, result.payload, sizeof own.offset);
    own.offset_known = own.slot;
  } else if (call.command == PITRACE_IOC_ALLOC && call.where != Where::self) {
    session.owner_pid = result.pid;
    session.owner_pid_known = session.owner;
  }
}

// Returns whether dropping the last reference to this file ends a facility of the module.
bool Model::ends_with(const OpenFile* file) const {
  if (!file || file->references > 1) return false;
  return file == session.owner || file == ptt.owner || file->ai || file->pages;
}

bool Model::is_followed_in_kernel(int role, int thread) const {
  return process[role].thread[thread].followed != Maybe::no &&
         !(itrace.flags & PITRACE_ITRACE_NO_KERNEL);
}

bool Model::follows_kernel() const {
  for (int role = 0; role < roles; ++role)
    for (int thread = 0; thread < threads_of_each; ++thread)
      if (is_followed_in_kernel(role, thread)) return true;
  return false;
}

bool Model::is_costly(const Call& call, int role, int) const {
  if (call.where != Where::self) return true;
  const Process& own = process[role];
  switch (call.kind) {
    case Kind::open:
    case Kind::close:
    case Kind::receive:
      return ends_with(own.handle[call.handle]);
    case Kind::duplicate:
      return ends_with(own.handle[call.other]);
    case Kind::map:
    case Kind::unmap:
      return ends_with(own.area[call.other].file);
    case Kind::parameter:
      return static_cast<File>(call.number[0]) == File::processor;
    case Kind::ioctl:
      switch (call.command) {
        case PITRACE_IOC_ENABLE:
        case PITRACE_IOC_DISABLE:
          return session.state == PITRACE_TRACE_ON;
        case PITRACE_IOC_AI_ON:
          return !ai_users;
        case PITRACE_IOC_AI_OFF:
          return ai_users == 1;
        case PITRACE_IOC_ON:
        case PITRACE_IOC_OFF:
        case PITRACE_IOC_TERMINATE:
        case PITRACE_IOC_ALLOC:
        case PITRACE_IOC_SUSPEND:
        case PITRACE_IOC_RESUME:
        case PITRACE_IOC_DISCARD:
        case PITRACE_IOC_EVENT:
        case PITRACE_IOC_IT_INSTALL:
        case PITRACE_IOC_IT_REMOVE:
        case PITRACE_IOC_IT_ON:
        case PITRACE_IOC_IT_OFF:
        case PITRACE_PTT_IOC_INIT:
        case PITRACE_PTT_IOC_TERM:
          return true;
        default:
          return false;
      }
    default:
      return false;
  }
}

}  // namespace statefuzz
