// SPDX-License-Identifier: MIT
// Finds tables that were copied in part.
#ifndef FLEET_INCOMPLETE_H
#define FLEET_INCOMPLETE_H

#include <string>

#include "questions.h"

namespace fleet {

// What to do about tables of the days of a question that are not complete; "" if all are. It opens
// each of them: to be called when a question has failed.
std::string hint_on_incomplete(const Question& question);

}  // namespace fleet

#endif  // FLEET_INCOMPLETE_H
