// SPDX-License-Identifier: MIT
// Writes the call stacks of ticks in the formats of other viewers. Ticks without a stack are in the
// function on which they fell.
#ifndef POST_EXPORT_H
#define POST_EXPORT_H

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/call_tree.h"
#include "analysis/shown_names.h"
#include "text/sink.h"

namespace post {

struct ExportFacts {
  std::string title;                 // without control characters, as all texts here
  std::vector<std::string> remarks;  // what the trace lacks or cannot contain
  std::string event;                 // what a tick counts; empty: time
  uint64_t period = 0;               // nanoseconds, or events, that a tick represents; 0: not known
  uint64_t duration_ns = 0;          // from the first tick to the last
  uint64_t begin_ns = 0;             // of the first tick, since 1970; 0: not known
};

// All return false when the sink failed.

// Valgrind's callgrind format, version 1 (manual of Valgrind, "Callgrind Format Specification"):
// self ticks of each function, and inclusive ticks of each pair of caller and callee, in which
// recursion counts once. A trace has no numbers of calls; the format demands one, and it is the
// ticks. Where functions are guesses, a second event counts the ticks for which they are.
bool write_callgrind(const CallTree& calls, const ExportFacts& facts, Sink& sink);

// speedscope's file format (https://www.speedscope.app/file-format-schema.json): a sampled profile
// for each process, or thread, whose stacks are in no order of time.
bool write_speedscope(const CallTree& calls, const ExportFacts& facts, Sink& sink);

// pprof's format (proto/profile.proto of github.com/google/pprof), compressed: a sample for each
// stack, with labels for process, thread, and guesses among the callers; all names as shown has
// them. labels: of the call tree's processes and threads.
bool write_pprof(const CallTree& calls, const ExportFacts& facts, const ShownNames& shown,
                 const LabelOptions& labels, Sink& sink);

}  // namespace post

#endif  // POST_EXPORT_H
