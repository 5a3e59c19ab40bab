// SPDX-License-Identifier: MIT
// Writes parts of tprof.json: calls, and the time off the CPU.
#ifndef POST_CALLS_JSON_H
#define POST_CALLS_JSON_H

#include "json.h"

#include "analysis/call_tree.h"
#include "analysis/off_cpu.h"
#include "summary.h"

namespace post {

pi::Json tree_json(const CallTree& calls, const Summary& summary);

pi::Json off_cpu_json(const OffCpu& off_cpu, const Summary& summary);

}  // namespace post

#endif  // POST_CALLS_JSON_H
