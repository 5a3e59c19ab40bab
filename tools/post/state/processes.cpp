// SPDX-License-Identifier: MIT
// Keeps processes, threads and their names by time.
#include "processes.h"

#include <algorithm>
#include <cstddef>

#include "read/budgets.h"
#include "text/labels.h"

namespace post {

Processes::Processes(Symbolizer& symbolizer, StringTable& names)
    : symbolizer_(symbolizer), names_(names) {}

void Processes::add_fallback_name(uint32_t pid, std::string_view name) {
  fallback_names_.try_emplace(pid, names_.intern(name));
}

Process& Processes::entry(uint32_t pid) {
  const auto [place, added] = processes_.try_emplace(pid);
  if (added) {
    place->second.pid = pid;
    place->second.names_version = ++last_version_;
    place->second.maps_version = std::make_shared<uint32_t>(++last_version_);
  }
  return place->second;
}

const Process& Processes::find_slowly(uint32_t pid) {
  const Process& process = entry(pid);
  recent_[pid % recent_.size()] = &process;
  return process;
}

NameId Processes::process_name(const Process& process) const {
  if (process.name != no_name) return process.name;
  const auto fallback = fallback_names_.find(process.pid);
  return fallback == fallback_names_.end() ? no_name : fallback->second;
}

NameId Processes::thread_name(const Process& process, uint32_t tid) const {
  if (process.pid == idle_pid || process.pid == exited_pid) return no_name;
  const auto own = threads_.find(tid);
  if (own != threads_.end() && own->second.pid == process.pid) return own->second.name;
  return process_name(process);
}

void Processes::ensure(Process& process, uint64_t time) {
  if (process.known) return;
  process.known = true;
  begin_lifetime(process, 0);
  symbolizer_.create(time, process.pid);
}

void Processes::begin_lifetime(Process& process, uint32_t parent) {
  process.lifetime = &lifetimes_.emplace_back();
  process.lifetime->pid = process.pid;
  process.jit_dumps = 0;
  process.threads = 0;
  process.exec = 0;
  process.lifetime->parent = parent;
  reset_runtime(process);
}

// The logs are searched again before the next tick.
void Processes::reset_runtime(Process& process) {
  process.runtime_applied_until = 0;
  process.runtime_logs_searched = false;
  process.starts.clear();
  process.starts_applied = 0;
}

// Applies the JIT and thread-name events of the runtime up to time.
void Processes::apply_runtime_events(uint32_t pid, uint64_t time) {
  if (before_change_) before_change_();
  Process& process = entry(pid);
  if (!process.runtime_logs_searched) search_runtime_logs(process);
  size_t& applied = process.starts_applied;
  for (; applied < process.starts.size() && process.starts[applied].time <= time; ++applied)
    name_thread(process, process.starts[applied]);
  const uint64_t code = symbolizer_.next_code_change(time, pid);
  process.runtime_applied_until =
      applied == process.starts.size() ? code : std::min(code, process.starts[applied].time);
  *process.maps_version = ++last_version_;
}

void Processes::search_runtime_logs(Process& process) {
  process.runtime_logs_searched = true;
  if (process.pid == idle_pid || process.pid == exited_pid || !process.lifetime) return;
  const ProcessLifetime& lifetime = *process.lifetime;
  const ProcessIds ids{process.pid, lifetime.inner_pid, lifetime.pid_namespace};
  symbolizer_.look_for_logs(ids);
  process.starts = symbolizer_.thread_starts(ids);
  if (lifetime.inner_pid == 0) return;
  std::map<uint32_t, uint32_t> outer{{lifetime.inner_pid, process.pid}};
  for (const auto& [tid, inner] : lifetime.inner_threads) outer.emplace(inner, tid);
  for (pi::ThreadStart& start : process.starts) {
    const auto known = outer.find(start.tid);
    start.tid = known == outer.end() ? 0 : known->second;
  }
}

void Processes::name_thread(Process& process, const pi::ThreadStart& start) {
  if (start.tid == 0) return;
  threads_[start.tid] = {process.pid, names_.intern(start.name), true};
  process.names_version = ++last_version_;
}

void Processes::rename(Process& process, NameId name) {
  process.name = name;
  process.lifetime->name = name;
  process.names_version = ++last_version_;
  // The main thread's name is the process's name; this is the newer one.
  threads_.erase(process.pid);
}

bool Processes::apply(const pi::RecordView& record, uint64_t time) {
  if (!ended_.empty()) release_ended_before(time);
  switch (record.minor()) {
    case PITRACE_MTE_MODULE:
      return apply_module(record, time);
    case PITRACE_MTE_NAME:
    case PITRACE_MTE_THREAD_NAME:
      return apply_name(record, time);
    case PITRACE_MTE_PARENT:
    case PITRACE_MTE_CREATE:
    case PITRACE_MTE_CREATE_THREAD:
      return apply_link(record, time);
    case PITRACE_MTE_NAMESPACE_IDS:
      return apply_inner(record, time);
    case PITRACE_MTE_CGROUP:
      return apply_cgroup(record, time);
    case PITRACE_MTE_JITTED:
      if (record.int_count() < PITRACE_JITTED_INTS) return false;
      symbolizer_.expect_log(record.int_at(PITRACE_JITTED_PID));
      return true;
    case PITRACE_MTE_KILL:
    case PITRACE_MTE_KILL_THREAD:
      return apply_end(record, time);
    default:
      // An unmapped address keeps its name until something else is mapped there: not every source
      // records unmapping. Other minors do not concern names.
      return true;
  }
}

bool Processes::apply_module(const pi::RecordView& record, uint64_t time) {
  pi::ModuleEntry module;
  if (!pi::decode_module(record, module)) return false;
  if (module.pid == idle_pid && module.size == 0) return true;  // announces the kernel
  Process& process = entry(module.pid);
  ensure(process, time);
  if (!symbolizer_.add_module(time, module)) return false;
  if (is_jit_dump(std::string(module.name)) && process.jit_dumps++ < budgets::jit_dumps_of_process)
    reset_runtime(process);
  *process.maps_version = ++last_version_;
  return true;
}

bool Processes::apply_name(const pi::RecordView& record, uint64_t time) {
  pi::NameEntry name;
  if (!pi::decode_name(record, name)) return false;
  Process& process = entry(name.pid);
  ensure(process, time);
  const NameId id = names_.intern(name.name);
  if (record.minor() == PITRACE_MTE_NAME) {
    symbolizer_.set_name(time, name.pid, name.name);
    rename(process, id);
    process.lifetime->bits = name.is_32_bit ? 32 : 64;
  } else {
    Thread& thread = threads_[name.tid];
    if (thread.by_runtime && thread.pid == name.pid) return true;
    thread = {name.pid, id, false};
    process.names_version = ++last_version_;
  }
  return true;
}

bool Processes::apply_link(const pi::RecordView& record, uint64_t time) {
  pi::LinkEntry link;
  if (!pi::decode_link(record, link)) return false;
  if (record.minor() == PITRACE_MTE_PARENT)
    return record.int_count() >= 2 && apply_parent(link, time);
  Process& process = entry(link.pid);
  if (record.minor() == PITRACE_MTE_CREATE) {
    begin_image(process, time);
    return true;
  }
  ensure(process, time);
  begin_thread(process, link.other, link.creator, time);
  return record.int_count() >= 2;
}

// A new thread has the name of its creator, and keeps it when the creator is renamed. If the
// creator is not known, or a thread id is reused, the thread has no name until a record
// names it.
void Processes::begin_thread(Process& process, uint32_t tid, uint32_t creator, uint64_t time) {
  if (tid != process.pid) ++process.threads;
  const NameId before = thread_name(process, tid);
  const NameId name = creator == 0 ? no_name : thread_name(process, creator);
  if (name == no_name)
    threads_.erase(tid);
  else
    threads_[tid] = {process.pid, name, false};
  // The runtime reports a thread soon after its start, not at its start.
  constexpr uint64_t soon = 1'000'000'000;
  const auto& starts = process.starts;
  auto start = std::lower_bound(
      starts.begin(), starts.end(), time,
      [](const pi::ThreadStart& a, uint64_t earliest) { return a.time < earliest; });
  for (; start != starts.end() && start->time - time < soon; ++start)
    if (start->tid == tid) return name_thread(process, *start);
  if (thread_name(process, tid) != before) process.names_version = ++last_version_;
}

bool Processes::apply_cgroup(const pi::RecordView& record, uint64_t time) {
  pi::CgroupEntry cgroup;
  if (!pi::decode_cgroup(record, cgroup)) return false;
  Process& process = entry(cgroup.pid);
  ensure(process, time);
  process.cgroup = names_.intern(cgroup.path);
  process.names_version = ++last_version_;
  return true;
}

bool Processes::apply_inner(const pi::RecordView& record, uint64_t time) {
  pi::NamespaceIdsEntry ids;
  if (!pi::decode_namespace_ids(record, ids)) return false;
  Process& process = entry(ids.pid);
  ensure(process, time);
  ProcessLifetime& lifetime = *process.lifetime;
  // The names of its logs contain its id in the PID namespace.
  if (ids.pid_inside != lifetime.inner_pid) reset_runtime(process);
  lifetime.pid_namespace = ids.pid_namespace;
  lifetime.inner_pid = ids.pid_inside;
  if (ids.tid != ids.pid && ids.tid_inside != 0)
    lifetime.inner_threads.insert_or_assign(ids.tid, ids.tid_inside);
  return true;
}

// Ticks of the process may follow.
bool Processes::apply_end(const pi::RecordView& record, uint64_t time) {
  pi::LinkEntry link;
  if (!pi::decode_link(record, link)) return false;
  const auto known = processes_.find(link.pid);
  if (known == processes_.end() || !known->second.lifetime) return true;
  // perf reports the end of the first thread like that of the process, and others may run on: the
  // last thread ends it.
  Process& process = known->second;
  const bool of_process = record.minor() == PITRACE_MTE_KILL;
  if (!of_process && link.other != link.pid && process.threads != 0) --process.threads;
  uint64_t& end = process.lifetime->end;
  if (!of_process && end == 0) return true;
  end = std::max(end, time);
  if (releases_ended_) ended_.push_back({process.pid, end});
  return true;
}

// A process that ran before the trace may have threads of which nothing is known, and one that has
// lost its first thread may run on with others, or exec.
void Processes::release_ended_before(uint64_t time) {
  constexpr uint64_t late = 1'000'000'000;  // nanoseconds for ticks after the end
  for (; !ended_.empty() && ended_.front().time + late < time; ended_.pop_front()) {
    const Process& process = processes_.find(ended_.front().pid)->second;
    if (process.lifetime->end == ended_.front().time && process.lifetime->start != 0 &&
        process.exec <= process.lifetime->end && process.threads == 0)
      symbolizer_.release(process.pid);
  }
}

void Processes::begin_image(Process& process, uint64_t time) {
  ensure(process, time);
  if (process.lifetime->exec == 0) process.lifetime->exec = time;
  process.threads = 0;
  process.exec = time;
  symbolizer_.exec(time, process.pid);
  rename(process, process.name);
  process.maps_version = std::make_shared<uint32_t>(++last_version_);
}

bool Processes::apply_parent(const pi::LinkEntry& link, uint64_t time) {
  if (link.pid == link.other) return false;
  Process& child = entry(link.pid);
  if (link.flags == PITRACE_PARENT_EXISTING) {
    ensure(child, time);
    // If the fork was recorded, this may be the reaper that adopted the process after its parent's
    // exit.
    if (child.lifetime->parent == 0) child.lifetime->parent = link.other;
    return true;
  }
  Process& parent = entry(link.other);
  ensure(parent, time);
  const uint32_t bits = parent.lifetime->bits;
  child.known = true;
  begin_lifetime(child, link.other);
  child.lifetime->bits = bits;
  child.lifetime->start = time;
  child.cgroup = parent.cgroup;
  // The child has the name of the thread that forked it.
  rename(child, link.creator == 0 ? process_name(parent) : thread_name(parent, link.creator));
  if (link.flags == PITRACE_PARENT_CLONE) {
    symbolizer_.clone(time, link.other, link.pid);
    child.maps_version = parent.maps_version;
  } else {
    symbolizer_.fork(time, link.other, link.pid);
    child.maps_version = std::make_shared<uint32_t>(++last_version_);
  }
  return true;
}

}  // namespace post
