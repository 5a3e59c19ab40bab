// SPDX-License-Identifier: MIT
// Starts child processes without copying this process's descriptors.
#ifndef SWTRACE_CHILD_STARTER_H
#define SWTRACE_CHILD_STARTER_H

#include <sys/types.h>

#include <pi/result.h>
#include <pi/unique_fd.h>

namespace pi::swtrace {

// The name of the thread that does so.
inline constexpr char starter_name[] = "starter";

// The first argument of a child is word; it has no environment. Its standard input is the socket,
// its standard output and error are /dev/null, and it has no other descriptor. A thread starts it
// that has no other descriptor either: a new process closes copies of all descriptors of the thread
// that starts it, and a file system can make each close() wait for ever. That thread lives as long
// as this process, for what the kernel does to a child when the thread that started it ends
// (PR_SET_PDEATHSIG). Where the system forbids pidfd_getfd(), by which that thread gets the socket,
// as some containers do, the caller's thread starts the child instead. Thread-safe. An error's code
// is the system's.
Result<pid_t> start_child(const char* program, const char* word, const UniqueFd& socket);

}  // namespace pi::swtrace

#endif  // SWTRACE_CHILD_STARTER_H
