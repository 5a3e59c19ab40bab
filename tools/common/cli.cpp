// SPDX-License-Identifier: MIT
// Command lines of all tools: parsing by Boost.Program_options, help, messages.
#include "cli.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <system_error>

#include "version.h"

namespace pi::cli {
namespace {

std::string tool_name = "pitrace";

void message(std::string_view kind, std::string_view text) {
  fmt::print(stderr, "{}: {}{}\n", tool_name, kind, text);
}

bool is_help(const std::string& word) {
  return word == "-?" || word == "-??" || word == "-h" || word == "--help" || word == "-help";
}

// Broken between words so that no line is longer than width, where a single word is not.
std::string wrapped(const std::string& text, unsigned width) {
  std::istringstream words(text);
  std::string result, line, word;
  while (words >> word) {
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      result += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return result + line;
}

// Boost knows no long names of one letter with one dash, which is how the original tools are used.
std::string with_one_dash(std::string text) {
  for (std::size_t at = text.find("  --"); at != std::string::npos;
       at = text.find("  --", at + 1)) {
    const bool first_in_line = at == 0 || text[at - 1] == '\n';
    const bool one_letter = at + 5 < text.size() &&
                            std::islower(static_cast<unsigned char>(text[at + 4])) != 0 &&
                            (text[at + 5] == ' ' || text[at + 5] == '\n');
    if (first_in_line && one_letter) text.replace(at + 2, 3, {'-', text[at + 4], ' '});
  }
  return text;
}

}  // namespace

void start_tool(std::string name) {
  tool_name = std::move(name);
  // open() takes the lowest number that is free.
  constexpr int modes[] = {O_WRONLY, O_RDONLY, O_WRONLY};
  for (int fd = 0; fd < 3; ++fd)
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", modes[fd]) != fd) std::_Exit(exit_failure);
}
void error(std::string_view text) {
  message("error: ", text);
}
void warning(std::string_view text) {
  message("warning: ", text);
}
void hint(std::string_view text) {
  message("hint: ", text);
}

int printed(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  error(fmt::format("The output cannot be written: {}.", std::generic_category().message(errno)));
  return exit_failure;
}

unsigned columns(int fd) {
  long width = 0;
  if (const char* variable = std::getenv("COLUMNS")) width = std::strtol(variable, nullptr, 10);
  winsize size{};
  if (width <= 0 && ::ioctl(fd, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  if (width <= 0) width = 80;
  return static_cast<unsigned>(std::clamp(width, 40L, 200L));
}

std::string version_text(std::string_view tool) {
  return fmt::format("{} (pitrace) {}\n", tool, version);
}

OptionTable::OptionTable(Usage usage) : usage_(std::move(usage)) {}

po::options_description_easy_init OptionTable::group(const std::string& heading) {
  headings_.push_back(heading);
  // The width is set again in help(); parsing does not use it.
  groups_.emplace_back(heading);
  return groups_.back().add_options();
}

void OptionTable::positional(const std::string& name, int max_count) {
  positional_name_ = name;
  positional_.add(name.c_str(), max_count);
}

std::string OptionTable::help(unsigned width) const {
  std::string text =
      fmt::format("Usage: {}\n\n{}\n", usage_.synopsis, wrapped(usage_.summary, width));
  for (size_t i = 0; i < groups_.size(); ++i) {
    po::options_description sized(headings_[i], width, width / 2);
    for (const auto& option : groups_[i].options()) sized.add(option);
    text += "\n" + with_one_dash(fmt::format("{}", fmt::streamed(sized)));
  }
  text += "\nGeneral:\n  -h [ --help ], -?  this text\n  --version          the version\n";
  if (!usage_.examples.empty()) {
    text += "\nExamples:\n";
    for (const auto& example : usage_.examples) text += "  " + example + "\n";
  }
  if (!usage_.footer.empty()) text += "\n" + wrapped(usage_.footer, width) + "\n";
  return text;
}

OptionTable::Outcome OptionTable::parse(const std::vector<std::string>& arguments) const {
  Outcome outcome;
  for (const auto& word : arguments) {
    if (word == "--") break;
    if (is_help(word)) {
      fmt::print("{}", help(columns(STDOUT_FILENO)));
      outcome.exit = exit_good;
      return outcome;
    }
    if (word == "--version") {
      fmt::print("{}", version_text(tool_name));
      outcome.exit = exit_good;
      return outcome;
    }
  }
  po::options_description all;
  for (const auto& part : groups_) all.add(part);
  if (!positional_name_.empty())
    all.add_options()(positional_name_.c_str(), po::value<std::vector<std::string>>());
  namespace style = po::command_line_style;
  try {
    const int syntax = (style::unix_style | style::allow_long_disguise) & ~style::allow_guessing;
    po::store(
        po::command_line_parser(arguments).options(all).positional(positional_).style(syntax).run(),
        outcome.values);
    po::notify(outcome.values);
  } catch (const po::error& problem) {
    error(problem.what());
    fmt::print(stderr, "Usage: {}\nTry --help.\n", usage_.synopsis);
    outcome.exit = exit_usage;
  }
  return outcome;
}

}  // namespace pi::cli
