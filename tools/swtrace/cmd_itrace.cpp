// SPDX-License-Identifier: MIT
// swtrace it_install, it_enable, it_remove, it_on, it_off: sends requests to the recorder.
#include <fmt/format.h>

#include "cli.h"
#include "commands.h"
#include "perfutil.h"
#include "pid_ranges.h"

namespace pi::swtrace {
namespace {

constexpr char exit_codes[] = "Exit status: 0 done, 1 failed, 255 wrong use.";
constexpr char selection_help[] =
    "process ids: all, PID, PID- (PID and all greater ids), PID-PID, or a list of these with "
    "commas";

cli::OptionTable install_options() {
  cli::OptionTable table(
      {"swtrace it_install [OPTION]...",
       "Prepares ITrace (branch trace) and enables its majors (0x20, 0x21, 0x28, 0x29, 0x2b, 0x2c, "
       "0x2e, 0x2f) and mte (0x19). ITrace starts with 'swtrace it_on', 'swtrace it_run', or a "
       "call "
       "of ITraceOn() in a program. Without the pitrace module it traces only user code, and each "
       "process needs its PID.",
       {"swtrace it_install -i -p 4711", "swtrace it_install -i -user -cont -p 100-200"},
       exit_codes});
  table.group("What is recorded")                                 //
      ("i", cli::flag(), "count the instructions of each block")  //
      ("user", cli::flag(), "user code only")                     //
      ("kernel", cli::flag(), "kernel code only (module only)")   //
      ("cont", cli::flag(),
       "lose no records of user code: stop a thread while the buffer is full; needs 'swtrace init "
       "-t cont'")  //
      ("intr", cli::flag(),
       "record where interrupts happened, and how long their handlers ran")  //
      ("ss", cli::flag(),
       "single-step instructions even if the processor can trap branches of user code; a "
       "program can see this in its flags register; -i does the same")  //
      ("c", cli::text("SKIP"), "has no effect; accepted for old scripts");
  table.group("Which processes")                                                 //
      ("p", cli::text("WHICH"), selection_help)                                  //
      ("children", cli::flag(), "also the child processes of a traced process")  //
      ("threads", cli::text("N"),
       "maximum number of threads that are traced at a time (default 4096)")  //
      ("reserve", cli::text("SIZE"),
       "with -cont: part of each CPU's buffer for records of kernel code, in MB (default 4)");
  return table;
}

int flags_of(const cli::Values& values) {
  constexpr std::pair<const char*, int> options[] = {
      {"i", PI_ITRACE_COUNT},        {"user", PI_ITRACE_NO_KERNEL},
      {"kernel", PI_ITRACE_NO_USER}, {"cont", PI_ITRACE_CONTINUOUS},
      {"ss", PI_ITRACE_STEP},        {"children", PI_ITRACE_CHILDREN},
      {"intr", PI_ITRACE_INTERRUPTS}};
  int flags = PI_ITRACE_RING;
  for (const auto& [name, flag] : options)
    if (values.flag(name)) flags |= flag;
  return flags;
}

// Adds the words of the selected ranges; false after a message if text is no selection.
bool add_ranges(const std::string& text, Request& request) {
  const auto ranges = parse_pid_ranges(text);
  if (!ranges) {
    cli::error(
        fmt::format("'{}' does not select processes. Give all, PID, PID-, PID-PID, or a list of "
                    "these with commas.",
                    text));
    return false;
  }
  for (const auto& [first, last] : *ranges) {
    request.push_back(std::to_string(first));
    request.push_back(std::to_string(last));
  }
  return true;
}

// -threads and -reserve, 0 if not given; nothing after a message if they are wrong.
std::optional<std::pair<int, uint32_t>> read_sizes(const cli::Values& values) {
  int threads = 0;
  uint32_t reserve = 0;
  if (values.has("threads")) {
    constexpr int max_threads = 65536;
    const auto& text = values.text("threads");
    const auto number = parse_number(text, max_threads);
    if (!number || *number == 0) {
      cli::error(fmt::format("-threads: '{}' is not a number from 1 to {}.", text, max_threads));
      return std::nullopt;
    }
    threads = *number;
  }
  if (values.has("reserve")) {
    const auto& text = values.text("reserve");
    const auto size = parse_size(text);
    if (!size) {
      cli::error(fmt::format("-reserve: '{}' is not a size such as 4M or 512K.", text));
      return std::nullopt;
    }
    reserve = *size;
  }
  return std::pair(threads, reserve);
}

int plain_command(const Words& words, const char* name, const char* summary) {
  const auto outcome =
      cli::OptionTable(
          {fmt::format("swtrace {}", name), summary, {fmt::format("swtrace {}", name)}, exit_codes})
          .parse(words);
  return outcome.exit ? *outcome.exit : ask_and_report({name});
}

}  // namespace

int cmd_it_install(const Words& words) {
  const auto outcome = install_options().parse(words);
  if (outcome.exit) return *outcome.exit;
  const auto& values = outcome.values;
  if (values.flag("user") && values.flag("kernel")) {
    cli::error("-user and -kernel exclude each other. Give one of them, or neither for both.");
    return cli::exit_usage;
  }
  if (values.has("c")) {
    if (!parse_number(values.text("c"), INT32_MAX)) {
      cli::error(fmt::format("-c: '{}' is not a number.", values.text("c")));
      return cli::exit_usage;
    }
    cli::warning("-c does nothing: ITrace does not change the timer.");
  }
  const auto sizes = read_sizes(values);
  if (!sizes) return cli::exit_usage;
  if (sizes->second != 0 && !values.flag("cont"))
    cli::warning("-reserve has no effect without -cont.");
  Request request{"it_install", std::to_string(flags_of(values)), std::to_string(sizes->first),
                  std::to_string(sizes->second)};
  if (values.has("p") && !add_ranges(values.text("p"), request)) return cli::exit_usage;
  return ask_and_report(request);
}

int cmd_it_enable(const Words& words) {
  cli::OptionTable table(
      {"swtrace it_enable WHICH",
       "Enables processes for ITrace (branch trace), in addition to those of 'it_install -p'. "
       "WHICH "
       "is all, PID, PID- (PID and all greater ids), PID-PID, or a list of these with commas.",
       {"swtrace it_enable 4711", "swtrace it_enable 100-200,4711"},
       exit_codes});
  table.positional("which", 1);
  const auto outcome = table.parse(words);
  if (outcome.exit) return *outcome.exit;
  if (!outcome.values.has("which")) {
    cli::error("No process is given. Give all, PID, PID-, PID-PID, or a list of these.");
    return cli::exit_usage;
  }
  Request request{"it_enable"};
  if (!add_ranges(outcome.values.words("which").front(), request)) return cli::exit_usage;
  return ask_and_report(request);
}

int cmd_it_remove(const Words& words) {
  const auto outcome =
      cli::OptionTable(
          {"swtrace it_remove",
           "Ends ITrace (branch trace) and releases what 'it_install' allocated. If ITrace is not "
           "installed, this prints a warning.",
           {"swtrace it_remove"},
           exit_codes})
          .parse(words);
  if (outcome.exit) return *outcome.exit;
  const auto reply = ask({"it_remove"});
  if (!reply) return cli::exit_failure;
  if (reply->rc == PU_SUCCESS) return cli::exit_good;
  if (reply->rc != PU_ERROR_INCORRECT_STATE) {
    cli::error(reply->text);
    return cli::exit_failure;
  }
  cli::warning(reply->text);
  return cli::exit_good;
}

int cmd_it_on(const Words& words) {
  return plain_command(words, "it_on",
                       "Starts ITrace (branch trace) for all threads of the enabled processes, "
                       "until 'swtrace it_off'. The trace must be on.");
}

int cmd_it_off(const Words& words) {
  return plain_command(words, "it_off",
                       "Stops ITrace (branch trace) for all threads. They continue at full speed.");
}

}  // namespace pi::swtrace
