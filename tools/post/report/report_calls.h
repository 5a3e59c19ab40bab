// SPDX-License-Identifier: MIT
// Writes tprof.tree and tprof.folded: ticks by call stack.
#ifndef POST_REPORT_CALLS_H
#define POST_REPORT_CALLS_H

#include <string>
#include <vector>

#include "read/losses.h"
#include "report.h"
#include "state/frames.h"
#include "summary.h"
#include "text/sink.h"

namespace post {

// Sentences on how complete the stacks are. what: whose stacks, "ticks".
std::vector<LeadAndText> stack_sentences(const StackCounts& stacks, const char* what);
// On marks of guesses, where there are any. numbers: the marks can have some.
std::vector<LeadAndText> guess_sentences(const Frames& frames, bool numbers);

// Makes a CallTree, which both reports need.
std::unique_ptr<Subscriber> make_call_tree(const ReportContext& context, Sink*);
std::optional<Lack> lack_of_stacks(const Summary& summary);

bool write_tree(const Summary& summary, Sink& sink);
bool write_folded(const Summary& summary, Sink& sink);

}  // namespace post

#endif  // POST_REPORT_CALLS_H
