// SPDX-License-Identifier: MIT
// Functions of the libraries that are loaded, whatever their scope.
#include "loaded_functions.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <string>

namespace pi::jprof {
namespace {

// "": the program.
std::vector<std::string> loaded_libraries() {
  std::vector<std::string> names;
  const auto add = [](dl_phdr_info* object, size_t, void* list) {
    static_cast<std::vector<std::string>*>(list)->emplace_back(object->dlpi_name);
    return 0;
  };
  ::dl_iterate_phdr(add, &names);
  return names;
}

}  // namespace

// A library is found with those that it needs, too.
std::vector<void*> loaded_functions(const char* name) {
  std::vector<void*> found;
  for (const std::string& library : loaded_libraries()) {
    void* handle = ::dlopen(library.empty() ? nullptr : library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) continue;
    void* function = ::dlsym(handle, name);
    if (function && std::find(found.begin(), found.end(), function) == found.end())
      found.push_back(function);
    ::dlclose(handle);
  }
  return found;
}

}  // namespace pi::jprof
