// SPDX-License-Identifier: MIT
// What --strict does not let pass.
#ifndef POST_STRICT_H
#define POST_STRICT_H

#include <string>

#include "losses.h"

namespace post {

// What the trace lacks or may lack, as parts of one sentence; empty when it is known to be whole.
// Damage is not among it: that always changes the exit status.
std::string what_is_missing(const TraceFile& file, const Losses& losses);

}  // namespace post

#endif  // POST_STRICT_H
