// SPDX-License-Identifier: MIT
// rtdriver: sends commands to JProf in running Java virtual machines.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "cli.h"
#include "schedule.h"
#include "session.h"
#include "targets.h"

namespace pi::rtdriver {
namespace {

using Words = std::vector<std::string>;

cli::OptionTable options() {
  cli::OptionTable table(
      {"rtdriver {--pid PID | -l} [OPTION]... [{-c|-cx} CMD [SEC]]...\n"
       "       rtdriver {-n NAME | -a ADDR} [OPTION]... [{-c|-cx} CMD [SEC]]...",
       "Sends commands to JProf in Java virtual machines (JVMs) that record calls, locks "
       "or the heap (CALLTREE, JLM, HD): start, stop, flush, reset, hd and others. Without -c and "
       "-cx it reads "
       "them from the standard input.",
       {"rtdriver -l -c start -c stop 10", "rtdriver --pid 4711 --pid 4712 -c flush",
        "rtdriver -l -b -c 'gc flush' -cx 'date' -i", "rtdriver -l -p 8888 -c jprofinfo"},
       "Exit status: 0 all commands were done, 1 one was not, or no JVM accepts commands, 255 "
       "wrong usage."});
  table.group("Which JVMs")                                                                      //
      ("pid", cli::repeated("PID"), "the JVM with this process id; may be given several times")  //
      ("l", "a JVM of this machine: of this user, or of any user for root")                      //
      ("b", "all JVMs of this machine, or all ports; not with -p")                               //
      ("n", cli::text("NAME"), "a port of the machine NAME, which must be this one")             //
      ("a", cli::text("ADDR"), "a port of the IPv4 address ADDR, which must be a loopback one")  //
      ("p", cli::text("PORT"),
       "that port; without it, -n and -a use the first one of 8888 to 8895 that accepts")  //
      ("key", cli::text("FILE"), "the file with the key of the port; found if it is this user's");
  table.group("Commands")  //
      ("c", cli::words("CMD [SEC]"),
       "send CMD, SEC seconds after the command before; up to 64 times")  //
      ("cx", cli::words("CMD [SEC]"),
       "run CMD with the shell of this machine, and print its return code")     //
      ("ta", "SEC counts from the start of rtdriver; must precede -c and -cx")  //
      ("i", "then read commands from the standard input")                       //
      ("np", "send no comma before each command");
  table.group("Output")("json", "print one JSON object for each answer");
  return table;
}

template <class Number>
bool parse(const std::string& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// Returns the error, or "".
std::string read_target(const cli::Values& values, Wanted& wanted) {
  constexpr unsigned last_port = 65535;
  const int kinds = (values.given("pid") ? 1 : 0) + (values.flag("l") ? 1 : 0) +
                    (values.given("n") ? 1 : 0) + (values.given("a") ? 1 : 0);
  if (kinds != 1) return "Give exactly one of --pid PID, -l, -n NAME and -a ADDR.";
  for (const auto& text : values.words("pid")) {
    uint32_t pid = 0;
    if (!parse(text, pid) || pid == 0) return fmt::format("--pid: '{}' is no process id.", text);
    if (std::find(wanted.pids.begin(), wanted.pids.end(), pid) == wanted.pids.end())
      wanted.pids.push_back(pid);
  }
  if (values.given("p")) {
    unsigned port = 0;
    if (!parse(values.text("p"), port) || port == 0 || port > last_port)
      return fmt::format("-p: '{}' is not a port, from 1 to 65535.", values.text("p"));
    wanted.port = port;
  }
  wanted.all = values.flag("b");
  wanted.key_file = values.text("key");
  wanted.by_port = wanted.port || values.given("n") || values.given("a");
  if (wanted.port && wanted.all) return "-b and -p exclude each other.";
  if (wanted.port && !wanted.pids.empty()) return "--pid and -p exclude each other.";
  if (!wanted.key_file.empty() && !wanted.by_port) return "--key can be used with a port only.";
  Status here;
  if (values.given("n")) here = check_loopback_name(values.text("n"));
  if (values.given("a")) here = check_loopback_address(values.text("a"));
  return here ? "" : here.error().message;
}

int wrong_usage(const std::string& text) {
  cli::error(text);
  return cli::exit_usage;
}

int run(const Words& words) {
  // Help and the version come first, as in all programs.
  auto schedule = split_schedule(words);
  const auto outcome = options().parse(schedule ? schedule->others : words);
  if (outcome.exit) return *outcome.exit;
  if (!schedule) return wrong_usage(schedule.error().message);
  Wanted wanted;
  if (const auto wrong = read_target(outcome.values, wanted); !wrong.empty())
    return wrong_usage(wrong);
  SessionSettings settings;
  settings.comma = !outcome.values.flag("np");
  settings.from_start = outcome.values.flag("ta");
  settings.json = outcome.values.flag("json");
  auto jvms = connect_to(wanted);
  if (!jvms) {
    cli::error(jvms.error().message);
    return cli::exit_failure;
  }
  Session session(std::move(*jvms), settings);
  session.run(schedule->steps);
  if (!session.ended() && (schedule->steps.empty() || outcome.values.flag("i"))) session.interact();
  return session.failed() ? cli::exit_failure : cli::exit_good;
}

}  // namespace
}  // namespace pi::rtdriver

int main(int count, char** words) {
  return pi::cli::run_tool("rtdriver", count, words, pi::rtdriver::run);
}
