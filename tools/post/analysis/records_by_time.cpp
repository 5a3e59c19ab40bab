// SPDX-License-Identifier: MIT
// Sums ticks and the states of threads by time, thread and stack.
#include "records_by_time.h"

#include <algorithm>

#include "hooks_by_time.h"
#include "read/merge.h"
#include "text/text.h"

namespace post {
namespace {

using Kind = RecordSum::Kind;

}  // namespace

RecordsByTime::RecordsByTime(Processes& processes, Symbolizer& symbolizer, StringTable& names,
                             Options options, Output& output)
    : processes_(processes),
      symbolizer_(symbolizer),
      names_(names),
      options_(options),
      output_(output),
      frames_(symbolizer, names, options.frames, options.source, options.cache_entries),
      threads_(processes, symbolizer, names,
               {.frames = options.frames,
                .source = options.source,
                .cache_entries = options.threads ? options.cache_entries : 1,
                .filter = options.filter,
                .intervals = this}),
      thread_names_(options.cache_entries / 4),
      line_at_(options.cache_entries) {}

size_t RecordsByTime::KeyHash::operator()(const RecordSum::Key& key) const {
  uint64_t hash = 0;
  for (const uint64_t part :
       {uint64_t{key.stack} << 32 | key.line, uint64_t{key.pid} << 32 | key.tid,
        uint64_t{key.process} << 32 | key.thread,
        uint64_t{key.cgroup} << 32 | uint64_t{key.reason} << 8 | static_cast<uint64_t>(key.kind)})
    hash = (hash ^ part) * 0x9e3779b97f4a7c15ull, hash ^= hash >> 32;
  return hash;
}

bool RecordsByTime::take(const Arrival& arrival) {
  const pi::RecordView& record = arrival.record();
  now_ = arrival.time();
  if (arrival.tick_selected) add_tick(arrival);
  if (epoch_ == 0) epoch_ = epoch_in(record, now_).value_or(0);
  if (!options_.threads) return true;
  cpu_ = arrival.stream.cpu();
  const bool taken = threads_.take(arrival);
  if (options_.events && arrival.in_range && HooksByTime::is_hook(record))
    if (const NamedThread thread = named(threads_.running(cpu_));
        thread.exists() || options_.filter == nullptr)
      output_.add(UserHook{now_, cpu_, thread, record});
  return taken;
}

void RecordsByTime::add_tick(const Arrival& arrival) {
  const pi::TprofTick& tick = *arrival.tick;
  const Process& process = processes_.at(tick.pid, now_);
  const ThreadNames& names = names_of(process, tick.tid);
  const uint32_t place = frames_.put_tick(stack_tree_, PathTree::root, tick, arrival.record(),
                                          process, now_, counts_, arrival.user_frames);
  put({Kind::tick, RecordSum::no_reason, tick.pid, tick.tid, names.process, names.thread,
       names.cgroup, 2 * place, options_.lines ? line_at(process, tick, now_) : 0},
      arrival.stream.cpu(), now_, 0);
}

void RecordsByTime::add(uint32_t thread, OffCpu::ThreadState state, uint32_t cpu, uint32_t wait,
                        uint64_t from, uint64_t to) {
  const OffCpu::Thread& facts = threads_.thread(thread);
  if (!facts.selected || state == OffCpu::ThreadState::unknown) return;
  RecordSum::Key key;
  const bool running = state == OffCpu::ThreadState::running;
  key.kind = running                                  ? Kind::running
             : state == OffCpu::ThreadState::runnable ? Kind::runnable
                                                      : Kind::blocked;
  if (running) {
    if (leaving_.thread == thread && leaving_.time == to) key.reason = leaving_.reason;
  } else if (wait != OffCpu::no_wait) {
    const OffCpu::Wait& waited = threads_.waits()[wait];
    key.reason = waited.reason;
    if (waited.stack != PathTree::root) key.stack = 2 * waited.stack + 1;
  }
  key.pid = facts.pid;
  key.tid = facts.tid;
  if (facts.has_pid) {
    const ThreadNames& names = names_of(processes_.at(facts.pid, now_), facts.tid);
    key.process = names.process;
    key.thread = names.thread;
    key.cgroup = names.cgroup;
  }
  put(key, running ? cpu : RecordSum::no_cpu, to, to - from);
}

// Without names where the process is not known.
NamedThread RecordsByTime::named(uint32_t thread) {
  if (thread == OffCpu::idle) return {.tid = 0};
  if (thread >= OffCpu::first_special || !threads_.thread(thread).selected) return {};
  const OffCpu::Thread& facts = threads_.thread(thread);
  if (!facts.has_pid) return {.tid = facts.tid};
  const ThreadNames& names = names_of(processes_.at(facts.pid, now_), facts.tid);
  return {facts.pid, facts.tid, names.process, names.thread};
}

void RecordsByTime::dispatch(uint32_t cpu, uint32_t thread, uint64_t time) {
  if (!options_.events) return;
  uint32_t& before = running_[cpu].thread;
  ThreadSwitch event{.time = time, .cpu = cpu, .from = named(before), .to = named(thread)};
  if (leaving_.thread == before && leaving_.time == time) event.reason = leaving_.reason;
  before = thread;
  output_.add(event);
}

void RecordsByTime::wake(uint32_t thread, uint32_t waker, uint64_t time) {
  if (!options_.events) return;
  const ThreadWake event{time, cpu_, named(thread), named(waker)};
  if (event.thread.exists()) output_.add(event);
}

const RecordsByTime::ThreadNames& RecordsByTime::names_of(const Process& process, uint32_t tid) {
  return thread_names_.at({process.names_version, tid}, [&] {
    const std::string& name = names_.text(processes_.process_name(process));
    return ThreadNames{
        names_.intern(process_label(process.pid, name, 0, {.process_names_only = true})),
        names_.intern(printable(names_.text(processes_.thread_name(process, tid)))),
        process.cgroup == no_name ? no_name
                                  : names_.intern(printable(names_.text(process.cgroup)))};
  });
}

uint32_t RecordsByTime::line_at(const Process& process, const pi::TprofTick& tick, uint64_t time) {
  const uint32_t version = Resolver::version_of(*process.maps_version, tick.address, tick.user);
  return line_at_.at({tick.address, version},
                     [&] { return look_up_line(process, tick.address, time); });
}

uint32_t RecordsByTime::look_up_line(const Process& process, uint64_t address, uint64_t time) {
  Line line;
  if (const auto found = symbolizer_.frames(time, process.pid, address);
      !found.empty() && found.front().line != 0)
    line = {names_.intern(printable(found.front().file)), found.front().line};
  const auto [at, added] = known_lines_.try_emplace(uint64_t{line.file} << 32 | line.line,
                                                    static_cast<uint32_t>(lines_.size()));
  if (added) lines_.push_back(line);
  return at->second;
}

// Begins with the epoch, so that the stretches of all machines are the same.
uint64_t RecordsByTime::bucket_of(uint64_t time) const {
  return time - (time + epoch_) % options_.bucket;
}

void RecordsByTime::put(RecordSum::Key key, uint32_t cpu, uint64_t time, uint64_t amount) {
  if (!options_.ids) key.pid = key.tid = 0;
  if (options_.bucket == 0) {
    output_.add({key, time, cpu, 1, amount}, *this);
    return;
  }
  // An interval can end before the record that shows it; it is counted with that record.
  if (const uint64_t bucket = bucket_of(std::max(time, now_)); bucket != bucket_) {
    end_bucket();
    bucket_ = bucket;
  }
  Sum& sum = sums_[key];
  ++sum.count;
  sum.amount += amount;
}

void RecordsByTime::end_bucket() {
  std::vector<const std::pair<const RecordSum::Key, Sum>*> sorted;
  sorted.reserve(sums_.size());
  for (const auto& each : sums_) sorted.push_back(&each);
  std::ranges::sort(sorted, [](const auto* a, const auto* b) { return a->first < b->first; });
  for (const auto* each : sorted)
    output_.add({each->first, bucket_, RecordSum::no_cpu, each->second.count, each->second.amount},
                *this);
  sums_.clear();
}

void RecordsByTime::end_trace() {
  if (options_.threads) threads_.end_trace();
  end_bucket();
}

std::vector<FrameId> RecordsByTime::stack(uint32_t number) const {
  const PathTree& paths = paths_of(number);
  std::vector<FrameId> frames;
  for (uint32_t place = number / 2; place != PathTree::root; place = paths.node(place).parent)
    frames.push_back(paths.node(place).value);
  return frames;
}

uint32_t RecordsByTime::stacks() const {
  return 2 * static_cast<uint32_t>(std::max(stack_tree_.size(), threads_.stack_paths().size()));
}

}  // namespace post
