// SPDX-License-Identifier: MIT
// The words -c CMD [SEC] and -cx CMD [SEC] of a command line, whose order matters.
#ifndef PI_RTDRIVER_SCHEDULE_H
#define PI_RTDRIVER_SCHEDULE_H

#include <cstddef>
#include <string>
#include <vector>

#include <pi/result.h>

namespace pi::rtdriver {

constexpr size_t max_steps = 64;
constexpr unsigned max_seconds = 86'400;

struct Step {
  bool local = false;  // -cx: a command for the shell
  std::string command;
  unsigned seconds = 0;  // to wait before it
};

struct Schedule {
  std::vector<Step> steps;
  std::vector<std::string> others;  // the other words, in their order
};

// The error's message is a sentence.
Result<Schedule> split_schedule(const std::vector<std::string>& words);

}  // namespace pi::rtdriver

#endif  // PI_RTDRIVER_SCHEDULE_H
