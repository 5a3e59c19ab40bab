// SPDX-License-Identifier: MIT
// Names functions that had no name on their hosts, once for all hosts.
#ifndef FLEET_RESOLVE_H
#define FLEET_RESOLVE_H

#include <pi/result.h>

#include <string>

#include "questions.h"

namespace fleet {

// Writes the names that debug files have, from folders separated by ':' and from debuginfod
// servers, into names.parquet in the fleet's folder, beside those that are already there.
pi::Result<Answer> resolve(Engine& engine, const std::string& folder,
                           const std::string& debug_folders);

}  // namespace fleet

#endif  // FLEET_RESOLVE_H
