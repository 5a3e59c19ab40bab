// SPDX-License-Identifier: MIT
// What the functions of a2n.h work on, and how they turn exceptions into return codes.
#ifndef A2N_API_STATE_H
#define A2N_API_STATE_H

#include <cstdint>
#include <new>
#include <string>

#include "a2n.h"
#include "lookup/library.h"
#include "pi/no_cancel.h"
#include "pi/result.h"

namespace a2n {

// What A2nGetErrorText() hands out.
extern std::string error_text;

// Made when it is first asked for.
Library& current_library();
void forget_library();

// Which settings of the current library the environment fixed, Fixed.
uint32_t fixed_settings();

// Nothing is thrown into C, and no thread is cancelled in the middle.
template <class Work>
int guarded(Work work) noexcept {
  const pi::NoCancel off;
  try {
    return work(current_library());
  } catch (const std::bad_alloc&) {
    return A2N_MEMORY_ERROR;
  } catch (...) {
    return A2N_INTERNAL_ERROR;
  }
}

// The code of a call whose error has more to say: rc, or that a file is not there.
int told(const pi::Status& status, int rc);

}  // namespace a2n

#endif  // A2N_API_STATE_H
