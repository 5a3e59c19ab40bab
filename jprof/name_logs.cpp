// SPDX-License-Identifier: MIT
// log-jita2n and log-jtnm of this JVM, and the hooks into a running trace that go with them.
#include "name_logs.h"

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <utility>

#include <pi/jit_log.h>
#include <pi/process_start.h>

#include "messages.h"
#include "proc_text.h"
#include "trace_hooks.h"

namespace pi::jprof {
namespace {

// The absolute path of the directory, which other processes with another working directory can use.
std::string absolute(const std::string& directory) {
  const std::unique_ptr<char, decltype(&std::free)> path(::realpath(directory.c_str(), nullptr),
                                                         &std::free);
  return path ? path.get() : directory;
}

uint64_t number_of(const void* address) {
  return reinterpret_cast<uintptr_t>(address);
}

}  // namespace

std::string log_path(const Options& options, const char* kind, uint32_t pid) {
  return absolute(options.log_path) + "/" + options.log_prefix + "-" + kind +
         (options.pid_in_names ? "_" + std::to_string(pid) : "") + options.log_suffix;
}

Status NameLogs::open(Section& section, const Options& options, const char* kind) {
  const auto opened = section.log.open(log_path(options, kind, pid_));
  if (!opened) return opened.error();
  section.again = *opened == LogFile::Opened::again;
  section.interval = 0;
  return {};
}

Status NameLogs::open(const Options& options) {
  const std::lock_guard lock(mutex_);
  code_bytes_ = options.code_bytes;
  code_.clear();
  methods_.clear();
  threads_.clear();
  carriers_.clear();
  mounts_.clear();
  mounts_waiting_ = 0;
  mounts_bytes_ = 0;
  mounts_full_ = false;
  code_log_.wanted = options.jita2n;
  thread_log_.wanted = options.thread_names;
  if (options.jita2n)
    if (const auto opened = open(code_log_, options, jit_log::jita2n_kind); !opened) return opened;
  if (options.thread_names)
    if (const auto opened = open(thread_log_, options, jit_log::jtnm_kind); !opened) {
      code_log_.log.abandon();
      return opened;
    }
  return {};
}

void NameLogs::begin(Section& section, std::string beginning, const LogHead& head) {
  if (!section.log.is_open()) return;
  if (section.again) beginning.clear();
  append_head(beginning, head);
  if (!section.log.begin(beginning, head.begun)) methods_.forget();
}

void NameLogs::begin(bool late, const std::string& jvm) {
  LogHead head;
  head.agent = JPROF_VERSION;
  head.clock_is_exact = clock_.is_exact();
  head.clock_offset = clock_.offset();
  head.pid = pid_;
  head.pid_namespace = namespace_inode("/proc/self/ns/pid");
  const uint64_t since_boot = started_since_boot("self").value_or(0);
  head.started = since_boot != 0 ? clock_.from_boot_time(since_boot) : 0;
  head.late = late;
  head.jvm = jvm;
  std::string beginning;
  append_jita2n_beginning(beginning, pid_);
  const std::lock_guard lock(mutex_);
  head.begun = now();
  begin(code_log_, beginning, head);
  begin(thread_log_, "", head);
}

void NameLogs::abandon() {
  const std::lock_guard lock(mutex_);
  for (Section* section : {&code_log_, &thread_log_})
    if (section->log.is_open()) section->log.abandon();
}

void NameLogs::end(std::string_view reason) {
  const std::lock_guard lock(mutex_);
  const uint64_t time = now();
  write_mounts();
  code_log_.log.end(reason, time);
  thread_log_.log.end(reason, time);
  code_.clear();
  threads_.clear();
}

bool NameLogs::write(Section& section, const std::string& text, uint64_t time, uint32_t interval) {
  if (interval == 0 || interval == section.interval) return section.log.append(text, time);
  std::string both;
  append_interval(both, interval);
  const bool written = section.log.append(both.append(text), time);
  if (written) section.interval = interval;
  return written;
}

// ---- code ----

std::vector<jmethodID> NameLogs::unknown_of(const Inlining& inlining) {
  std::vector<jmethodID> unknown;
  const std::lock_guard lock(mutex_);
  for (const jmethodID method : inlining.methods)
    if (unknown.empty() || !methods_.knows(method)) unknown.push_back(method);
  return unknown;
}

bool NameLogs::is_new_code(const CodeEvent& event, std::string_view name) {
  const uint64_t address = number_of(event.address);
  if (event.asked != 0)
    return code_.add_existing(address, event.size, name, event.asked, event.time);
  return code_.add(address, event.size, name, event.time);
}

bool NameLogs::number_all(const Inlining& inlining, const Facts& facts, std::string& definitions,
                          std::vector<uint32_t>& numbers) {
  auto fact = facts.begin();
  for (const jmethodID method : inlining.methods) {
    if (fact != facts.end() && fact->first == method) {
      numbers.push_back(methods_.number_of(method, fact->second, definitions));
      ++fact;
    } else if (methods_.knows(method)) {
      numbers.push_back(methods_.number_of(method));
    } else {
      return false;
    }
  }
  return true;
}

bool NameLogs::write_code(const CodeEvent& event, std::string_view name, std::string text,
                          uint32_t interval) {
  if (!code_log_.log.is_open() || !is_new_code(event, name)) return false;
  if (write(code_log_, text, event.time, interval)) return true;
  methods_.forget();
  return false;
}

void NameLogs::compiled(const CodeEvent& event, const Inlining& inlining, const Facts& facts) {
  const std::string& name = facts.front().second.name;
  const auto* code = static_cast<const uint8_t*>(event.address);
  std::string record;
  append_code(record, event.time, number_of(code), event.size,
              event.asked != 0 ? jit_log::flag_existing : 0, name,
              {code, code_bytes_ ? event.size : 0});
  const uint32_t interval = trace_interval();
  bool written;
  {
    const std::lock_guard lock(mutex_);
    if (!code_log_.log.is_open()) return;
    std::string text;
    std::vector<uint32_t> numbers;
    const bool numbered = number_all(inlining, facts, text, numbers);
    text += record;
    if (numbered) append_inlining(text, inlining.frames, inlining.ranges, numbers);
    written = write_code(event, name, std::move(text), interval);
  }
  if (written) hook_code(interval, pid_, event.time, number_of(code));
}

void NameLogs::dynamic(const CodeEvent& event, std::string_view name) {
  const auto* code = static_cast<const uint8_t*>(event.address);
  std::string text;
  append_code(text, event.time, number_of(code), event.size,
              jit_log::flag_dynamic | (event.asked != 0 ? jit_log::flag_existing : 0), name,
              {code, code_bytes_ ? event.size : 0});
  const uint32_t interval = trace_interval();
  bool written;
  {
    const std::lock_guard lock(mutex_);
    written = write_code(event, name, std::move(text), interval);
  }
  if (written) hook_code(interval, pid_, event.time, number_of(code));
}

void NameLogs::unloaded(uint64_t time, const void* address) {
  std::string text;
  append_unload(text, time, number_of(address));
  const std::lock_guard lock(mutex_);
  if (!code_log_.log.is_open()) return;
  code_.remove(number_of(address), time);
  (void)code_log_.log.append(text, time);
}

// ---- threads ----

// The hook may block, so the lock is released before.
void NameLogs::write_thread(std::unique_lock<std::mutex> lock, uint64_t time, uint32_t tid,
                            std::string_view name, bool starts) {
  const uint32_t interval = trace_interval();
  std::string text;
  append_thread(text, time, tid, name, starts);
  const bool written = write(thread_log_, text, time, interval);
  lock.unlock();
  if (written) hook_thread(interval, pid_, time, tid, starts, thread_log_name(name));
}

void NameLogs::thread_started(uint64_t time, uint32_t tid, std::string_view name) {
  std::unique_lock lock(mutex_);
  if (!thread_log_.log.is_open()) return;
  ended_.erase(tid);
  // The JVM may report the main thread's start after it was found.
  const auto [entry, is_new] = threads_.try_emplace(tid, name);
  if (!is_new && entry->second == name) return;
  entry->second = name;
  write_thread(std::move(lock), time, tid, name, true);
}

void NameLogs::thread_ended(uint64_t time, uint32_t tid, std::string_view name) {
  std::unique_lock lock(mutex_);
  if (!thread_log_.log.is_open()) return;
  threads_.erase(tid);
  if (finding_threads_) ended_.insert(tid);
  write_thread(std::move(lock), time, tid, name, false);
}

void NameLogs::begin_finding_threads() {
  const std::lock_guard lock(mutex_);
  finding_threads_ = true;
  ended_.clear();
}

void NameLogs::thread_found(uint64_t time, uint32_t tid, std::string_view name) {
  std::unique_lock lock(mutex_);
  if (!thread_log_.log.is_open() || ended_.contains(tid) || !threads_.try_emplace(tid, name).second)
    return;
  write_thread(std::move(lock), time, tid, name, true);
}

void NameLogs::end_finding_threads() {
  const std::lock_guard lock(mutex_);
  finding_threads_ = false;
  ended_.clear();
}

// Called with the lock held, as write_mounts() is.
void NameLogs::add_mount(std::string_view text, uint64_t time) {
  constexpr size_t enough = 32 << 10;
  if (mounts_waiting_ == 0) mounts_since_ = time;
  mounts_ += text;
  mounts_bytes_ += text.size();
  ++mounts_waiting_;
  if (mounts_.size() >= enough || time > mounts_since_ + mounts_delay_max) write_mounts();
}

void NameLogs::write_mounts() {
  if (mounts_waiting_ != 0)
    (void)thread_log_.log.append(mounts_, mounts_since_, std::exchange(mounts_waiting_, 0));
  mounts_.clear();
}

void NameLogs::mounted(uint64_t time, uint32_t tid, std::string_view name) {
  std::string text;
  append_mount(text, time, tid, name);
  const std::lock_guard lock(mutex_);
  if (!thread_log_.log.is_open()) return;
  if (mounts_bytes_ + text.size() > mounts_bytes_max) {
    if (!std::exchange(mounts_full_, true))
      say("'" + thread_log_.log.path() + "' has " + std::to_string(mounts_bytes_max >> 20) +
          " MB of virtual threads: from now on it has only the names of their carriers. The JVM "
          "continues");
    return;
  }
  carriers_.insert(tid);
  add_mount(text, time);
}

// Also when no more mounts are recorded: else the thread would keep the name of the last one.
void NameLogs::unmounted(uint64_t time, uint32_t tid) {
  std::string text;
  append_unmount(text, time, tid);
  const std::lock_guard lock(mutex_);
  if (thread_log_.log.is_open() && carriers_.erase(tid) != 0) add_mount(text, time);
}

void NameLogs::lose(uint64_t time) {
  const std::lock_guard lock(mutex_);
  for (Section* section : {&code_log_, &thread_log_})
    if (section->log.is_open()) section->log.lose(ENOMEM, time);
}

std::string NameLogs::summary(bool counted) {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const Section* section : {&code_log_, &thread_log_}) {
    const NameLog& log = section->log;
    if (!section->wanted) continue;
    text += (text.empty() ? "'" : ", '") + log.path() + "'";
    if (counted) text += ": " + std::to_string(log.written()) + " events";
    if (counted && log.lost() != 0) text += " and " + std::to_string(log.lost()) + " lost";
  }
  return text;
}

}  // namespace pi::jprof
