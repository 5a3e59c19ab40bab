// SPDX-License-Identifier: MIT
// The commands of the command server: text into values, and their help.
#include "server/commands.h"

#include <algorithm>
#include <charconv>

#include <pi/words.h>

namespace pi::jprof {
namespace {

constexpr unsigned max_seconds = 86'400;

enum class Value { none, seconds, text };

struct KnownCommand {
  Verb verb;
  std::string_view names;  // separated by blanks
  Value value;
  std::string_view value_name;
  std::string_view help;
};

constexpr KnownCommand known[] = {
    {Verb::start, "START BEGIN START_WOB", Value::seconds, "SEC",
     "record calls or samples, at once or after SEC seconds"},
    {Verb::stop, "STOP END", Value::none, "", "record no more, write the logs, forget the counts"},
    {Verb::flush, "FLUSH", Value::none, "", "write the logs now; the recording continues"},
    {Verb::reset, "RESET", Value::none, "", "set all counts to 0; the recording continues"},
    {Verb::force_gc, "FGC FORCEGC GC", Value::none, "",
     "collect garbage; GC before another command does that first"},
    {Verb::info, "JPROFINFO", Value::none, "", "show what is recorded and written"},
    {Verb::query_pid, "QUERY_PID", Value::none, "", "show the process id"},
    {Verb::log_names, "LOGPATH", Value::text, "DIR", "directory of the logs"},
    {Verb::log_names, "LOGPREFIX", Value::text, "P", "first part of their names"},
    {Verb::log_names, "LOGSUFFIX", Value::text, "S", "last part of their names"},
    {Verb::log_names, "FNM", Value::text, "DIR/P", "LOGPATH=DIR and LOGPREFIX=P"},
    {Verb::lock_start, "JLMSTART JLM", Value::none, "",
     "in a JVM with JLM or JLML: count gets of monitors, with hold times, from 0"},
    {Verb::lock_start_lite, "JLMSTARTLITE JLML JLMLITESTART", Value::none, "",
     "the same without hold times"},
    {Verb::lock_stop, "JLMSTOP JSTOP", Value::none, "", "count no more; the counts are kept"},
    {Verb::lock_dump, "JLMDUMP JD JDUMP", Value::none, "", "write log-jlm now; counting continues"},
    {Verb::lock_reset, "JLMRESET JRESET", Value::none, "", "set the counts of monitors to 0"},
    {Verb::heap_dump, "HD HEAPDUMP DUMPHEAP", Value::none, "",
     "write all objects of the heap to log-hd; FGC,HD collects garbage before"},
    {Verb::heap_dump_live, "HDF", Value::none, "",
     "only those that are in use: garbage is collected in the same pause"},
    {Verb::verbose, "VERBOSE", Value::none, "", "report on the JVM's stderr what JProf does"},
    {Verb::log_commands, "LOGRTDCMDS", Value::none, "", "report each command there"},
    {Verb::help, "HELP", Value::none, "", "show this help"},
    {Verb::all_help, "ALLHELP", Value::none, "", "show the refused commands, too"},
    {Verb::agent_help, "JPROFHELP", Value::none, "", "show the options of JProf"},
    {Verb::all_agent_help, "ALLJPROFHELP", Value::none, "", "show its refused options, too"},
    {Verb::shutdown, "SHUTDOWN", Value::none, "",
     "STOP, and accept no more commands; the JVM continues"},
};

struct RefusedCommands {
  std::string_view names;  // separated by blanks
  std::string_view why;
};

constexpr RefusedCommands refused[] = {
    {"ITRACE_ON ITRACE_OFF", "is not supported: run.itrace records the branches of a process"},
    {"ZEROBASE BASE NOBASE +BASE -BASE",
     "is not supported: methods that are running when a recording starts have no calls"},
    {"ASYNC_MODE SYNC_MODE SLEEP",
     "is not supported: commands are executed one after the other; the client waits with -c CMD "
     "SEC"},
    {"FLUSHAFTERGC NOFLUSHAFTERGC", "is not supported: use GC FLUSH"},
    {"FUNCTIONENTRY FUNCTIONEXIT", "is not supported: only methods of Java are recorded"},
    {"VERBMSG MASK", "is not supported: use VERBOSE"},
};

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return result;
}

const KnownCommand* find_known(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(known), std::end(known),
                   [name](const KnownCommand& k) { return contains_word(k.names, name); });
  return found == std::end(known) ? nullptr : found;
}

std::string_view why_refused(std::string_view name) {
  for (const auto& group : refused)
    if (contains_word(group.names, name)) return group.why;
  return "is no command of JProf; try HELP";
}

void refuse(Command& command, const std::string& problem) {
  command.verb = Verb::refused;
  command.problem = problem;
}

void take_value(Command& command, const KnownCommand& of, std::string_view name,
                std::string_view value, bool given) {
  const std::string shown = "'" + command.text + "'";
  if (of.value == Value::none && given) return refuse(command, shown + " takes no value");
  if (of.value == Value::text && value.empty())
    return refuse(command, shown + " needs a value: " + std::string(of.value_name));
  if (of.value == Value::text) command.option = std::string(name) + "=" + std::string(value);
  if (of.value != Value::seconds || !given) return;
  const char* const end = value.data() + value.size();
  const auto [last, error] = std::from_chars(value.data(), end, command.seconds);
  if (error != std::errc() || last != end || command.seconds > max_seconds)
    refuse(command, shown + ": the value is a number of seconds from 0 to 86400");
}

// "GC FLUSH" and "GCFLUSH": the command after GC, else the name itself.
std::string_view without_gc(std::string_view name, bool& gc_first) {
  if (!name.starts_with("GC") || name.size() == 2) return name;
  gc_first = true;
  return trimmed(name.substr(2));
}

Command parse_command(std::string_view text) {
  Command command;
  command.text = text;
  const size_t equals = text.find('=');
  const bool given = equals != text.npos;
  const std::string whole = upper(trimmed(text.substr(0, equals)));
  const std::string_view name = without_gc(whole, command.gc_first);
  const KnownCommand* const found = find_known(name);
  if (!found) {
    refuse(command, "'" + command.text + "' " + std::string(why_refused(name)));
    return command;
  }
  command.verb = found->verb;
  take_value(command, *found, name, given ? trimmed(text.substr(equals + 1)) : "", given);
  return command;
}

std::string with_value(const KnownCommand& command) {
  const size_t end = std::min(command.names.find(' '), command.names.size());
  std::string text(command.names.substr(0, end));
  if (command.value == Value::seconds) text += "[=" + std::string(command.value_name) + "]";
  if (command.value == Value::text) text += "=" + std::string(command.value_name);
  for (const char c : command.names.substr(end))
    text += c == ' ' ? std::string(" | ") : std::string(1, c);
  return text;
}

}  // namespace

std::vector<Command> parse_commands(std::string_view message) {
  std::vector<Command> commands;
  while (!message.empty()) {
    const size_t end = std::min(message.find(','), message.size());
    if (const auto text = trimmed(message.substr(0, end)); !text.empty()) {
      if (commands.size() == max_commands) {
        commands.assign(1, {});
        refuse(commands.front(), "A message has at most 64 commands; none was executed");
        return commands;
      }
      commands.push_back(parse_command(text));
    }
    message.remove_prefix(std::min(end + 1, message.size()));
  }
  return commands;
}

std::string commands_help(bool all) {
  constexpr size_t width = 34;
  std::string text =
      "Commands of JProf. Upper and lower case are the same; several are separated by commas.\n";
  for (const auto& command : known) {
    std::string line = "  " + with_value(command);
    line.append(line.size() < width ? width - line.size() : 1, ' ');
    text += line + std::string(command.help) + "\n";
  }
  text += all ? "Commands of Performance Inspector that are refused:\n"
              : "ALLHELP also lists the refused commands. See rtdriver(1) and jprof(7).";
  if (!all) return text;
  for (const auto& group : refused)
    text += "  " + std::string(group.names) + ": " + std::string(group.why) + "\n";
  text.pop_back();
  return text;
}

}  // namespace pi::jprof
