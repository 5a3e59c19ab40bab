// SPDX-License-Identifier: MIT
// A trace file from a text that people can read.
//
// One line each; # begins a comment line. Numbers are decimal or 0xHEX, times nanoseconds. NAME is
// the rest of the line, \xNN in it a byte.
//
//   cpus N                              processors, for all headers that follow
//   info KEY=VALUE                      a line of the info section
//   build-id ID PATH                    a line of the build-id section
//   section mte|trace|final CPU [start=TIME] [flags=N] [lost=N] [no-time]
//                                       records that follow belong to it; no-time: no time records
//   TIME tick user|kernel PID TID ADDRESS [STACK]
//   TIME dispatch PID TID STATE [STACK] STATE of who ran before, and its stack: runnable,
//   preempted,
//                                       sleeping, uninterruptible, stopped, dead, parked, idle,
//                                       other, blocked, or a number
//   TIME wakeup TID WAKER CPU [interrupt]
//   TIME migrate TID CPU
//   TIME lost RECORDS                   so far, of this stream
//   TIME name PID NAME                  and: thread PID TID NAME
//   TIME module PID ADDRESS SIZE OFFSET NAME
//   TIME fork|clone|existing PID PARENT
//   TIME exec PID                       and: kill PID, new-thread PID TID, end-thread PID TID
//   TIME ints MAJOR MINOR [INT]...      any record of ints
//   TIME branch user|kernel FROM TO [COUNT]
//   TIME cut user|kernel VECTOR COUNT ADDRESS [resumed]
//   TIME gap REASON COUNT MISSING NANOSECONDS TO
//   TIME follow PID TID                 whose records of ITrace follow
//   TIME start PID TID FLAGS ADDRESS
//   TIME stop REASON CPU BRANCHES TID COUNT ADDRESS
//   TIME born PID PARENT                a fork whose beginning was seen, by the thread PARENT
//   raw HH HH ...                       bytes as they are
//   kernel-code ADDRESS HH HH ...       machine code of the kernel as it ran
//   kallsyms LINE                       a line of the kernel's symbols
//
// A STACK is the word "stack" and addresses from the innermost, each of the kernel behind "kernel",
// each of the user behind "user"; kernel-broken, user-broken, kernel-cut and user-cut among them.
#ifndef TESTS_SUPPORT_TEXT_TRACE_H
#define TESTS_SUPPORT_TEXT_TRACE_H

#include <pi/result.h>

#include <string_view>

#include "record_builder.h"

namespace test_support {

// The file's bytes, or which line is wrong.
pi::Result<Bytes> trace_from_text(std::string_view text);

}  // namespace test_support

#endif  // TESTS_SUPPORT_TEXT_TRACE_H
