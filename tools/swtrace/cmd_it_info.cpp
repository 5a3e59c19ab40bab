// SPDX-License-Identifier: MIT
// swtrace it_info: the state of ITrace.
#include <fmt/format.h>
#include "json.h"

#include "cli.h"
#include "commands.h"
#include "perfutil.h"

namespace pi::swtrace {
namespace {

uint64_t number(const std::string& lines, const std::string& key) {
  return std::stoull("0" + value_of(lines, key));
}

const char* how_text(uint64_t how) {
  switch (how) {
    case PI_ITRACE_BY_BRANCH_TRAP:
      return "branch traps of the processor for user code; single-stepping for kernel code";
    case PI_ITRACE_BY_STEP:
      return "the module single-steps every instruction";
    case PI_ITRACE_BY_PTRACE:
      return "the recorder single-steps every instruction by ptrace; user code only";
    default:
      return "";
  }
}

std::string options_text(uint64_t flags) {
  constexpr std::pair<int, const char*> names[] = {{PI_ITRACE_COUNT, "counts"},
                                                   {PI_ITRACE_STEP, "single steps"},
                                                   {PI_ITRACE_INTERRUPTS, "interrupts"},
                                                   {PI_ITRACE_NO_KERNEL, "user code only"},
                                                   {PI_ITRACE_NO_USER, "kernel code only"},
                                                   {PI_ITRACE_CHILDREN, "children"},
                                                   {PI_ITRACE_CONTINUOUS, "continuous"}};
  std::string text;
  for (const auto& [flag, name] : names)
    if ((flags & static_cast<uint64_t>(flag)) != 0)
      text += (text.empty() ? "" : ", ") + std::string(name);
  return text.empty() ? "none" : text;
}

void line(const char* label, const std::string& value) {
  fmt::print(" {:<20}: {}\n", label, value);
}

void print_text(const std::string& lines) {
  const auto count = [&](const char* key) { return std::to_string(number(lines, key)); };
  const bool installed = number(lines, "installed") != 0;
  line("ITrace", !installed                 ? "not installed ('swtrace it_install' installs it)"
                 : number(lines, "on") != 0 ? "installed, on for the enabled processes"
                                            : "installed, off");
  if (installed) {
    line("How", how_text(number(lines, "how")));
    line("Options", options_text(number(lines, "flags")));
    line("Threads followed", count("threads"));
    if (number(lines, "untraced") != 0)
      line("Threads left out", count("untraced") + ": too many threads, or not permitted");
  }
  if (number(lines, "dirty") != 0)
    line("Threads to clean", count("dirty") + ": trap flag still set");
  line("Steps", count("steps"));
  line("Branches", count("branches"));
  line("Gaps", count("gaps"));
}

void print_json(const std::string& lines) {
  pi::Json json;
  for (const char* key : {"installed", "on"}) json[key] = number(lines, key) != 0;
  json["how"] = how_text(number(lines, "how"));
  for (const char* key : {"flags", "threads", "untraced", "dirty", "steps", "branches", "gaps"})
    json[key] = number(lines, key);
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

int cmd_it_info(const Words& words) {
  cli::OptionTable table(
      {"swtrace it_info [--json]",
       "Shows whether ITrace (branch trace) is installed and on, how it works, and its counts.",
       {"swtrace it_info"},
       "Exit status: 0 done, 1 failed, 255 wrong use."});
  table.group("Output")("json", cli::flag(), "print JSON, for programs");
  const auto outcome = table.parse(words);
  if (outcome.exit) return *outcome.exit;
  const auto reply = ask({"it_info"});
  if (!reply) return cli::exit_failure;
  if (reply->rc != PU_SUCCESS) {
    cli::error(reply->text);
    return cli::exit_failure;
  }
  if (outcome.values.flag("json"))
    print_json(reply->text);
  else
    print_text(reply->text);
  return cli::exit_good;
}

}  // namespace pi::swtrace
