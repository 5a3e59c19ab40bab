// SPDX-License-Identifier: MIT
// pitrace-attach: loads an agent into a running Java virtual machine, with its user's rights only.

#include <charconv>
#include <cstdlib>
#include <memory>

#include "cli.h"
#include "session.h"

namespace pi::attach {
namespace {

cli::OptionTable options() {
  cli::OptionTable table(
      {"pitrace-attach [OPTION]... PID [LIBRARY [OPTIONS]]",
       "Loads a JVMTI agent into a running HotSpot virtual machine (JVM), without a JDK. LIBRARY "
       "is the absolute path of the agent as process PID sees it. The agent gets OPTIONS. Root can "
       "attach to processes of all users. In the process's file system pitrace-attach has only the "
       "rights of the process's user.",
       {"pitrace-attach 4711 /usr/lib/x86_64-linux-gnu/jni/libjprof.so tprof",
        "pitrace-attach 4711 /usr/lib/x86_64-linux-gnu/jni/libjprof.so detach",
        "pitrace-attach --check 4711"},
       "Exit status: 0 done, 1 failed, 2 the process is not a HotSpot JVM, 255 wrong usage."});
  table.group("Options")  //
      ("check", cli::flag(),
       "only check whether PID is a JVM; nothing is sent to it")  //
      ("follow", cli::text("DIR"),
       "load JProf and print \"attached\"; when standard input ends, detach JProf and put its logs "
       "into DIR; LIBRARY is the path of libjprof.so as pitrace-attach sees it")  //
      ("timeout", cli::text("SEC", "30"), "seconds to wait for each answer, 1 to 600");
  table.positional("words", -1);
  return table;
}

int number(const std::string& text, int most) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && value > 0 && value <= most ? value : 0;
}

std::string absolute(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? real.get() : path;
}

struct Wanted {
  bool check = false, follow = false;
  pid_t pid = 0;
  Plan plan;
};

// Returns the error, or "".
std::string read_options(const cli::Values& values, Wanted& wanted) {
  std::vector<std::string> words;
  if (values.has("words")) words = values.words("words");
  wanted.check = values.flag("check");
  wanted.follow = values.has("follow");
  if (words.empty()) return "No process id is given.";
  wanted.pid = number(words[0], 4194304);
  if (wanted.pid == 0) return fmt::format("'{}' is not a process id.", words[0]);
  const int timeout = number(values.text("timeout"), 600);
  if (timeout == 0) return "--timeout: give a whole number of seconds from 1 to 600.";
  wanted.plan.timeout = std::chrono::seconds(timeout);
  if (wanted.check && wanted.follow) return "Give only one of --check and --follow.";
  if (wanted.check) return words.size() == 1 ? "" : "--check takes a process id only.";
  if (words.size() < 2) return "No agent library is given.";
  if (words.size() > (wanted.follow ? 2 : 3)) return "There are too many arguments.";
  wanted.plan.library = words[1];
  if (words.size() == 3) wanted.plan.options = words[2];
  if (wanted.follow) {
    wanted.plan.library = absolute(words[1]);
    wanted.plan.directory = absolute(values.text("follow"));
  } else if (!words[1].starts_with('/')) {
    return fmt::format("'{}' is not an absolute path. Give the path that the process sees.",
                       words[1]);
  }
  return "";
}

Status run(const Wanted& wanted) {
  const auto target = Target::open(wanted.pid);
  if (!target) return target.error();
  if (wanted.check) return check(*target);
  return wanted.follow ? follow(*target, wanted.plan) : load(*target, wanted.plan);
}

int main(const std::vector<std::string>& arguments) {
  const auto outcome = options().parse(arguments);
  if (outcome.exit) return *outcome.exit;
  Wanted wanted;
  if (const auto wrong = read_options(outcome.values, wanted); !wrong.empty()) {
    cli::error(wrong);
    return cli::exit_usage;
  }
  const auto done = run(wanted);
  if (done) return cli::printed(cli::exit_good);
  cli::error(done.error().message);
  return done.error().code;
}

}  // namespace
}  // namespace pi::attach

int main(int count, char** words) {
  return pi::cli::run_tool("pitrace-attach", count, words, pi::attach::main);
}
