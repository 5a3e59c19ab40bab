// SPDX-License-Identifier: MIT
// Parts of tprof.json: calls, and the time in which threads did not run.
#ifndef POST_CALLS_JSON_H
#define POST_CALLS_JSON_H

#include "json.h"

#include "summary.h"

namespace post {

// Of a summary with calls.
pi::Json tree_json(const Summary& summary);

// Of a summary with off_cpu.
pi::Json off_cpu_json(const Summary& summary);

}  // namespace post

#endif  // POST_CALLS_JSON_H
