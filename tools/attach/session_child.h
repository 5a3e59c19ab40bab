// SPDX-License-Identifier: MIT
// The forked process that acts as the target's user: finds files below its root, talks to the JVM,
// and sends the logs to its parent.
#ifndef PI_ATTACH_SESSION_CHILD_H
#define PI_ATTACH_SESSION_CHILD_H

#include <sys/stat.h>

#include "session.h"

namespace pi::attach {

struct ChildPlan {
  const Plan* plan = nullptr;
  bool follows = false;
  int agent = -1;               // to follow: the library, open for reading
  struct stat directory_is {};  // to follow: Plan::directory
  bool same_user = false;       // the target's user is the caller
};

// Runs in the child and does not return. The child finishes when the channel is closed.
[[noreturn]] void run_child(const Target& target, const ChildPlan& plan, int channel);

}  // namespace pi::attach

#endif  // PI_ATTACH_SESSION_CHILD_H
