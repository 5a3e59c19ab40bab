// SPDX-License-Identifier: MIT
// Processes, threads and their names by time.
#include "processes.h"

#include "labels.h"

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
  symbolizer_.create(time, process.pid);
}

void Processes::rename(Process& process, NameId name) {
  process.name = name;
  process.names_version = ++last_version_;
  // The main thread's name and the process's are one and the same; this is the newer one.
  threads_.erase(process.pid);
}

bool Processes::apply(const pi::RecordView& record, uint64_t time) {
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
    default:
      // Ends of processes and threads change nothing: ticks may follow them. Others are not ours.
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
  } else {
    threads_[name.tid] = {name.pid, id};
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
  // A new thread; a thread id used again has no name of its own yet.
  ensure(process, time);
  if (threads_.erase(link.other) != 0) process.names_version = ++last_version_;
  return record.int_count() >= 2;
}

void Processes::begin_image(Process& process, uint64_t time) {
  ensure(process, time);
  symbolizer_.exec(time, process.pid);
  rename(process, process.name);
  process.maps_version = std::make_shared<uint32_t>(++last_version_);
}

bool Processes::apply_parent(const pi::LinkEntry& link, uint64_t time) {
  if (link.pid == link.other) return false;
  Process& child = entry(link.pid);
  if (link.flags == PITRACE_PARENT_EXISTING) {
    ensure(child, time);
    return true;
  }
  Process& parent = entry(link.other);
  ensure(parent, time);
  child.known = true;
  rename(child, process_name(parent));
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
