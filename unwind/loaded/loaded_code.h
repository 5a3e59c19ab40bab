// SPDX-License-Identifier: MIT
// The rule of an instruction of this process, from the unwind information that the loader has
// mapped.
#ifndef UNWIND_LOADED_CODE_H
#define UNWIND_LOADED_CODE_H

#include <cstdint>

#include "table/table.h"

namespace unwind {

// Is there a file at this address?
bool is_loaded(uint64_t address);

// Kind none: there is no information about this code. Calls operator new, and no other function
// that allocates; without memory it is none, too.
OwnedRule find_rule(uint64_t address);

}  // namespace unwind

#endif  // UNWIND_LOADED_CODE_H
