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
      {"swtrace event list [--all] | EVENT [OPTION]...",
       "Selects the event that produces ticks (samples): each CPU records one tick every COUNT "
       "events. EVENT is a name from the list, rHEX, PMU/TERM=VALUE,.../ or a libpfm4 name with "
       "unit masks. Works only while the trace is off. 'swtrace setrate' selects ticks by time "
       "again.",
       {"swtrace event list", "swtrace event page-faults -priv user",
        "swtrace event INSTR -c 1000000"},
       "Exit status: 0 done, 1 failed, 255 wrong use."});
  table.group("Event")  //
      ("c", cli::text("COUNT"),
       "events for each tick. The default is 1 for software events such as page-faults and "
       "context-switches, and 10000000 for cpu-clock, task-clock and all other events")  //
      ("priv", cli::text("user|kernel|both", "both"),
       "count in user mode, in kernel mode, or in both")  //
      ("random", cli::flag(),
       "choose each period at random from 0.75 to 1.25 times COUNT (pitrace module only)");
  table.group("List")("all", cli::flag(), "list also the events that are not available here");
  table.positional("name", 1);
  return table;
}

void print_event(const pi_event& event) {
  const std::string name =
      event.id != 0 ? fmt::format("{} {}", event.id, event.name) : std::string(event.name);
  fmt::print("  {}\n", *event.meaning ? fmt::format("{:<30} {}", name, event.meaning) : name);
}

using EventGroups = std::map<std::string, std::vector<pi_event>>;

// by_reason: the events that this user cannot sample here.
void print_unavailable(const EventGroups& by_reason, bool all) {
  if (by_reason.empty()) return;
  fmt::print("Not available here{}:\n", all ? "" : " ('swtrace event list --all' lists them)");
  for (const auto& [reason, events] : by_reason) {
    fmt::print(" {} {}: {}\n", events.size(), events.size() == 1 ? "event" : "events", reason);
    if (!all) continue;
    for (const auto& event : events) print_event(event);
  }
}

int list_events(bool all) {
  constexpr std::pair<const char*, const char*> headings[] = {
      {"software", "Software events, counted by the kernel"},
      {"hardware", "Hardware events by the kernel's generic names"},
      {"original", "Performance Inspector's events by number and name, with the kernel's name"},
      {"device", "Events that the counters of this machine define"},
      {"libpfm4", "Events of this processor by the names of libpfm4"}};
  EventGroups available;
  EventGroups unavailable;
  pi_event event{};
  event.size = sizeof event;
  for (unsigned index = 0; PiEvent(index, &event) == PU_SUCCESS; ++index)
    (event.works != 0 ? available[event.group] : unavailable[event.reason]).push_back(event);
  for (const auto& [group, heading] : headings) {
    if (available[group].empty()) continue;
    fmt::print("{}:\n", heading);
    for (const auto& each : available[group]) print_event(each);
  }
  print_unavailable(unavailable, all);
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

// Sends the request; the reply contains the period, which the library chooses for a count of 0.
int select_event(const std::string& name, uint64_t count, int priv, bool random) {
  const auto reply =
      ask({"event", name, std::to_string(count), std::to_string(priv), random ? "1" : "0"});
  if (!reply) return cli::exit_failure;
  if (reply->rc != PU_SUCCESS) {
    cli::error(reply->text);
    return cli::exit_failure;
  }
  const uint64_t period = std::stoull("0" + value_of(reply->text, "period"));
  fmt::print("Tprof event: {}, {}{}\n", name, period_text(period),
             count == 0 ? " (the default; -c COUNT changes it)" : "");
  return cli::exit_good;
}

}  // namespace

int cmd_event(const Words& words) {
  const auto outcome = options().parse(words);
  if (outcome.exit) return *outcome.exit;
  const auto& values = outcome.values;
  const auto count = values.has("c") ? parse_count(values.text("c")) : std::optional<uint64_t>(0);
  const auto priv = parse_privilege(values.text("priv"));
  const std::string name = values.has("name") ? values.words("name").front() : "";
  std::string wrong;
  if (name.empty()) wrong = "No event is given. Give the name of an event, or 'list'.";
  if (!count)
    wrong = fmt::format("-c: '{}' is not a number of events from 1 to 10^12.", values.text("c"));
  if (!priv)
    wrong = fmt::format("-priv: '{}' is not one of user, kernel, both.", values.text("priv"));
  if (values.flag("all") && name != "list") wrong = "--all is an option of 'swtrace event list'.";
  if (!wrong.empty()) {
    cli::error(wrong);
    return cli::exit_usage;
  }
  if (name == "list") return list_events(values.flag("all"));
  return select_event(name, *count, *priv, values.flag("random"));
}

}  // namespace pi::swtrace
