// SPDX-License-Identifier: MIT
// Command lines of all tools: one option table drives parsing, help and version; messages to
// stderr.
#ifndef PI_TOOLS_COMMON_CLI_H
#define PI_TOOLS_COMMON_CLI_H

#include <fmt/format.h>

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pi::cli {

// Exit statuses of the tools unless their manual says otherwise.
constexpr int exit_good = 0;
constexpr int exit_failure = 1;
constexpr int exit_usage = 255;  // Performance Inspector's -1: wrong options
constexpr int exit_damaged = 3;  // a report was written, but its input is damaged or incomplete

// To be called first in main, before any file is opened. name: for messages and --version. Opens
// those of the descriptors 0 to 2 that the caller has closed, so that no other file gets these
// numbers: reading 0 and writing to 1 fails, and text written to 2 is dropped. Where a lack of
// memory would abort the program, it ends with a message and exit_failure, by std::quick_exit().
void start_tool(std::string name);

// A whole main(): start_tool(), then run() with the words after the program's name. An exception
// becomes a message and exit_failure, and so does output that cannot be written.
int run_tool(std::string name, int count, char** words,
             const std::function<int(const std::vector<std::string>&)>& run);

// Message lines: "TOOL: error: TEXT". Not thread-safe.
void error(std::string_view text);
void warning(std::string_view text);
void hint(std::string_view text);

// Writes text to standard error as it is. A failure is ignored: a full disk behind standard error
// must not end the program, and nothing is left to report it.
void to_stderr(std::string_view text);

// Returns status, or exit_failure with a message when standard output cannot be written.
int printed(int status);

// Columns of the terminal on fd, 80 when fd is no terminal; COLUMNS overrides. At least 40.
unsigned columns(int fd);

// "TOOL VERSION" and the build's facts, for --version.
std::string version_text(std::string_view tool);

// The word with which each program prints its help as lines for other programs, of fields that are
// separated by tabs: "usage SYNOPSIS", "command NAME ARGUMENTS SUMMARY", "values VALUE WORD
// WORD...", and "option NAME KIND VALUE HELP", where KIND is that of Argument, or optional.
// scripts/completions reads them.
constexpr std::string_view help_table = "--help=table";
std::string table_line(std::initializer_list<std::string_view> fields);

struct Usage {
  std::string synopsis;               // "post [OPTION]..."
  std::string summary;                // one or two sentences
  std::vector<std::string> examples;  // one command line each
  std::string footer;                 // exit codes, files; may be empty
};

// The argument of an option.
struct Argument {
  enum class Kind { none, text, repeated, words };
  Kind kind = Kind::none;
  std::string name;                   // in the help; "a|b" are its only values; none: "arg"
  std::optional<std::string> preset;  // the value if the option is not given
  std::optional<std::string>
      alone;                // the text where the option has none; without this it must have one
  std::string alone_shown;  // that text in the help
  std::string values;       // with a name: its only values, separated by blanks
};

// No argument.
Argument flag();
// One word: `name` in the help; `preset` is its value if the option is not given.
Argument text(std::string name, std::optional<std::string> preset = std::nullopt);
// One optional word: `alone` is its value if it is left out, `shown` describes that in the help.
Argument optional_text(std::string name, std::string alone, std::string shown);
// One word; the option may be given several times.
Argument repeated(std::string name, std::string values = {});
// All words up to the next option.
Argument words(std::string name);

// The options that were given, and the presets of others. Asking for one that the table does not
// have is a logic_error.
class Values {
 public:
  // The option was given, or has a preset.
  bool has(std::string_view option) const { return find(option).given || find(option).preset; }
  // The option was given.
  bool given(std::string_view option) const { return find(option).given; }
  bool flag(std::string_view option) const { return find(option).given; }
  // Its word; empty if it was not given and has no preset.
  const std::string& text(std::string_view option) const;
  // Its words; none if it was not given.
  const std::vector<std::string>& words(std::string_view option) const {
    return find(option).words;
  }

 private:
  friend class OptionTable;
  struct Value {
    bool given = false;
    bool preset = false;
    std::vector<std::string> words;
  };
  const Value& find(std::string_view option) const;

  std::map<std::string, Value, std::less<>> values_;
};

// One tool's (or subcommand's) options. Long names may be written with one dash, as in Performance
// Inspector, or two: "-clip 0.5", "--clip=0.5". "-?", "-h", "--help" give help, "-??" too.
// Boost.Program_options, which does the work, is included by cli.cpp only: it takes seconds to
// compile in each file.
class OptionTable {
 public:
  explicit OptionTable(Usage usage);

  struct Option {
    std::string name;
    Argument argument;
    std::string help;
  };
  // Adds one option for each call: table.group("Symbols")("sympath", text("PATH"), "...")("lib",
  // ...);
  class Group {
   public:
    explicit Group(std::vector<Option>& options) : options_(options) {}
    Group& operator()(std::string name, Argument argument, std::string help) {
      options_.push_back({std::move(name), std::move(argument), std::move(help)});
      return *this;
    }
    Group& operator()(std::string name, std::string help) {
      return (*this)(std::move(name), flag(), std::move(help));
    }

   private:
    std::vector<Option>& options_;
  };
  // A headed group of options. Valid until the next call.
  Group group(const std::string& heading);
  // Positional words are collected under this (undocumented) option name, at most max_count (-1:
  // any number); without this call they are errors.
  void positional(const std::string& name, int max_count);

  struct Outcome {
    std::optional<int>
        exit;  // help or version was printed, or the usage was wrong: leave with this
    Values values;
  };
  // Prints help and version to stdout, what is wrong with the usage to stderr.
  Outcome parse(const std::vector<std::string>& arguments) const;

  std::string help(unsigned width) const;

  // What help_table prints.
  std::string table() const;

 private:
  Usage usage_;
  struct HeadedOptions {
    std::string heading;
    std::vector<Option> options;
  };
  std::vector<HeadedOptions> groups_;
  std::string positional_name_ = "words";
  int positional_count_ = 0;  // at most; -1: any number
};

}  // namespace pi::cli

#endif  // PI_TOOLS_COMMON_CLI_H
