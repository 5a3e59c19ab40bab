// SPDX-License-Identifier: MIT
// The text of the info section of a trace that is made from a recording of perf.
#include "import_info.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <optional>

#include <fmt/format.h>
#include <pi/files.h>
#include <pi/nrm2.h>

#include "file/build_ids.h"
#include "file/elf_note.h"

namespace pi::perfutil {
namespace {

namespace key = nrm2::info;

std::string clock_of(const PerfFile& file) {
  if (file.events.events().empty()) return "of perf";
  const perf_event_attr& attr = file.events.events().front().attr;
  if (attr.use_clockid == 0) return "the kernel's clock for perf";
  switch (attr.clockid) {
    case CLOCK_MONOTONIC:
      return "CLOCK_MONOTONIC";
    case CLOCK_MONOTONIC_RAW:
      return "CLOCK_MONOTONIC_RAW";
    case CLOCK_BOOTTIME:
      return "CLOCK_BOOTTIME";
    case CLOCK_REALTIME:
      return "CLOCK_REALTIME";
    case CLOCK_TAI:
      return "CLOCK_TAI";
    default:
      return fmt::format("clock {}", static_cast<int>(attr.clockid));
  }
}

const char* stacks_name(uint32_t stacks) {
  if (stacks == PITRACE_STACKS_KERNEL) return "kernel";
  return stacks == PITRACE_STACKS_USER ? "user" : "both";
}

void add_ticks(InfoText& info, const RecordedTicks& ticks) {
  constexpr uint64_t second = 1'000'000'000;
  const bool by_time = ticks.by_time;
  info.add(key::tick, by_time ? "time" : "event");
  uint64_t period = ticks.period;
  if (ticks.by_frequency && by_time && ticks.frequency != 0) period = second / ticks.frequency;
  if (ticks.by_frequency && !by_time && ticks.count != 0)
    period =
        static_cast<uint64_t>(std::llround(ticks.events / static_cast<long double>(ticks.count)));
  if (!by_time) info.add(key::event, ticks.event);
  if (!by_time) info.add_number(key::period, period);
  info.add_number(key::rate, by_time && period != 0 ? second / period : 0);
  info.add_number(key::tick_ns, by_time ? period : 0);
  if (ticks.stacks.which == 0) return;
  info.add(key::stacks, stacks_name(ticks.stacks.which));
  info.add_number(key::stack_depth, ticks.stacks.depth);
}

// perf records whether it was to record certain threads. If that record is missing: events of CPUs
// do not wait for an exec, and their records have the CPU.
void add_scope(InfoText& info, const PerfFile& file, const Recording& recording) {
  const auto& events = file.events.events();
  bool of_cpus = file.threads == PerfFile::Threads::of_cpus;
  if (file.threads == PerfFile::Threads::unknown)
    of_cpus = recording.only_process() <= 1 && recording.ticks().cpus && !events.empty() &&
              events.front().attr.enable_on_exec == 0;
  if (of_cpus) {
    info.add(key::scope, "system");
  } else if (const uint32_t pid = recording.only_process(); pid != 0) {
    info.add(key::scope, "process");
    info.add_number(key::pid, pid);
  } else {
    info.add(key::scope, "the processes that were named to perf record");
  }
}

void add_blind_spots(InfoText& info, const PerfFile& file, const Recording& recording) {
  const RecordedTicks& ticks = recording.ticks();
  const auto cannot_see = [&](const std::string& text) { info.add(key::cannot_see, text); };
  if (!ticks.cpus)
    cannot_see(
        "The CPU of each record: all are shown on CPU 0. 'perf record -a' or '--sample-cpu' "
        "records "
        "it.");
  if (recording.left_out().switches != 0)
    cannot_see(fmt::format("Context switches: their {} records have no CPU.",
                           recording.left_out().switches));
  if (*recording.left_out().sched_switch != '\0') cannot_see(recording.left_out().sched_switch);
  if (ticks.copies && !recording.unwinds())
    cannot_see(
        fmt::format("Callers in user code: copies of stacks ('--call-graph dwarf') of the machine "
                    "{} are not unwound here.",
                    file.machine.empty() ? "that recorded them" : file.machine));
  if (recording.left_out().no_copies != 0)
    cannot_see(fmt::format(
        "Callers in user code of {} samples, which have no copy of the 64-bit registers "
        "and the stack: of 32-bit programs, or with 'perf record --user-regs'.",
        recording.left_out().no_copies));
  if (ticks.branches)
    cannot_see(
        "Callers in user code: the recording has the processor's own list of them ('--call-graph "
        "lbr'), which is not read; '--call-graph dwarf' records them for post.");
  if (recording.left_out().deferred != 0)
    cannot_see(fmt::format(
        "Callers in user code of {} samples: the kernel has recorded them later, in records that "
        "are not read ('--call-graph fp,defer'); 'dwarf' or 'fp' records them for post.",
        recording.left_out().deferred));
}

void add_notes(InfoText& info, const PerfFile& file, const Recording& recording,
               const std::string& damage) {
  const RecordedTicks& ticks = recording.ticks();
  const LeftOut& left_out = recording.left_out();
  const auto note = [&](const std::string& text) { info.add(key::note, text); };
  if (!damage.empty())
    note(
        fmt::format("The recording is not complete: {}. What should be there is missing.", damage));
  if (ticks.count != 0 && ticks.least != ticks.most)
    note(
        fmt::format("A tick stands for {} to {} {}, as perf chose. All ticks count the same here; "
                    "'perf report' weights them.",
                    ticks.least, ticks.most, ticks.event));
  for (const std::string& text : recording.notes_on_stacks()) note(text);
  uint64_t others = 0;
  std::string names;
  constexpr size_t max_names = 200;
  for (const auto& [name, count] : left_out.other_events) {
    others += count;
    if (names.size() < max_names) names += (names.empty() ? "" : ", ") + name;
  }
  if (others != 0)
    note(
        fmt::format("The ticks are the samples of {}; {} samples of other events are left out ({}; "
                    "post --event=NAME takes them).",
                    ticks.event, others, names));
  const bool has_counts = std::ranges::any_of(file.events.events(), [](const auto& event) {
    return (event.attr.sample_type & PERF_SAMPLE_READ) != 0;
  });
  if (has_counts)
    note(
        "Samples have the counts of a group of events ('perf record -e {A,B}:S'), which are left "
        "out: a tick is a sample of the group's first event.");
  if (left_out.of_guests != 0)
    note(fmt::format("{} samples of code in virtual machines are left out.", left_out.of_guests));
  if (left_out.out_of_order != 0)
    note(fmt::format(
        "{} records were not in the order of time; they have that of the record before.",
        left_out.out_of_order));
}

// perf lists the files with samples that have a build-id: those that are missing have none, or only
// callers. Of these the build-id is that of the file which is the mapped inode now.
std::string line_of_mapped_file(const std::string& path, uint64_t inode) {
  const auto file = open_regular(path, Links::nowhere);
  struct stat status {};
  std::optional<std::string> id;
  if (file && ::fstat(file->fd.get(), &status) == 0 &&
      has_mapped_inode(file->fd.get(), status.st_ino, inode))
    id = build_id_of_file(file->fd.get());
  return fmt::format("{}@{} {}\n", id && !id->empty() ? *id : "-", inode, path_in_line(path));
}

}  // namespace

InfoText describe_import(const PerfFile& file, const Recording& recording,
                         const std::string& damage, const std::string& kallsyms_state) {
  InfoText info;
  info.add(key::source, "perf record");
  add_scope(info, file, recording);
  add_blind_spots(info, file, recording);
  add_notes(info, file, recording, damage);
  info.add(key::kernel, file.kernel);
  info.add(key::host, file.host);
  info.add(key::machine, file.machine);
  if (!file.kernel.empty())
    info.add(key::platform, fmt::format("Linux {} {}", file.kernel, file.machine));
  info.add(key::clock, clock_of(file));
  add_ticks(info, recording.ticks());
  info.add_number(key::throttled, recording.throttled());
  for (const BufferView& view : recording.buffers())
    add_counts(info, {view.cpu, view.kind, view.counts, 0, 0, 0});
  info.add(key::ended, damage.empty() ? "off" : "running");
  info.add(key::kallsyms, kallsyms_state);
  return info;
}

std::string build_id_lines(const PerfFile& file) {
  std::string lines;
  if (!file.build_ids.empty() && file.is_of_this_host(false))
    for (const auto& [path, inode] : file.mapped_files)
      if (!file.build_ids.contains(path)) lines += line_of_mapped_file(path, inode);
  for (const auto& [path, id] : file.build_ids) {
    lines += fmt::format("{} {}\n", id,
                         path == "[kernel.kallsyms]" ? PITRACE_KERNEL_NAME : path_in_line(path));
  }
  return lines;
}

}  // namespace pi::perfutil
