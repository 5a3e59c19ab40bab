// SPDX-License-Identifier: MIT
// swtrace info: the machine, the module, and the state of this user's trace.
#include <fmt/format.h>
#include "json.h"

#include "cli.h"
#include "commands.h"
#include "machine_info.h"
#include "perfutil.h"
#include "recorder.h"
#include "service.h"

namespace pi::swtrace {
namespace {

constexpr const char* lost_reasons[] = {"full", "stopped", "too_long", "source"};

// The recorder's key=value lines; empty if no recorder runs, which is no error here.
std::string recorder_status() {
  const auto path = service::socket_path(recorder_names);
  if (!path) return "";
  const auto reply = service::ask_service(*path, recorder_names, {"status"});
  return reply && reply->rc == PU_SUCCESS ? reply->text : "";
}

uint64_t number(const std::string& lines, const std::string& key) {
  return std::stoull("0" + value_of(lines, key));
}

std::string driver_version() {
  const uint32_t version = GetDDVersionEx();
  if (version != 0) return fmt::format("{}.{}", version >> 24, version >> 16 & 255);
  return IsDeviceDriverInstalled() ? "loaded, but this user cannot open it" : "not loaded";
}

// The source of the numbers of 'swtrace ai', if this kernel has the hooks.
const char* above_idle_source() {
  constexpr uint32_t first_version = 2 << 24 | 1 << 16;
  return GetDDVersionEx() >= first_version ? "hooks" : "/proc/stat";
}

void line(std::string_view label, std::string_view value) {
  fmt::print(" {:<20}: {}\n", label, value);
}

void print_machine() {
  const MachineInfo machine = read_machine_info();
  line("Driver version", driver_version());
  line("CPU signature", fmt::format("0x{:08x}", machine.signature));
  line("CPU family, model",
       fmt::format("{}, {} ({})", machine.family, machine.model, machine.vendor));
  line("CPU architecture", machine.architecture);
  line("CPU speed", fmt::format("{} MHz", GetProcessorSpeed() / 1'000'000));
  line("CPUs", std::to_string(PiGetActiveProcessorCount()));
  line("Hyper-Threading", machine.hyper_threading);
}

std::string lost_text(const std::string& lines, const std::string& kind) {
  std::string text;
  for (const char* reason : lost_reasons)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                        number(lines, fmt::format("{}.lost.{}", kind, reason)), reason);
  return text;
}

void print_records(const std::string& lines, const std::string& kind, std::string_view label) {
  line(label, fmt::format("{} produced, {} written, lost: {}", number(lines, kind + ".produced"),
                          number(lines, kind + ".written"), lost_text(lines, kind)));
}

void print_trace(const std::string& lines) {
  line("Source",
       fmt::format("{}, scope {}{}", value_of(lines, "source"), value_of(lines, "scope"),
                   value_of(lines, "scope") == "process" ? " " + value_of(lines, "pid") : ""));
  line("Recorder pid", value_of(lines, "recorder"));
  line("Buffer size",
       fmt::format("{} KB trace, {} KB MTE for each of {} CPUs", number(lines, "trace_bytes") >> 10,
                   number(lines, "mte_bytes") >> 10, number(lines, "cpus")));
  if (number(lines, "period") != 0)
    line("Tprof event",
         fmt::format("{}, {}", value_of(lines, "event"), period_text(number(lines, "period"))));
  else
    line("Tprof rate",
         fmt::format("{} ticks/second, interval {:.2f} microseconds", number(lines, "rate"),
                     static_cast<double>(number(lines, "tick_ns")) / 1e3));
  if (const auto stacks = value_of(lines, "stacks"); stacks != "off")
    line("Stacks", fmt::format("{}, depth {}", stacks, number(lines, "stack_depth")));
  const std::string mode = value_of(lines, "mode");
  line("Mode", mode == "normal" ? mode : fmt::format("{}, {}", mode, value_of(lines, "file")));
  const bool on = number(lines, "on") != 0;
  line("Tracing", !on                               ? "off"
                  : number(lines, "active") != 0    ? "active"
                  : number(lines, "suspended") != 0 ? "on, but suspended"
                                                    : "on, but stopped: a buffer is full");
  line("Trace interval", std::to_string(number(lines, "interval")));
  print_records(lines, "trace", "Trace records");
  print_records(lines, "mte", "MTE records");
  line("Recorded", fmt::format("{} KB", number(lines, "recorded_bytes") >> 10));
  if (number(lines, "overwritten") != 0)
    line("Overwritten", value_of(lines, "overwritten") + " trace records (wrap-around mode)");
  if (number(lines, "missed") != 0) line("Missed hook hits", value_of(lines, "missed"));
  if (number(lines, "throttled") != 0)
    line("Clock throttled", value_of(lines, "throttled") + " times");
  for (const auto& text : values_of(lines, "cannot_see")) line("Cannot see", text);
  for (const auto& text : values_of(lines, "note")) line("Note", text);
}

pi::Json counts_json(const std::string& lines, const std::string& kind) {
  pi::Json counts{{"produced", number(lines, kind + ".produced")},
                  {"written", number(lines, kind + ".written")}};
  for (const char* reason : lost_reasons)
    counts["lost"][reason] = number(lines, fmt::format("{}.lost.{}", kind, reason));
  return counts;
}

pi::Json trace_json(const std::string& lines) {
  pi::Json trace{{"source", value_of(lines, "source")}, {"scope", value_of(lines, "scope")}};
  for (const char* key :
       {"pid", "recorder", "cpus", "trace_bytes", "mte_bytes", "rate", "tick_ns", "interval",
        "missed", "throttled", "overwritten", "period", "stack_depth", "recorded_bytes"})
    trace[key] = number(lines, key);
  trace["event"] = value_of(lines, "event");
  trace["stacks"] = value_of(lines, "stacks");
  trace["mode"] = value_of(lines, "mode");
  trace["file"] = value_of(lines, "file");
  for (const char* key : {"on", "active", "full", "suspended"})
    trace[key] = number(lines, key) != 0;
  trace["trace"] = counts_json(lines, "trace");
  trace["mte"] = counts_json(lines, "mte");
  trace["cannot_see"] = values_of(lines, "cannot_see");
  trace["notes"] = values_of(lines, "note");
  return trace;
}

void print_json(const std::string& lines) {
  const MachineInfo machine = read_machine_info();
  pi::Json info{{"driver_version", driver_version()},
                {"driver_loaded", IsDeviceDriverInstalled() != 0},
                {"cpu_signature", machine.signature},
                {"cpu_family", machine.family},
                {"cpu_model", machine.model},
                {"cpu_vendor", machine.vendor},
                {"cpu_architecture", machine.architecture},
                {"cpu_hz", GetProcessorSpeed()},
                {"cpus", PiGetActiveProcessorCount()},
                {"hyper_threading", machine.hyper_threading},
                {"above_idle_source", above_idle_source()}};
  info["trace"] = lines.empty() ? pi::Json() : trace_json(lines);
  fmt::print("{}\n", info.dump(2));
}

}  // namespace

int cmd_info(const Words& words) {
  cli::OptionTable table(
      {"swtrace info [--json]",
       "Shows the machine, the pitrace module, and the state of this user's trace.",
       {"swtrace info", "swtrace info --json"},
       "Exit status: 0 done, 255 wrong use."});
  table.group("Output")("json", cli::flag(), "print JSON, for programs");
  const auto outcome = table.parse(words);
  if (outcome.exit) return *outcome.exit;
  const std::string lines = recorder_status();
  if (outcome.values.flag("json")) {
    print_json(lines);
    return cli::exit_good;
  }
  print_machine();
  if (lines.empty())
    line("Tracing", "off: no recorder runs ('swtrace init' starts one)");
  else
    print_trace(lines);
  line("Above Idle", fmt::format("from {} ('swtrace ai')", above_idle_source()));
  return cli::exit_good;
}

}  // namespace pi::swtrace
