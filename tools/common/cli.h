// SPDX-License-Identifier: MIT
// Command lines of all tools: one option table drives parsing, help and version; messages to
// stderr.
#ifndef PI_TOOLS_COMMON_CLI_H
#define PI_TOOLS_COMMON_CLI_H

#include <boost/program_options.hpp>
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pi::cli {

namespace po = boost::program_options;

// What the tools exit with unless their manual says otherwise.
constexpr int exit_good = 0;
constexpr int exit_failure = 1;
constexpr int exit_usage = 255;  // the original's -1: wrong options
constexpr int exit_damaged = 3;  // a report was written, but its input is damaged or incomplete

// First in main, before any file is opened. name: for messages and --version. Descriptors 0 to 2
// that the caller has closed are opened, so that no file gets their numbers and takes what is meant
// for a terminal: reading 0 and writing to 1 fails, and what is written to 2 is dropped.
void start_tool(std::string name);

// Message lines: "TOOL: error: TEXT". Not thread-safe.
void error(std::string_view text);
void warning(std::string_view text);
void hint(std::string_view text);

// status, or exit_failure with a message when what was printed does not get to standard output.
int printed(int status);

// Columns of the terminal on fd, 80 when it is none; COLUMNS overrides. At least 40.
unsigned columns(int fd);

// "TOOL VERSION" and the build's facts, for --version.
std::string version_text(std::string_view tool);

struct Usage {
  std::string synopsis;               // "post [OPTION]..."
  std::string summary;                // one or two sentences
  std::vector<std::string> examples;  // one command line each
  std::string footer;                 // exit codes, files; may be empty
};

// One tool's (or subcommand's) options. Long names may be written with one dash or two, as the
// original tools had them: "-clip 0.5", "--clip=0.5". "-?", "-h", "--help" give help, "-??" too.
class OptionTable {
 public:
  explicit OptionTable(Usage usage);

  // A headed group of options; fill it with boost's easy-init syntax:
  //   table.group("Symbols")("sympath", po::value<std::string>()->value_name("PATH"), "...");
  po::options_description_easy_init group(const std::string& heading);
  // Positional words are collected under this (undocumented) option name; without it they are
  // errors.
  void positional(const std::string& name, int max_count);

  struct Outcome {
    std::optional<int>
        exit;  // help or version was printed, or the usage was wrong: leave with this
    po::variables_map values;
  };
  // Prints help and version to stdout, what is wrong with the usage to stderr.
  Outcome parse(const std::vector<std::string>& arguments) const;

  std::string help(unsigned width) const;

 private:
  Usage usage_;
  std::vector<std::string> headings_;
  std::vector<po::options_description> groups_;
  po::positional_options_description positional_;
  std::string positional_name_;
};

}  // namespace pi::cli

#endif  // PI_TOOLS_COMMON_CLI_H
