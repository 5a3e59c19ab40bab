// SPDX-License-Identifier: MIT
// Explains ticks at functions that enable interrupts.
#ifndef POST_INTERRUPTS_OFF_H
#define POST_INTERRUPTS_OFF_H

#include <string>

#include "summary.h"

namespace post {

// A sentence on the functions that enable interrupts and have more than 2 % of all ticks: such
// ticks belong to the code before. "" if there are none, or if the clock also ticks with interrupts
// disabled.
std::string interrupts_off_text(const Summary& summary);

}  // namespace post

#endif  // POST_INTERRUPTS_OFF_H
