// SPDX-License-Identifier: MIT
// The text of a trace file's info section: the origin of the trace, and what it lacks.
#include "info_section.h"

#include <sys/utsname.h>

#include <fmt/format.h>
#include <pi/nrm2.h>

#include "perfutil.h"
#include "system/system_facts.h"

namespace pi::perfutil {
namespace {

const char* name_of(uint32_t stacks) {
  if (stacks == PITRACE_STACKS_KERNEL) return "kernel";
  return stacks == PITRACE_STACKS_USER ? "user" : "both";
}

void add_ticks(InfoText& info, const CollectorStatus& status) {
  if (status.tick.is_time()) {
    info.add(nrm2::info::tick, "time");
    info.add_number(nrm2::info::rate, status.rate);
  } else {
    info.add(nrm2::info::tick, "event");
    info.add(nrm2::info::event, status.tick.name);
    info.add_number(nrm2::info::period, status.tick.period);
    info.add_number(nrm2::info::rate, 0);
  }
  if (status.stacks.which == 0) return;
  info.add(nrm2::info::stacks, name_of(status.stacks.which));
  info.add_number(nrm2::info::stack_depth, status.stacks.depth);
}

void add_machine(InfoText& info) {
  utsname name{};
  ::uname(&name);
  info.add(nrm2::info::kernel, name.release);
  info.add(nrm2::info::host, name.nodename);
  info.add(nrm2::info::machine, name.machine);
  info.add(nrm2::info::platform, platform_line());
  info.add_number(nrm2::info::cpu_hz, processor_hz());
  info.add(nrm2::info::clock, fmt::format("CLOCK_MONOTONIC, kept by {}", clock_source()));
}

}  // namespace

void InfoText::add(std::string_view key, std::string_view value) {
  text_ += key;
  text_ += '=';
  for (const char each : value) text_ += each == '\n' || each == '\0' ? ' ' : each;
  text_ += '\n';
}

void InfoText::add_number(std::string_view key, uint64_t value) {
  add(key, std::to_string(value));
}

void add_counts(InfoText& info, const StreamCounts& view) {
  constexpr const char* reasons[PITRACE_LOST_REASONS] = {"full", "stopped", "too_long", "source"};
  constexpr const char* kinds[] = {"trace", "mte", "stacks"};  // PITRACE_BUFFER_*
  const std::string prefix =
      fmt::format("{}{}.{}.", nrm2::info::count_prefix, view.cpu, kinds[view.kind]);
  info.add_number(prefix + "produced", view.counts.produced);
  info.add_number(prefix + "written", view.counts.written);
  for (size_t reason = 0; reason < PITRACE_LOST_REASONS; ++reason)
    info.add_number(prefix + reasons[reason], view.counts.lost[reason]);
  if (view.overwritten != 0) info.add_number(prefix + "overwritten", view.overwritten);
  if (view.unwritten != 0) info.add_number(prefix + "unwritten", view.unwritten);
}

InfoText describe_trace(Collector& collector, const CollectorStatus& status,
                        const std::vector<std::string>& notes,
                        const std::vector<StreamCounts>& streams) {
  InfoText info;
  info.add(nrm2::info::source, collector.source() == PI_SOURCE_DRIVER ? "driver" : "perf");
  info.add(nrm2::info::scope, status.scope == TRACE_SCOPE_SYSTEM ? "system" : "process");
  if (status.pid != 0) info.add_number(nrm2::info::pid, static_cast<uint64_t>(status.pid));
  for (const auto& text : collector.cannot_see()) info.add(nrm2::info::cannot_see, text);
  for (const auto& text : notes) info.add(nrm2::info::note, text);
  add_machine(info);
  add_ticks(info, status);
  info.add_number(nrm2::info::tick_ns, status.tick_ns);
  info.add_number(nrm2::info::throttled, status.throttled);
  for (const auto& [probe, missed] : status.missed)
    if (missed != 0) info.add_number(std::string(nrm2::info::missed_prefix) + probe, missed);
  for (const auto& stream : streams) add_counts(info, stream);
  return info;
}

}  // namespace pi::perfutil
