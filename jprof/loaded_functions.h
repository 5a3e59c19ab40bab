// SPDX-License-Identifier: MIT
// Functions of the libraries that are loaded, whatever their scope.
#ifndef PI_JPROF_LOADED_FUNCTIONS_H
#define PI_JPROF_LOADED_FUNCTIONS_H

#include <vector>

namespace pi::jprof {

// The addresses of the exported functions of that name. A Java virtual machine loads libraries so
// that other libraries do not find their functions by dlsym(RTLD_DEFAULT).
std::vector<void*> loaded_functions(const char* name);

}  // namespace pi::jprof

#endif  // PI_JPROF_LOADED_FUNCTIONS_H
