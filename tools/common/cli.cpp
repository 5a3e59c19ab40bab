// SPDX-License-Identifier: MIT
// Command lines of all tools: parsing by Boost.Program_options, help, messages.
#include "cli.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/program_options.hpp>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include <pi/files.h>
#include <pi/printable.h>
#include <pi/similar_word.h>

#include "version.h"

namespace pi::cli {

namespace po = boost::program_options;

namespace {

std::string tool_name = "pitrace";

std::atomic<bool> out_of_memory = false;
std::terminate_handler usual_end = nullptr;

// Does what operator new does without a handler.
void on_lack_of_memory() {
  out_of_memory = true;
  throw std::bad_alloc();
}

// Functions of the C++ library that are noexcept although they allocate memory get here, those of
// directory_iterator for example.
[[noreturn]] void on_terminate() {
  if (!out_of_memory) {
    usual_end();
    std::abort();
  }
  for (const std::string_view piece :
       {std::string_view(tool_name), std::string_view(": error: out of memory.\n")})
    to_stderr(piece);
  std::quick_exit(exit_failure);
}

void message(std::string_view kind, std::string_view text) {
  to_stderr(fmt::format("{}: {}{}\n", tool_name, kind, printable(text, "\n\t")));
}

bool is_help(const std::string& word) {
  return word == "-?" || word == "-??" || word == "-h" || word == "--help" || word == "-help";
}

// Breaks lines between words; only a single word can make a line longer than width.
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

// Each line of a synopsis has seven columns for "Usage: "; what does not fit follows further in.
std::string usage_lines(const std::string& synopsis, unsigned width) {
  constexpr unsigned lead = 7, further = lead + 4;
  std::istringstream lines("Usage: " + synopsis);
  std::string result, line;
  while (std::getline(lines, line)) {
    if (line.size() <= width) {
      result += line + "\n";
      continue;
    }
    result += line.substr(0, lead);
    for (const char each : wrapped(line.substr(lead), width - further))
      result += each == '\n' ? "\n" + std::string(further, ' ') : std::string(1, each);
    result += "\n";
  }
  return result;
}

// Boost has no long names of one letter with one dash, which Performance Inspector's tools have.
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

const po::value_semantic* semantic_of(const Argument& argument) {
  if (argument.kind == Argument::Kind::none) return po::bool_switch();
  if (argument.kind != Argument::Kind::text) {
    auto* words = po::value<std::vector<std::string>>();
    if (argument.kind == Argument::Kind::words) words->multitoken();
    if (!argument.name.empty()) words->value_name(argument.name);
    return words;
  }
  auto* text = po::value<std::string>();
  if (!argument.name.empty()) text->value_name(argument.name);
  if (argument.preset) text->default_value(*argument.preset);
  if (argument.alone) text->implicit_value(*argument.alone, argument.alone_shown);
  return text;
}

void add_options(const std::vector<OptionTable::Option>& options, po::options_description& to) {
  for (const auto& option : options)
    to.add_options()(option.name.c_str(), semantic_of(option.argument), option.help.c_str());
}

std::string_view kind_of(const Argument& argument) {
  using Kind = Argument::Kind;
  switch (argument.kind) {
    case Kind::none:
      return "none";
    case Kind::text:
      return argument.alone ? "optional" : "text";
    case Kind::repeated:
      return "repeated";
    case Kind::words:
      return "words";
  }
  return "none";
}

// Boost shows names of one letter with two dashes.
std::string shown_option(const std::string& name) {
  const size_t dashes = std::min(name.find_first_not_of('-'), name.size());
  return (name.size() - dashes == 1 ? "-" : "--") + name.substr(dashes);
}

// What is wrong with the words, where Boost's own message does not help.
std::string message_of(const po::error& problem, const po::options_description& all,
                       const std::string& positional) {
  if (const auto* unknown = dynamic_cast<const po::unknown_option*>(&problem)) {
    const std::string given = unknown->get_option_name();
    std::vector<std::string> names;
    for (const auto& option : all.options())
      if (const std::string& name = option->long_name(); name.size() > 1 && name != positional)
        names.push_back(name);
    const std::string similar = given.starts_with("--") ? similar_word(given.substr(2), names) : "";
    return fmt::format("there is no option {}.{}", given,
                       similar.empty() ? "" : fmt::format(" Did you mean --{}?", similar));
  }
  const auto* syntax = dynamic_cast<const po::invalid_command_line_syntax*>(&problem);
  if (syntax && syntax->kind() == po::invalid_syntax::missing_parameter)
    return fmt::format("option {} needs a value.", shown_option(syntax->get_option_name()));
  return problem.what();
}

// False if the caller has closed standard output: see start_tool().
bool has_output() {
  return (::fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) != O_RDONLY;
}

}  // namespace

Argument flag() {
  return {};
}
Argument text(std::string name, std::optional<std::string> preset) {
  return {Argument::Kind::text, std::move(name), std::move(preset), std::nullopt, {}, {}};
}
Argument optional_text(std::string name, std::string alone, std::string shown) {
  return {Argument::Kind::text, std::move(name),  std::nullopt,
          std::move(alone),     std::move(shown), {}};
}
Argument repeated(std::string name, std::string values) {
  return {Argument::Kind::repeated, std::move(name), std::nullopt, std::nullopt, {},
          std::move(values)};
}
Argument words(std::string name) {
  return {Argument::Kind::words, std::move(name), std::nullopt, std::nullopt, {}, {}};
}

const Values::Value& Values::find(std::string_view option) const {
  const auto found = values_.find(option);
  if (found == values_.end())
    throw std::logic_error(fmt::format("the option table has no option {}", option));
  return found->second;
}

const std::string& Values::text(std::string_view option) const {
  static const std::string none;
  const Value& value = find(option);
  return value.words.empty() ? none : value.words.front();
}

void start_tool(std::string name) {
  tool_name = std::move(name);
  std::set_new_handler(on_lack_of_memory);
  usual_end = std::set_terminate(on_terminate);
  // A file that reaches its limit of size (ulimit -f) is an error with a message.
  std::signal(SIGXFSZ, SIG_IGN);
  // open() takes the lowest number that is free.
  constexpr int modes[] = {O_WRONLY, O_RDONLY, O_WRONLY};
  for (int fd = 0; fd < 3; ++fd)
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", modes[fd]) != fd) std::_Exit(exit_failure);
}

int run_tool(std::string name, int count, char** words,
             const std::function<int(const std::vector<std::string>&)>& run) {
  start_tool(std::move(name));
  try {
    const int status = run({words + std::min(count, 1), words + count});
    return status == exit_good && has_output() ? printed(status) : status;
  } catch (const std::bad_alloc&) {
    error("out of memory.");
    return exit_failure;
  } catch (const std::system_error& problem) {
    const char* const what =
        std::ferror(stdout) != 0 ? "Cannot write the output" : "Unexpected error";
    error(fmt::format("{}: {}.", what, problem.code().message()));
    return exit_failure;
  } catch (const std::exception& problem) {
    error(fmt::format("Unexpected error: {}.", problem.what()));
    return exit_failure;
  }
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

void to_stderr(std::string_view text) {
  (void)write_all(STDERR_FILENO, text_bytes(text));
}

int printed(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  error(fmt::format("Cannot write the output: {}.", std::generic_category().message(errno)));
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

std::string table_line(std::initializer_list<std::string_view> fields) {
  std::string line;
  for (const std::string_view field : fields)
    line += fmt::format("{}{}", line.empty() ? "" : "\t", field);
  return line + "\n";
}

OptionTable::OptionTable(Usage usage) : usage_(std::move(usage)) {}

OptionTable::Group OptionTable::group(const std::string& heading) {
  groups_.push_back({heading, {}});
  return Group(groups_.back().options);
}

void OptionTable::positional(const std::string& name, int max_count) {
  positional_name_ = name;
  positional_count_ = max_count;
}

std::string OptionTable::help(unsigned width) const {
  std::string text =
      fmt::format("{}\n{}\n", usage_lines(usage_.synopsis, width), wrapped(usage_.summary, width));
  for (const HeadedOptions& group : groups_) {
    po::options_description sized(width, width / 2);
    add_options(group.options, sized);
    std::ostringstream lines;
    lines << sized;
    text += "\n" + wrapped(group.heading + ":", width) + "\n" + with_one_dash(lines.str());
  }
  text +=
      "\nGeneral:\n  -h [ --help ], -?  print this help\n  --version          print the version\n";
  if (!usage_.examples.empty()) {
    text += "\nExamples:\n";
    for (const auto& example : usage_.examples) text += "  " + example + "\n";
  }
  if (!usage_.footer.empty()) text += "\n" + wrapped(usage_.footer, width) + "\n";
  return text;
}

std::string OptionTable::table() const {
  std::string text;
  std::istringstream usages(usage_.synopsis);
  for (std::string line; std::getline(usages, line);)
    text += table_line({"usage", std::string_view(line).substr(line.find_first_not_of(' '))});
  for (const HeadedOptions& group : groups_)
    for (const Option& option : group.options) {
      // As Boost takes them: ",p" has a short name only.
      const std::string name = option.name.starts_with(',') ? "-" + option.name.substr(1)
                               : option.name.size() == 1    ? "-" + option.name
                                                            : "--" + option.name;
      text +=
          table_line({"option", name, kind_of(option.argument), option.argument.name, option.help});
      if (!option.argument.values.empty())
        text += table_line({"values", option.argument.name, option.argument.values});
    }
  return text + table_line({"option", "--help", "none", "", "print this help"}) +
         table_line({"option", "--version", "none", "", "print the version"});
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
    if (word == help_table) {
      fmt::print("{}", table());
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
  po::positional_options_description positional;
  for (const HeadedOptions& group : groups_) add_options(group.options, all);
  all.add_options()(positional_name_.c_str(), po::value<std::vector<std::string>>());
  positional.add(positional_name_.c_str(), -1);
  namespace style = po::command_line_style;
  try {
    const int syntax = (style::unix_style | style::allow_long_disguise) & ~style::allow_guessing;
    po::variables_map found;
    po::store(
        po::command_line_parser(arguments).options(all).positional(positional).style(syntax).run(),
        found);
    po::notify(found);
    for (const auto& option : all.options()) {
      const std::string& name = option->key("");
      const po::variable_value& value = found[name];
      Values::Value& taken = outcome.values.values_[name];
      if (value.empty()) continue;
      taken.given = !value.defaulted();
      taken.preset = value.defaulted() && value.value().type() != typeid(bool);
      if (const auto* words = boost::any_cast<std::vector<std::string>>(&value.value()))
        taken.words = *words;
      else if (const auto* word = boost::any_cast<std::string>(&value.value()))
        taken.words = {*word};
    }
    const std::vector<std::string>& words = outcome.values.values_[positional_name_].words;
    if (positional_count_ >= 0 && words.size() > static_cast<size_t>(positional_count_))
      throw po::error(fmt::format("unexpected argument \"{}\"", words[positional_count_]));
  } catch (const po::error& problem) {
    error(message_of(problem, all, positional_name_));
    to_stderr(fmt::format("Usage: {}\nTry --help.\n", usage_.synopsis));
    outcome.exit = exit_usage;
  }
  return outcome;
}

}  // namespace pi::cli
