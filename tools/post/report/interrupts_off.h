// SPDX-License-Identifier: MIT
// Explains ticks at functions that enable interrupts.
#ifndef POST_INTERRUPTS_OFF_H
#define POST_INTERRUPTS_OFF_H

#include <string>

#include "summary.h"

namespace post {

// Which functions that enable interrupts have more than 2 % of all ticks, and what that means; ""
// where there are none, and for a trace whose clock also ticks while interrupts are disabled.
std::string interrupts_off_text(const Summary& summary);

}  // namespace post

#endif  // POST_INTERRUPTS_OFF_H
