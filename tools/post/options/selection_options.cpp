// SPDX-License-Identifier: MIT
// The options that say which records and ticks are used and where symbols come from.
#include "selection_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "text/text.h"

namespace post {
namespace {

namespace cli = pi::cli;

bool parse_range(const std::vector<std::string>& words, NumberRange& range) {
  return words.size() == 2 && parse_number(words[0], range.first) &&
         parse_number(words[1], range.last) && range.last != 0 && range.first <= range.last;
}

// Options on records; returns an error message, or nothing.
std::string take_selection(const cli::Values& given, Selection& selection) {
  if (given.has("-p") && given.has("pp")) return "-p and -pp do not go together.";
  if (given.has("-p") &&
      (!parse_number(given.text("-p"), selection.records.last) || selection.records.last == 0))
    return "-p takes the number of the last record, from 1, not '" + given.text("-p") + "'.";
  if (given.has("pp") && !parse_range(given.words("pp"), selection.records))
    return "-pp takes the numbers of the first and the last record.";
  if (given.has("twin") && !parse_range(given.words("twin"), selection.ticks))
    return "-twin takes the numbers of the first and the last tick.";
  if (given.has("tpsel")) {
    uint64_t metric = 0;
    if (!parse_number(given.text("tpsel"), metric) || metric > 0xff)
      return "-tpsel takes the number of a metric, 0 to 255, not '" + given.text("tpsel") + "'.";
    selection.metric = static_cast<uint8_t>(metric);
  }
  return {};
}

// Options that select by name, CPU and time; returns an error message, or nothing.
std::string take_choices(const cli::Values& given, Selection& selection) {
  for (size_t i = 0; i < name_kinds; ++i) {
    const std::string option = option_of(static_cast<NameKind>(i));
    selection.names[i] = {given.words(option), given.words("no-" + option)};
    for (const auto* words : {&selection.names[i].only, &selection.names[i].without})
      if (std::ranges::find(*words, "") != words->end())
        return fmt::format("--{} and --no-{} take a name, or a number.", option, option);
  }
  for (const bool without : {false, true}) {
    for (const std::string& list : given.words(without ? "no-cpus" : "cpus"))
      if (!parse_cpus(list, without ? selection.cpus.without : selection.cpus.only))
        return "--cpus takes numbers of CPUs and ranges such as 0-3,7, not '" + list + "'.";
    for (const std::string& text : given.words(without ? "no-time" : "time")) {
      const std::optional<TimeRange> range = parse_seconds(text);
      if (!range)
        return "--time takes seconds since the first record, FROM-TO as in 1.5-3, 1.5- or -3, "
               "not '" +
               text + "'.";
      (without ? selection.times.without : selection.times.only).push_back(*range);
    }
  }
  return {};
}

// The options on records, names, CPUs and time, as words of a command line.
std::vector<std::string> typed_selection(const cli::Values& given) {
  std::vector<std::string> typed;
  for (const std::string_view option : {"-p", "pp", "twin", "tpsel"})
    if (given.has(option)) {
      const std::vector<std::string>& words = given.words(option);
      typed.push_back(fmt::format("{}{}", option.starts_with('-') ? "" : "-", option));
      typed.insert(typed.end(), words.begin(), words.end());
    }
  std::vector<std::string> repeated{"cpus", "time"};
  for (size_t i = 0; i < name_kinds; ++i)
    repeated.emplace_back(option_of(static_cast<NameKind>(i)));
  for (const std::string& option : repeated)
    for (const char* prefix : {"", "no-"})
      for (const std::string& word : given.words(prefix + option))
        typed.push_back(fmt::format("--{}{}={}", prefix, option, word));
  return typed;
}

// The ranges of -a2nrng; false when they are not groups of four.
bool take_ranges(const std::vector<std::string>& words, std::vector<SymbolRangeOption>& ranges) {
  if (words.empty() || words.size() % 4 != 0) return false;
  for (size_t i = 0; i < words.size(); i += 4)
    ranges.push_back({words[i], words[i + 1], words[i + 2], words[i + 3]});
  return true;
}

// Options on the sources of symbols; returns an error message, or nothing.
std::string take_symbols(const cli::Values& given, SymbolOptions& symbols) {
  const auto has = [&](const char* name) { return given.has(name); };
  const auto text = [&](const char* name) { return has(name) ? given.text(name) : std::string(); };
  if (has("lmrg") && has("sympath"))
    return "-lmrg takes symbols from its file alone; -sympath does not go with it.";
  symbols.kernel_image = text("-k");
  symbols.running_kernel = has("kas");
  symbols.plain_no_symbol = has("nsf");
  symbols.search_path = text("sympath");
  symbols.demangle = has("demangle");
  symbols.kernel_map = text("kmap");
  symbols.saved_symbols = text("lmrg");
  symbols.validate = !has("nv");
  symbols.any_symbol = has("anysym");
  symbols.report_sources = has("a2ndbg");
  symbols.rename_duplicates = has("a2nrdup");
  symbols.range_file = text("a2nrfn");
  symbols.log_prefix = text("jdir");
  symbols.report_logs = has("jita2nmsg");
  symbols.dynamic_code_name = text("a2nmmi");
  symbols.inlined = has("inline");
  if (has("a2nrng") && !take_ranges(given.words("a2nrng"), symbols.ranges))
    return "-a2nrng takes four words: the module, its first and last symbol, a name.";
  return {};
}

}  // namespace

void add_selection_groups(cli::OptionTable& table) {
  using cli::text, cli::words, cli::repeated;
  table.group("Which records (counted by time, from 1)")(",p", text("STOP"),
                                                         "read only the first STOP records")(
      "pp", words("START STOP"), "only the ticks among the records START to STOP")(
      "twin", words("FIRST LAST"), "only the ticks FIRST to LAST")(
      "tpsel", text("N"),
      "only ticks of kind N, 0 to 255; all ticks of this version are of kind 0");
  table.group("What the reports are on (each may be given again)")(
      "process", repeated("NAME|PID"), "only processes NAME (with wildcards: 'cc1*') or PID")(
      "command", repeated("NAME|PID"), "the same, with all processes that descend from them")(
      "thread", repeated("NAME|TID"), "only threads NAME or TID")("cpus", repeated("LIST"),
                                                                  "only these CPUs: 0-3,7")(
      "module", repeated("NAME"),
      "only ticks in programs and libraries NAME: a path or its last part")(
      "symbol", repeated("NAME"), "only ticks in functions NAME")(
      "time", repeated("FROM-TO"), "only these seconds since the first record: 1.5-3, 1.5- or -3")(
      "no-process", repeated("NAME|PID"), "leave these processes out")(
      "no-command", repeated("NAME|PID"), "... and all that descend from them")(
      "no-thread", repeated("NAME|TID"), "leave these threads out")(
      "no-cpus", repeated("LIST"), "leave these CPUs out")("no-module", repeated("NAME"),
                                                           "leave these modules out")(
      "no-symbol", repeated("NAME"), "leave these symbols out")("no-time", repeated("FROM-TO"),
                                                                "leave these seconds out");
  table.group("Symbols")(",k", text("KERNEL"),
                         "take the kernel's symbols from this uncompressed image")(
      "kas", "take the kernel's symbols from the running kernel")(
      "kmap", text("MAP"), "take the kernel's symbols from this map (nm -a, genmap, System.map)")(
      "lmrg", text("FILE"),
      "take the symbols of programs and libraries from FILE, which genmsi has written")(
      "nv",
      "use symbol files without a check that they belong to the traced programs; names may then be "
      "wrong")("anysym", "if no symbol contains an address, show the symbol before it")(
      "a2nrdup", "number functions of the same name: name#2 is the second one of a module")(
      "a2nrng", words("MOD START STOP NAME"),
      "show all symbols from START to STOP of module MOD as one, NAME")(
      "a2nrfn", text("FILE"), "the same for lines \"MOD START STOP [NAME]\" of FILE")(
      "a2ndbg", "print the source of each module's symbols")(
      "nsf",
      "show code without a symbol as NoSymbolFound, or as NoSymbols if its file has none at all; "
      "not "
      "as [FILE+ADDRESS] or by its section")(
      "sympath", text("PATH"),
      "directories, separated by ':', in which to search for symbol files")(
      "demangle", "show C++ and Rust names as they are in the source")(
      "inline", "show inlined functions by themselves, not as part of their caller");
  table.group("JIT-compiled code")(
      "jdir", text("PREFIX"),
      "JProf's logs are PREFIX-jita2n_PID and PREFIX-jtnm_PID (default: log, in the directory of "
      "the trace)")("jita2nmsg", "print the log from which each process's names came")(
      "a2nmmi", text("NAME"),
      "show all generated code that is no method (stubs, the interpreter) as one symbol NAME");
}

std::string take_selection_options(const cli::Values& given, Selection& selection,
                                   SymbolOptions& symbols) {
  selection.options = typed_selection(given);
  if (std::string problem = take_selection(given, selection); !problem.empty()) return problem;
  if (std::string problem = take_choices(given, selection); !problem.empty()) return problem;
  return take_symbols(given, symbols);
}

std::string take_source_path(const cli::Values& given, std::vector<std::string>& directories) {
  if (!given.has("source-path")) return {};
  std::istringstream list(given.text("source-path"));
  for (std::string directory; std::getline(list, directory, ':');)
    if (!directory.empty()) directories.push_back(directory);
  std::error_code problem;
  for (const std::string& each : directories)
    if (!std::filesystem::is_directory(each, problem))
      return "--source-path takes directories; '" + printable(each) + "' is none.";
  if (directories.empty()) return "--source-path takes directories, separated by ':'.";
  return {};
}

}  // namespace post
