// SPDX-License-Identifier: MIT
// Whether a trace is whole: what changes the exit status, always or with --strict.
#ifndef POST_COMPLETENESS_H
#define POST_COMPLETENESS_H

#include <string>

#include "read/losses.h"

namespace post {

// Whether the reports are on a part of the trace only: damage, or a recording that did not come to
// its end because the disk was full or the recorder was killed.
bool is_damaged(const TraceFile& file, const DamageLog& damage);

// What the trace lacks or may lack, as parts of one sentence; empty when it is known to be whole.
// Only --strict minds it. What wrap-around mode overwrites is not missing: that is its purpose.
std::string what_is_missing(const TraceFile& file, const Losses& losses);

}  // namespace post

#endif  // POST_COMPLETENESS_H
