// SPDX-License-Identifier: MIT
// Tests whether a trace is complete; a trace that is not changes the exit status, always or with
// --strict.
#ifndef POST_COMPLETENESS_H
#define POST_COMPLETENESS_H

#include <string>

#include "read/losses.h"

namespace post {

// Whether the reports cover only a part of the trace: it is damaged, or the recording ended early
// because the disk was full or the recorder was killed.
bool is_damaged(const TraceFile& file, const DamageLog& damage);

// Returns what the trace lacks or may lack, as parts of one sentence; "" when it is known to be
// complete. Only --strict uses it. Records that wrap-around mode overwrites do not count as
// missing.
std::string what_is_missing(const TraceFile& file, const Losses& losses);

}  // namespace post

#endif  // POST_COMPLETENESS_H
