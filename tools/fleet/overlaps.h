// SPDX-License-Identifier: MIT
// Finds hosts of which two traces are of the same time: most likely two machines with one name.
#ifndef FLEET_OVERLAPS_H
#define FLEET_OVERLAPS_H

#include <pi/result.h>

#include <set>
#include <string>
#include <vector>

#include "days.h"
#include "engine.h"
#include "questions.h"

namespace fleet {

// The names of these hosts' folders without "host=". files: a pattern or a list of SQL, tables of
// records; those that do not contain the end of their trace are ignored.
pi::Result<std::set<std::string>> hosts_with_overlaps(Engine& engine, const std::string& files);

// Of what a question reads. Tables that cannot be read are for the question to report.
std::set<std::string> overlaps_of(Engine& engine, const Question& question, const Sources& sources);

// Of at least one.
std::string overlap_warning(const std::set<std::string>& hosts);

}  // namespace fleet

#endif  // FLEET_OVERLAPS_H
