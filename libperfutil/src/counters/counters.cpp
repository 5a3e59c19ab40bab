// SPDX-License-Identifier: MIT
// Counts events instead of sampling them: a group on one CPU or for one thread, or on every CPU.
#include "counters.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <fmt/format.h>

#include "events/event_refusal.h"
#include "events/perf_events.h"
#include "perfutil.h"
#include "system/text.h"

namespace pi::perfutil {
namespace {

perf_event_attr attr_of(const TickEvent& event, const CounterTarget& target, bool leads) {
  perf_event_attr attr = event_attr(event);
  attr.inherit = target.inherit;
  // The other events of the group count while the leader does.
  attr.disabled = leads;
  attr.pinned = leads;
  attr.enable_on_exec = leads && target.on_exec;
  attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  // The kernel does not support PERF_FORMAT_GROUP for events that children inherit.
  if (!target.inherit) attr.read_format |= PERF_FORMAT_GROUP;
  return attr;
}

// group: the open events of the group that the new one joins; empty: it leads a new group.
int open_counter(const TickEvent& event, const CounterTarget& target,
                 const std::vector<ProcessFd>& group) {
  const bool leads = group.empty();
  return open_perf_event(attr_of(event, target, leads), target.pid, target.cpu,
                         leads ? -1 : group.front().get());
}

// Devices with shared counters list the CPUs on which to count; others count on every CPU.
std::vector<uint32_t> cpus_of(const TickEvent& event, const CounterPlaces& places) {
  const auto online = parse_cpu_list(read_text(places.online).value_or(""));
  const auto own = device_cpus(event.type, places.devices);
  if (own.empty()) return online;
  std::vector<uint32_t> both;
  std::set_intersection(online.begin(), online.end(), own.begin(), own.end(),
                        std::back_inserter(both));
  return both;
}

Error denied(const std::string& name) {
  const int level = std::atoi(read_line("/proc/sys/kernel/perf_event_paranoid").c_str());
  if (::geteuid() == 0 || level <= 0)
    return {PU_ERROR_ACCESS_DENIED, fmt::format("'{}': perf_event_open is refused {}", name,
                                                refusal_despite_rights(level))};
  return {PU_ERROR_ACCESS_DENIED,
          fmt::format("This user may not count '{}' (kernel.perf_event_paranoid is {}). Do one of: "
                      "'sudo sysctl kernel.perf_event_paranoid=0'; be root. Of one's own processes "
                      "user mode may be counted when it is 2 or less.",
                      name, level)};
}

// How many such events the kernel accepts in one group of the calling thread, without counting any.
int largest_group(const TickEvent& event) {
  constexpr size_t max_group = 64;
  CounterTarget self;
  self.pid = 0;
  std::vector<ProcessFd> fds;
  while (fds.size() < max_group) {
    const int fd = open_counter(event, self, fds);
    if (fd < 0) break;
    fds.emplace_back(fd);
  }
  return static_cast<int>(fds.size());
}

}  // namespace

std::string counting_refusal(int error) {
  switch (error) {
    case EINVAL:
      return "its terms make no sense to the counter, or it cannot distinguish user and kernel "
             "mode";
    case EACCES:
    case EPERM:
      return "this user may not: lower kernel.perf_event_paranoid to 0, or be root";
    default:
      return refusal_reason(error);
  }
}

Error refused_counting(int error, const std::string& name) {
  if (error == EACCES || error == EPERM) return denied(name);
  if (error == EMFILE || error == ENFILE)
    return {PU_ERROR_NOT_ENOUGH_MEMORY,
            "Too many counters for this process's limit of open files; raise it with 'ulimit -n'."};
  if (error == EINVAL)
    return {PU_ERROR_EVENT_NOT_SUPPORTED,
            fmt::format("'{}' cannot be counted here: {}.", name, counting_refusal(error))};
  return refused_event(error, name);
}

Result<CounterGroup> CounterGroup::open(const std::vector<TickEvent>& events,
                                        const CounterTarget& target) {
  CounterGroup group;
  group.together_ = !target.inherit;
  for (const auto& event : events) {
    const bool leads = group.fds_.empty();
    const int fd = open_counter(event, target, group.fds_);
    // EINVAL also means that the group is too large for the processor.
    if (fd == -EINVAL && !leads) return refused_counting(ENOSPC, event.name);
    if (fd == -ESRCH)
      return Error{PU_ERROR_INVALID_PARAMETER, fmt::format("There is no process {}.", target.pid)};
    if (fd < 0) return refused_counting(-fd, event.name);
    group.fds_.emplace_back(fd);
    group.names_.push_back(event.name);
  }
  return group;
}

Status CounterGroup::taken() const {
  return refused_counting(EBUSY, names_.front());
}

Status CounterGroup::start() {
  if (::ioctl(fds_.front().get(), PERF_EVENT_IOC_ENABLE, 0) != 0)
    return refused_counting(errno, names_.front());
  // A read fails when the pinned events did not get counters.
  if (auto now = read(); !now) return now.error();
  return {};
}

void CounterGroup::stop() {
  ::ioctl(fds_.front().get(), PERF_EVENT_IOC_DISABLE, 0);
}

Result<CounterValues> CounterGroup::read() const {
  CounterValues counts;
  if (together_) {
    std::vector<uint64_t> words(3 + fds_.size());  // how many, time enabled, time running, counts
    const auto bytes = static_cast<ssize_t>(words.size() * sizeof(uint64_t));
    if (::read(fds_.front().get(), words.data(), static_cast<size_t>(bytes)) != bytes)
      return taken().error();
    counts.counted_ns = words[2];
    counts.values.assign(words.begin() + 3, words.end());
    return counts;
  }
  for (const auto& fd : fds_) {
    uint64_t words[3] = {};  // count, time enabled, time running
    if (::read(fd.get(), words, sizeof words) != sizeof words) return taken().error();
    counts.values.push_back(words[0]);
    if (counts.values.size() == 1) counts.counted_ns = words[2];
  }
  return counts;
}

SystemCounters::SystemCounters(std::vector<TickEvent> events, CounterPlaces places)
    : events_(std::move(events)), places_(std::move(places)) {}

// Those of the first event: all events of a group are of one device.
std::vector<uint32_t> SystemCounters::wanted_cpus() const {
  return cpus_of(events_.front(), places_);
}

Status SystemCounters::open_on(uint32_t cpu) {
  CounterTarget target;
  target.cpu = static_cast<int>(cpu);
  auto group = CounterGroup::open(events_, target);
  if (!group) return group.error();
  Place place{std::move(*group), {}};
  place.base.values.resize(events_.size());
  if (counting_)
    if (auto good = place.group.start(); !good) return good;
  open_.insert_or_assign(cpu, std::move(place));
  return {};
}

Result<SystemCounters> SystemCounters::open(std::vector<TickEvent> events, CounterPlaces places) {
  SystemCounters counters(std::move(events), std::move(places));
  const auto cpus = counters.wanted_cpus();
  if (cpus.empty())
    return Error{PU_ERROR_NOT_SUPPORTED,
                 fmt::format("'{}' lists no online CPU that counts '{}'.", counters.places_.online,
                             counters.events_.front().name)};
  for (const uint32_t cpu : cpus)
    if (auto opened = counters.open_on(cpu); !opened) return opened.error();
  return counters;
}

void SystemCounters::add(CounterValues& sum, const CounterValues& now, const CounterValues& base) {
  sum.values.resize(now.values.size());
  for (size_t i = 0; i < now.values.size(); ++i) sum.values[i] += now.values[i] - base.values[i];
  sum.counted_ns += now.counted_ns - base.counted_ns;
}

// The counters of a CPU end when it goes offline, and do not restart when it is online again.
Status SystemCounters::follow_cpus() {
  const auto wanted = wanted_cpus();
  if (wanted.empty()) return {};
  for (auto place = open_.begin(); place != open_.end();) {
    if (std::binary_search(wanted.begin(), wanted.end(), place->first)) {
      ++place;
      continue;
    }
    if (const auto last = place->second.group.read())
      add(past_[place->first], *last, place->second.base);
    place = open_.erase(place);
  }
  for (const uint32_t cpu : wanted)
    if (!open_.contains(cpu))
      if (auto opened = open_on(cpu); !opened) return opened;
  return {};
}

Status SystemCounters::start() {
  if (auto good = follow_cpus(); !good) return good;
  for (auto& [cpu, place] : open_)
    if (auto started = place.group.start(); !started) {
      stop();
      return started;
    }
  counting_ = true;
  return {};
}

void SystemCounters::stop() {
  for (auto& [cpu, place] : open_) place.group.stop();
  counting_ = false;
}

Status SystemCounters::reset() {
  if (auto good = follow_cpus(); !good) return good;
  for (auto& [cpu, place] : open_) {
    auto now = place.group.read();
    if (!now) return now.error();
    place.base = std::move(*now);
  }
  past_.clear();
  return {};
}

Result<std::map<uint32_t, CounterValues>> SystemCounters::read() {
  if (auto good = follow_cpus(); !good) return good.error();
  auto counts = past_;
  for (const auto& [cpu, place] : open_) {
    const auto now = place.group.read();
    if (!now) return now.error();
    add(counts[cpu], *now, place.base);
  }
  return counts;
}

int try_counting(const TickEvent& event, const CounterPlaces& places) {
  const auto cpus = cpus_of(event, places);
  if (cpus.empty()) return ENODEV;
  CounterTarget target;
  target.cpu = static_cast<int>(cpus.front());
  const int fd = open_counter(event, target, {});
  const ProcessFd owner(fd);
  return owner ? 0 : -fd;
}

int simultaneous_counters() {
  // Uses an event without a fixed counter, unlike instructions and cycles. Counting its own user
  // mode is permitted to every process; some counters cannot exclude the kernel.
  TickEvent event;
  event.type = PERF_TYPE_HARDWARE;
  event.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
  event.flags = PITRACE_EVENT_NO_KERNEL;
  if (const int user_only = largest_group(event); user_only > 0) return user_only;
  event.flags = 0;
  return largest_group(event);
}

}  // namespace pi::perfutil
