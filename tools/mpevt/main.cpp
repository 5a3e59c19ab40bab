// SPDX-License-Identifier: MIT
// mpevt: lists the events that the processors count, and counts them on all CPUs; pipcntr is its
// old name.
#include <algorithm>

#include <fmt/format.h>

#include "cli.h"
#include "commands.h"
#include "daemon.h"

namespace pi::mpevt {
namespace {

cli::OptionTable options(const std::string& name) {
  cli::OptionTable table(
      {fmt::format("{0} -l | -ld | -ls [OPTION]...\n       {0} start|read|stop|reset|term "
                   "[OPTION]... [EVENT]...",
                   name),
       "Counts events on all CPUs and of all processes, from 'start' to 'term'. "
       "Without an EVENT all commands except start apply to all counted "
       "events. The counter daemon, a background process, keeps the counters open; it ends with "
       "the last 'term'. EVENT is a name that -l lists, rHEX, PMU/TERM=VALUE,.../ or an event of "
       "libpfm4 with unit masks.",
       {name + " -ld", name + " start -priv user page-faults", name + " read --json",
        name + " term", name + " start INSTR NONHALTED_CYCLES"},
       "Exit status: 0 done, 1 failed, 255 wrong usage."});
  table.group("Lists")                                                //
      ("l", cli::flag(), "list the events that can be counted here")  //
      ("ld", cli::flag(), "list them with descriptions")              //
      ("ls", cli::flag(), "list the events that can be sampled, for profiles and call stacks");
  table.group("Counting")  //
      ("priv", cli::text("user|kernel|both"),
       "with start: count in user mode, in kernel mode, or in both (default both)")  //
      ("events", cli::repeated("FILE"),
       "read definitions of your own events from FILE, see pitrace-events(5); may be repeated")  //
      ("json", cli::flag(), "print JSON, for programs; with lists and read");
  table.positional("words", -1);
  return table;
}

// Returns the error, or "".
std::string read_command(const cli::Values& values, bool lists, Wanted& wanted) {
  auto words = values.has("words") ? values.words("words") : std::vector<std::string>{};
  if (lists)
    return words.empty() ? ""
                         : fmt::format("'{}': -l, -ld and -ls take no arguments.", words.front());
  if (words.empty())
    return "No command is given. Give start, read, stop, reset or term, or list the events with "
           "-l.";
  wanted.command = words.front();
  // pipcntr's word for it.
  if (wanted.command == "show") wanted.command = "read";
  if (!is_counting_command(wanted.command))
    return fmt::format("Unknown command '{}'. Give start, read, stop, reset or term.",
                       words.front());
  wanted.events.assign(words.begin() + 1, words.end());
  if (wanted.command == "start" && wanted.events.empty())
    return "start: no event is given. 'mpevt -l' lists the events.";
  for (size_t i = 0; i < wanted.events.size(); ++i) {
    if (wanted.events[i].empty()) return "The name of an event is empty.";
    if (std::find(words.begin() + 1, words.begin() + 1 + static_cast<long>(i), wanted.events[i]) !=
        words.begin() + 1 + static_cast<long>(i))
      return fmt::format("'{}' is given twice.", wanted.events[i]);
  }
  constexpr size_t max_events = 200;
  if (wanted.events.size() > max_events)
    return fmt::format("More than {} events are given.", max_events);
  return "";
}

// Returns the error, or "".
std::string read_options(const cli::Values& values, Wanted& wanted) {
  const auto flag = [&](const char* name) { return values.flag(name); };
  const int lists = flag("l") + flag("ld") + flag("ls");
  if (lists > 1) return "Give only one of -l, -ld and -ls.";
  if (auto wrong = read_command(values, lists == 1, wanted); !wrong.empty()) return wrong;
  wanted.json = flag("json");
  if (wanted.json && lists == 0 && wanted.command != "read")
    return fmt::format("--json can be used with lists and read only, not with {}.", wanted.command);
  if (values.has("priv")) {
    wanted.privilege = values.text("priv");
    if (wanted.command != "start") return "-priv can be used with start only.";
    if (std::find(std::begin(privilege_names), std::end(privilege_names), wanted.privilege) ==
        std::end(privilege_names))
      return fmt::format("-priv: '{}' is not one of user, kernel, both.", wanted.privilege);
  }
  if (values.has("events")) {
    wanted.files = values.words("events");
    if (lists == 0 && wanted.command != "start")
      return "--events can be used with lists and start only.";
  }
  return "";
}

int run(const std::string& name, const std::vector<std::string>& words) {
  const auto outcome = options(name).parse(words);
  if (outcome.exit) return *outcome.exit;
  Wanted wanted;
  if (const auto wrong = read_options(outcome.values, wanted); !wrong.empty()) {
    cli::error(wrong);
    return cli::exit_usage;
  }
  if (!wanted.command.empty()) return cli::printed(run_counting(wanted));
  std::vector<std::string> loaded;
  if (!load_definitions(wanted.files, loaded)) return cli::exit_failure;
  const auto flag = [&](const char* option) { return outcome.values.flag(option); };
  const Listing listing = flag("ld")   ? Listing::descriptions
                          : flag("ls") ? Listing::sampling
                                       : Listing::names;
  return cli::printed(list_events(listing, wanted.json));
}

std::string name_of(const char* program) {
  const std::string path = program == nullptr ? "" : program;
  const std::string name = path.substr(path.rfind('/') + 1);
  return name == "pipcntr" ? name : "mpevt";
}

}  // namespace
}  // namespace pi::mpevt

int main(int count, char** words) {
  const std::string name = pi::mpevt::name_of(count > 0 ? words[0] : nullptr);
  return pi::cli::run_tool(name, count, words,
                           [&](const auto& rest) { return pi::mpevt::run(name, rest); });
}
