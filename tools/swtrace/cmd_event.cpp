// SPDX-License-Identifier: MIT
// swtrace event: lists events that can be counted here, or selects the event that produces ticks.
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "cli.h"
#include "commands.h"
#include "perfutil.h"

namespace pi::swtrace {
namespace {

cli::OptionTable options() {
  cli::OptionTable table(
      {"swtrace event list | NAME [OPTION]...",
       "Has a tick recorded at every so many events of each CPU, until 'swtrace setrate'. NAME is "
       "one "
       "that the list tells, rHEX, PMU/TERM=VALUE,.../ or one of libpfm4's with unit masks. Only "
       "while the trace is off.",
       {"swtrace event list", "swtrace event INSTR -c 1000000",
        "swtrace event page-faults -c 1 -priv user"},
       "Exit status: 0 done, 1 failed, 255 wrong use."});
  table.group("Event")  //
      ("c", cli::text("COUNT", "10000000"),
       "events a tick")  //
      ("priv", cli::text("WHICH", "both"),
       "count in user mode, kernel mode or both: user, kernel, both")  //
      ("random", cli::flag(), "draw each period from 0.75 to 1.25 of COUNT (the module only)");
  table.positional("name", 1);
  return table;
}

void print_event(const pi_event& event) {
  const std::string name =
      event.id != 0 ? fmt::format("{} {}", event.id, event.name) : std::string(event.name);
  fmt::print("  {}\n", *event.meaning ? fmt::format("{:<30} {}", name, event.meaning) : name);
}

int list_events() {
  constexpr std::pair<const char*, const char*> groups[] = {
      {"software", "Software events, counted by the kernel"},
      {"hardware", "Hardware events by the kernel's generic names"},
      {"original", "The original's events, by number and name, and what they stand for"},
      {"device", "Events that this machine's counters tell themselves"},
      {"libpfm4", "Events of this processor as libpfm4 names them"}};
  std::map<std::string, std::vector<pi_event>> events;
  pi_event event{};
  event.size = sizeof event;
  for (unsigned index = 0; PiEvent(index, &event) == PU_SUCCESS; ++index)
    events[event.group].push_back(event);
  for (const auto& [group, heading] : groups) {
    const auto& all = events[group];
    if (all.empty()) continue;
    fmt::print("{}:\n", heading);
    std::map<std::string, std::vector<pi_event>> refused;  // by the reason
    for (const auto& each : all)
      if (each.works != 0)
        print_event(each);
      else
        refused[each.reason].push_back(each);
    for (const auto& [reason, those] : refused) {
      fmt::print(" Not here, {}:\n", reason);
      for (const auto& each : those) print_event(each);
    }
  }
  return cli::exit_good;
}

std::optional<uint64_t> parse_count(const std::string& text) {
  uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  constexpr uint64_t most = 1'000'000'000'000;
  if (error != std::errc() || end != text.data() + text.size() || count == 0 || count > most)
    return std::nullopt;
  return count;
}

std::optional<int> parse_privilege(const std::string& text) {
  if (text == "kernel") return PI_PRIV_KERNEL;
  if (text == "user") return PI_PRIV_USER;
  if (text == "both") return PI_PRIV_BOTH;
  return std::nullopt;
}

}  // namespace

int cmd_event(const Words& words) {
  const auto outcome = options().parse(words);
  if (outcome.exit) return *outcome.exit;
  const auto text = [&](const char* name) { return outcome.values.text(name); };
  const auto count = parse_count(text("c"));
  const auto priv = parse_privilege(text("priv"));
  const auto names =
      outcome.values.has("name") ? outcome.values.words("name") : std::vector<std::string>{};
  std::string wrong;
  if (names.empty() || names.front().empty()) wrong = "Name an event, or say 'list'.";
  if (!count) wrong = fmt::format("-c: '{}' is not a number of events from 1 to 10^12.", text("c"));
  if (!priv) wrong = fmt::format("-priv: '{}' is not one of user, kernel, both.", text("priv"));
  if (!wrong.empty()) {
    cli::error(wrong);
    return cli::exit_usage;
  }
  if (names.front() == "list") return list_events();
  const int status =
      ask_and_report({"event", names.front(), std::to_string(*count), std::to_string(*priv),
                      outcome.values.flag("random") ? "1" : "0"});
  if (status == cli::exit_good)
    fmt::print("Tprof event: {}, a tick every {} of them\n", names.front(), *count);
  return status;
}

}  // namespace pi::swtrace
