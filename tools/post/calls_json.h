// SPDX-License-Identifier: MIT
// Parts of tprof.json: calls, and the time in which threads did not run.
#ifndef POST_CALLS_JSON_H
#define POST_CALLS_JSON_H

#include <nlohmann/json.hpp>

#include "summary.h"

namespace post {

// Of a summary with calls.
nlohmann::ordered_json tree_json(const Summary& summary);

// Of a summary with off_cpu.
nlohmann::ordered_json off_cpu_json(const Summary& summary);

}  // namespace post

#endif  // POST_CALLS_JSON_H
