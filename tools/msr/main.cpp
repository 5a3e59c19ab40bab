// SPDX-License-Identifier: MIT
// msr: reads and writes model-specific registers of the processors.
#include <algorithm>

#include <fmt/format.h>
#include "json.h"

#include "cli.h"
#include "cpu_list.h"
#include "perfutil.h"
#include "selection.h"

namespace pi::msr {
namespace {

using Json = pi::Json;

struct Wanted {
  std::vector<int> cpus;
  std::vector<Selection> selections;
  bool decimal = false, fields = false, bare = false, json = false;
};

// One register, or some of its bits, on one CPU.
struct Reading {
  int cpu = 0;
  const Selection* selection = nullptr;
  uint64_t whole = PI_MSR_UNREADABLE;
  int rc = PU_SUCCESS;
  std::string error;  // why it could not be read or written; empty when it was
  bool written = false;
};

cli::OptionTable options() {
  cli::OptionTable table(
      {"msr [OPTION]... REGISTER[:BITS][=VALUE]...",
       "Reads model-specific registers (MSRs) of the processors, or writes VALUE to them, with the "
       "kernel's msr device. REGISTER is a number or a name that -l lists. BITS is HIGH-LOW, one "
       "bit, or the name of a field. Numbers are decimal or 0xHEX.",
       {"msr TSC", "msr -c 0 IA32_APIC_BASE:BSP 0xce:15-8", "msr -f IA32_MISC_ENABLE",
        "msr -c all IA32_ENERGY_PERF_BIAS:BIAS=6"},
       "Exit status: 0 done, 1 a register could not be read or written, 255 wrong usage."});
  table.group("Registers")  //
      ("c", cli::text("CPUS"),
       "read or write on these CPUs: all, or a list such as 0-3,8; reading uses all CPUs by "
       "default, writing needs this option")  //
      ("l", cli::flag(), "list the registers that have a name, with -f also their fields");
  table.group("Output")                                                          //
      ("d", cli::flag(), "show values in decimal")                               //
      ("x", cli::flag(), "show values in hexadecimal (default)")                 //
      ("f", cli::flag(), "also show the fields of the registers that -l lists")  //
      ("q", cli::flag(), "print only the values, one in each line")              //
      ("json", cli::flag(), "print one JSON object, for programs");
  table.positional("registers", -1);
  return table;
}

std::vector<int> online_cpus() {
  std::vector<int> cpus(static_cast<size_t>(std::max(GetActiveProcessorList(nullptr, 0), 0)));
  const int count = GetActiveProcessorList(cpus.data(), static_cast<int>(cpus.size()));
  cpus.resize(static_cast<size_t>(std::clamp(count, 0, static_cast<int>(cpus.size()))));
  return cpus;
}

// Returns the error, or "".
std::string read_cpus(const cli::Values& values, bool writes, Wanted& wanted) {
  const std::string text = values.has("c") ? values.text("c") : "";
  if (text.empty() && (writes || values.has("c")))
    return "-c: no CPUs are given. Give -c all, or a list such as -c 0-3,8.";
  if (text.empty() || text == "all") {
    wanted.cpus = online_cpus();
    return "";
  }
  const auto cpus = cli::parse_cpu_list(text);
  if (!cpus) return fmt::format("-c: '{}' is neither all nor a list such as 0-3,8.", text);
  wanted.cpus = *cpus;
  return "";
}

// Returns the error, or "".
std::string read_options(const cli::Values& values, Wanted& wanted) {
  const auto flag = [&](const char* name) { return values.flag(name); };
  if (flag("d") && flag("x")) return "Give only one of -d and -x.";
  if (flag("json") && (flag("q") || flag("d") || flag("x")))
    return "--json cannot be used with -d, -x or -q.";
  if (flag("q") && flag("f")) return "Give only one of -q and -f.";
  wanted.decimal = flag("d");
  wanted.fields = flag("f");
  wanted.bare = flag("q");
  wanted.json = flag("json");
  bool writes = false;
  if (values.has("registers"))
    for (const auto& text : values.words("registers")) {
      auto selection = parse_selection(text);
      if (!selection) return selection.error().message;
      writes |= selection->value.has_value();
      wanted.selections.push_back(std::move(*selection));
    }
  if (wanted.selections.empty() && !flag("l"))
    return "No register is given. 'msr -l' lists the registers that have a name.";
  if (!wanted.selections.empty() && flag("l")) return "-l takes no registers.";
  return flag("l") ? "" : read_cpus(values, writes, wanted);
}

std::string value_text(const Wanted& wanted, uint64_t value, unsigned high, unsigned low) {
  if (wanted.decimal) return fmt::format("{}", value);
  const unsigned digits = (high - low) / 4 + 1;
  return fmt::format("{:#0{}x}", value, digits + 2);
}

std::string register_text(const Selection& selection) {
  return fmt::format("{:#010x} {}{}{}", selection.number,
                     selection.known ? selection.known->name : "-",
                     selection.bits.empty() ? "" : ":", selection.bits);
}

void print_fields(const Wanted& wanted, const Reading& reading) {
  for (const auto& field : reading.selection->known->fields) {
    const std::string bits = field.high == field.low ? std::to_string(field.high)
                                                     : fmt::format("{}-{}", field.high, field.low);
    fmt::print(
        "      {:>5}  {:<14} {:<18} {}\n", bits, field.name,
        value_text(wanted, bits_of(reading.whole, field.high, field.low), field.high, field.low),
        field.meaning);
  }
}

void print_reading(const Wanted& wanted, const Reading& reading) {
  const Selection& selection = *reading.selection;
  if (!reading.error.empty()) {
    cli::error(reading.error);
    return;
  }
  const std::string value = value_text(
      wanted, bits_of(reading.whole, selection.high, selection.low), selection.high, selection.low);
  if (wanted.bare) {
    fmt::print("{}\n", value);
    return;
  }
  fmt::print("CPU {:<3} {:<40} {}{}\n", reading.cpu, register_text(selection), value,
             reading.written ? " written" : "");
  if (wanted.fields && selection.known != nullptr) print_fields(wanted, reading);
}

// Numbers of 64 bits are text: not every reader of JSON keeps all their bits.
Json json_of(const Wanted& wanted, const Reading& reading) {
  const Selection& selection = *reading.selection;
  Json entry{{"cpu", reading.cpu}, {"register", selection.number}};
  if (selection.known != nullptr) entry["name"] = selection.known->name;
  entry["high"] = selection.high;
  entry["low"] = selection.low;
  if (!reading.error.empty()) {
    entry["value"] = nullptr;
    entry["error"] = reading.error;
    return entry;
  }
  entry["value"] = fmt::format("{:#x}", bits_of(reading.whole, selection.high, selection.low));
  entry["written"] = reading.written;
  if (wanted.fields && selection.known != nullptr) {
    entry["fields"] = Json::object();
    for (const auto& field : selection.known->fields)
      entry["fields"][field.name] =
          fmt::format("{:#x}", bits_of(reading.whole, field.high, field.low));
  }
  return entry;
}

// Returns success; stores the error of a failure.
bool succeeded(Reading& reading, int rc) {
  reading.rc = rc;
  if (rc != PU_SUCCESS) reading.error = PiErrorText();
  return rc == PU_SUCCESS;
}

bool read(Reading& reading) {
  return succeeded(reading, PiReadMsr(reading.cpu, reading.selection->number, &reading.whole));
}

// A value for some bits replaces these bits of the register.
void write(Reading& reading) {
  const Selection& selection = *reading.selection;
  if (!selection.whole() && !read(reading)) return;
  const uint64_t value = with_bits(reading.whole, selection.high, selection.low, *selection.value);
  if (!succeeded(reading, PiWriteMsr(reading.cpu, selection.number, value))) return;
  reading.whole = value;
  reading.written = true;
}

int run(const Wanted& wanted) {
  if (wanted.cpus.empty()) {
    cli::error("Cannot find out which CPUs are online. Give the CPUs with -c.");
    return cli::exit_failure;
  }
  bool failed = false;
  std::string last_error;
  Json all = Json::array();
  for (const auto& selection : wanted.selections)
    for (const int cpu : wanted.cpus) {
      Reading reading;
      reading.cpu = cpu;
      reading.selection = &selection;
      if (selection.value)
        write(reading);
      else
        (void)read(reading);
      failed |= !reading.error.empty();
      if (wanted.json)
        all.push_back(json_of(wanted, reading));
      else if (reading.error.empty() || reading.error != last_error)
        print_reading(wanted, reading);
      // A missing device is missing for all registers.
      if (reading.rc == PU_ERROR_NOT_SUPPORTED && !wanted.json) return cli::exit_failure;
      last_error = reading.error;
    }
  if (wanted.json) fmt::print("{}\n", Json{{"registers", all}}.dump(2));
  return failed ? cli::exit_failure : cli::exit_good;
}

void print_known(const Wanted& wanted) {
  for (const auto& each : known_registers()) {
    fmt::print("{:#010x}  {:<26} {}\n", each.number, each.name, each.meaning);
    for (const auto& field : each.fields)
      if (wanted.fields)
        fmt::print("      {:>5}  {:<14} {}\n",
                   field.high == field.low ? std::to_string(field.high)
                                           : fmt::format("{}-{}", field.high, field.low),
                   field.name, field.meaning);
  }
}

void print_known_json() {
  Json all = Json::array();
  for (const auto& each : known_registers()) {
    Json entry{{"register", each.number}, {"name", each.name}, {"meaning", each.meaning}};
    entry["fields"] = Json::array();
    for (const auto& field : each.fields)
      entry["fields"].push_back({{"name", field.name},
                                 {"high", field.high},
                                 {"low", field.low},
                                 {"meaning", field.meaning}});
    all.push_back(std::move(entry));
  }
  fmt::print("{}\n", Json{{"registers", all}}.dump(2));
}

int main_of(const std::vector<std::string>& words) {
  const auto outcome = options().parse(words);
  if (outcome.exit) return *outcome.exit;
  Wanted wanted;
  if (const auto wrong = read_options(outcome.values, wanted); !wrong.empty()) {
    cli::error(wrong);
    return cli::exit_usage;
  }
  if (!outcome.values.flag("l")) return cli::printed(run(wanted));
  wanted.json ? print_known_json() : print_known(wanted);
  return cli::printed(cli::exit_good);
}

}  // namespace
}  // namespace pi::msr

int main(int count, char** words) {
  return pi::cli::run_tool("msr", count, words, pi::msr::main_of);
}
