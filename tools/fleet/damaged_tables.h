// SPDX-License-Identifier: MIT
// Finds tables that were copied in part, or that DuckDB cannot read.
#ifndef FLEET_DAMAGED_TABLES_H
#define FLEET_DAMAGED_TABLES_H

#include <string>

#include "engine.h"
#include "questions.h"

namespace fleet {

// What to do about tables of the days of a question that are not complete, or else about the first
// one that the engine cannot read; "" if there are none. It opens each of them, and reads them all
// if `problem` is the engine's: to be called when a question has failed.
std::string hint_on_damage(Engine& engine, const Question& question, const pi::Error& problem);

}  // namespace fleet

#endif  // FLEET_DAMAGED_TABLES_H
