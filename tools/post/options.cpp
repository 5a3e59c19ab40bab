// SPDX-License-Identifier: MIT
// post's command line.
#include "options.h"

#include <cli.h>

namespace post {
namespace {

namespace cli = pi::cli;
namespace po = pi::cli::po;

cli::OptionTable option_table() {
  cli::OptionTable table(
      {"post [OPTION]...",
       "Reads a trace file and writes the reports on it: tprof.out, and on request post.show and "
       "tprof.json.",
       {"post", "post -r run1.nrm2 -o run1 -demangle --json", "post -clip 1 -pnm -rsel 00100001",
        "post -showx"},
       "Exit status: 0 good; 1 nothing to report, or a file cannot be read or written; 3 the trace "
       "is damaged or incomplete, reports are on what is good; 255 wrong usage."});
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
  table.group("Files")(",r", text("FILE")->default_value("swtrace.nrm2"), "the trace file")(
      ",o", text("DIR")->default_value("."), "the directory for what is written")(
      "json", text("FILE")->implicit_value("tprof.json"),
      "write the tprof reports as JSON, too (to tprof.json)")(
      "show", "write every record as a line to post.show, too")(
      "showx", "write post.show only, do no symbol work")(
      "showxx", "as -showx, with each record's raw words");
  table.group("Reports")("clip", text("PERCENT")->default_value("0.1"),
                         "leave out what has less than PERCENT of all ticks")(
      "rsel", text("VEC8"), "eight digits 0 or 1: which of the eight reports are wanted")(
      "off", "add the report Module_Symbol_Offset")("pnm", "name processes without their ids")(
      "tnm", "name threads without their ids")("cpu", "add _CPU to the names of processes");
  table.group("Symbols")(",k", text("KERNEL"),
                         "take the kernel's symbols from this uncompressed image")(
      "kas", "take the kernel's symbols from the running kernel")(
      "nsf", "NoSymbolFound or NoSymbols instead of the section's name")(
      "sympath", text("PATH"), "directories, separated by ':', to look for files with symbols in")(
      "demangle", "make C++ and Rust names readable");
  table.group("Messages")("verbose", "tell what is done");
  return table;
}

int wrong(const std::string& text) {
  cli::error(text);
  cli::hint("post --help lists the options.");
  return cli::exit_usage;
}

bool parse_percent(const std::string& text, double& value) {
  size_t used = 0;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
    return false;
  }
  return used == text.size() && value >= 0 && value <= 100;
}

bool parse_selection(const std::string& text, std::array<bool, report_count>& selected) {
  if (text.size() != report_count || text.find_first_not_of("01") != std::string::npos ||
      text.find('1') == std::string::npos)
    return false;
  for (size_t i = 0; i < report_count; ++i) selected[i] = text[i] == '1';
  return true;
}

}  // namespace

std::string Options::output(const std::string& name) const {
  return name.starts_with('/') || directory == "." ? name : directory + "/" + name;
}

std::variant<Options, int> parse_options(const std::vector<std::string>& arguments) {
  const cli::OptionTable::Outcome outcome = option_table().parse(arguments);
  if (outcome.exit) return *outcome.exit;
  const po::variables_map& given = outcome.values;
  const auto has = [&](const char* name) { return given.count(name) != 0; };
  const auto text = [&](const char* name) {
    return has(name) ? given[name].as<std::string>() : std::string();
  };
  Options options;
  options.trace_file = text("-r");
  options.directory = text("-o");
  options.show = has("show") || has("showx") || has("showxx");
  options.show_raw = has("showxx");
  options.tprof = !has("showx") && !has("showxx");
  if (has("json")) options.json = text("json");
  options.verbose = has("verbose");
  options.report.offsets = has("off");
  options.report.labels = {has("pnm"), has("tnm"), has("cpu")};
  options.symbols = {text("-k"), has("kas"), has("nsf"), text("sympath"), has("demangle")};
  if (!parse_percent(text("clip"), options.report.clip_percent))
    return wrong("-clip takes a percentage from 0 to 100, not '" + text("clip") + "'.");
  if (has("rsel") && !parse_selection(text("rsel"), options.report.selected))
    return wrong("-rsel takes eight digits, 0 or 1 and at least one 1, not '" + text("rsel") +
                 "'.");
  if (!options.tprof && options.json)
    return wrong("--json needs the tprof reports, which -showx and -showxx leave out.");
  if (options.directory.empty()) return wrong("-o takes the name of a directory.");
  if (options.json && options.json->empty()) return wrong("--json= takes the name of a file.");
  return options;
}

}  // namespace post
