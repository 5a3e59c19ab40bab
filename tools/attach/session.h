// SPDX-License-Identifier: MIT
// One run of pitrace-attach: the parent process, which keeps the caller's rights and opens no file
// of the target.
#ifndef PI_ATTACH_SESSION_H
#define PI_ATTACH_SESSION_H

#include <chrono>
#include <string>

#include <pi/result.h>

#include "target.h"

namespace pi::attach {

struct Plan {
  std::chrono::seconds timeout{30};  // for each answer of the process
  std::string library;               // as the process sees it; to follow: as the caller sees it
  std::string options;               // of the agent, to load it
  std::string directory;             // to follow: where the logs shall be, absolute
};

// Whether the process is a JVM that the caller may talk to.
Status check(const Target& target);

// Loads the agent and prints the JVM's answer.
Status load(const Target& target, const Plan& plan);

// Loads JProf, prints "attached", waits until standard input ends or an ending signal arrives,
// detaches JProf and fetches its logs.
Status follow(const Target& target, const Plan& plan);

}  // namespace pi::attach

#endif  // PI_ATTACH_SESSION_H
