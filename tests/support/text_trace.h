// SPDX-License-Identifier: MIT
// Builds a trace file from readable text.
//
// One line for each item; # begins a comment line. Numbers are decimal or 0xHEX, times are in
// nanoseconds. NAME is the rest of the line; \xNN in it is a byte.
//
//   cpus N                              number of processors, for all following headers
//   info KEY=VALUE                      a line of the info section
//   build-id ID PATH                    a line of the build-id section
//   frame-name NUMBER NAME              a line of the section of frame names
//   section mte|trace|stacks|final CPU [start=TIME] [flags=N] [lost=N] [no-time]
//                                       contains the following records; no-time: no time records
//   TIME tick user|kernel PID TID ADDRESS [STACK]
//   TIME dispatch PID TID STATE [STACK] STATE and stack of the previous thread; STATE:
//                                       runnable, preempted, sleeping, uninterruptible, stopped,
//                                       dead, parked, idle, other, blocked, or a number
//   TIME wakeup TID WAKER CPU [interrupt]
//   TIME migrate TID CPU
//   TIME lost RECORDS                   lost so far in this stream
//   TIME name PID NAME                  also: thread PID TID NAME, cgroup PID PATH
//   TIME module PID ADDRESS SIZE OFFSET NAME
//   TIME fork|clone|existing PID PARENT
//   TIME exec PID                       also: kill PID, new-thread PID TID, end-thread PID TID
//   TIME ints MAJOR MINOR [INT]...      any record of ints
//   TIME branch user|kernel FROM TO [COUNT]
//   TIME cut user|kernel VECTOR COUNT ADDRESS [resumed]
//   TIME gap REASON COUNT MISSING NANOSECONDS TO
//   TIME follow PID TID                 thread of the following ITrace records
//   TIME start PID TID FLAGS ADDRESS
//   TIME stop REASON CPU BRANCHES TID COUNT ADDRESS
//   TIME born PID PARENT                a fork recorded at its time, by the thread PARENT
//   raw HH HH ...                       raw bytes
//   kernel-code ADDRESS HH HH ...       machine code of the running kernel
//   kallsyms LINE                       a line of the kernel's symbols
//
// STACK is the word "stack" and frames, innermost first: each kernel address after the word
// "kernel", each user address after "user", and any of kernel-broken, user-broken, kernel-cut,
// user-cut, user-whole, and tables-N: unwind tables have found the first N of the user's. An
// address followed by times-N is N frames.
#ifndef TESTS_SUPPORT_TEXT_TRACE_H
#define TESTS_SUPPORT_TEXT_TRACE_H

#include <pi/result.h>

#include <string_view>

#include "record_builder.h"

namespace test_support {

// Returns the file's bytes, or an error with the line that is wrong.
pi::Result<Bytes> trace_from_text(std::string_view text);

}  // namespace test_support

#endif  // TESTS_SUPPORT_TEXT_TRACE_H
