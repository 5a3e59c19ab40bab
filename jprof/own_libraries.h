// SPDX-License-Identifier: MIT
// Other libraries of pitrace at run time: the agent itself needs only the C library.
#ifndef PI_JPROF_OWN_LIBRARIES_H
#define PI_JPROF_OWN_LIBRARIES_H

#include <dlfcn.h>

#include <pi/result.h>

namespace pi::jprof {

// Loads a library until the process ends, from the agent's own directory or where the dynamic
// loader searches.
Result<void*> open_library(const char* name);

// False if the library does not have the function.
template <class Function>
bool find_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

Error lacks_functions(const char* library);

}  // namespace pi::jprof

#endif  // PI_JPROF_OWN_LIBRARIES_H
