// SPDX-License-Identifier: MIT
// Other libraries of pitrace at run time: the agent itself needs only the C library.
#include "own_libraries.h"

#include <string>

#include "return_codes.h"

namespace pi::jprof {
namespace {

constexpr int flags = RTLD_NOW | RTLD_LOCAL;

void* open_beside_agent(const char* name) {
  Dl_info own{};
  const auto* const address = reinterpret_cast<const void*>(&open_beside_agent);
  if (::dladdr(address, &own) == 0 || !own.dli_fname) return nullptr;
  const std::string path = own.dli_fname;
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return nullptr;
  return ::dlopen((path.substr(0, slash + 1) + name).c_str(), flags);
}

}  // namespace

Result<void*> open_library(const char* name) {
  if (void* const library = open_beside_agent(name)) return library;
  if (void* const library = ::dlopen(name, flags)) return library;
  const char* const why = ::dlerror();
  return Error{no_events,
               std::string(name) + " cannot be loaded (" + (why ? why : "unknown") + ")"};
}

Error lacks_functions(const char* library) {
  return {no_events, std::string(library) + " lacks functions: it is of another version"};
}

}  // namespace pi::jprof
