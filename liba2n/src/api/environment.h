// SPDX-License-Identifier: MIT
// The A2N_ environment variables. They take precedence over the program's settings.
#ifndef A2N_ENVIRONMENT_H
#define A2N_ENVIRONMENT_H

#include <cstdint>

namespace a2n {

class Library;

// Settings that a variable can fix, as a bit mask.
enum Fixed : uint32_t {
  fixed_search_path = 1,
  fixed_quality = 2,
  fixed_messages = 4,
  fixed_no_symbol_action = 8,
  fixed_rename_duplicates = 16,
  fixed_demangle = 32,
  fixed_validation = 64,
  fixed_range_symbols = 128,
};

// Applies the variables and returns the settings that they fix. An invalid value is ignored, and a
// note reports it.
uint32_t apply_environment(Library& library);

}  // namespace a2n

#endif  // A2N_ENVIRONMENT_H
