// SPDX-License-Identifier: MIT
// The words -c CMD [SEC] and -cx CMD [SEC] of a command line.
#include "schedule.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace pi::rtdriver {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_ta(const std::string& word) {
  return word == "-ta" || word == "--ta";
}

// Reads the step at words[at], and sets at to the word after it.
Result<Step> read_step(const std::vector<std::string>& words, size_t& at) {
  const std::string& option = words[at++];
  Step step;
  step.local = option.ends_with('x');
  if (at == words.size() || words[at].empty())
    return Error{-1, fmt::format("{} needs a command.", option)};
  step.command = words[at++];
  if (is_digit(step.command.front()))
    return Error{
        -1, fmt::format("{}: a command may not begin with a digit: '{}'.", option, step.command)};
  if (at == words.size() || words[at].empty() || !is_digit(words[at].front())) return step;
  const std::string& text = words[at++];
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step.seconds);
  if (error != std::errc() || end != text.data() + text.size() || step.seconds > max_seconds)
    return Error{-1, fmt::format("{} {}: '{}' is not a number of seconds from 0 to {}.", option,
                                 step.command, text, max_seconds)};
  return step;
}

}  // namespace

Result<Schedule> split_schedule(const std::vector<std::string>& words) {
  constexpr const char* options[] = {"-c", "--c", "-cx", "--cx"};
  Schedule schedule;
  for (size_t at = 0; at < words.size();) {
    const bool is_step =
        std::find(std::begin(options), std::end(options), words[at]) != std::end(options);
    if (!is_step) {
      if (is_ta(words[at]) && !schedule.steps.empty())
        return Error{-1, "-ta must precede -c and -cx."};
      schedule.others.push_back(words[at++]);
      continue;
    }
    auto step = read_step(words, at);
    if (!step) return step.error();
    schedule.steps.push_back(std::move(*step));
    if (schedule.steps.size() > max_steps)
      return Error{-1, fmt::format("There may be at most {} commands.", max_steps)};
  }
  return schedule;
}

}  // namespace pi::rtdriver
