// SPDX-License-Identifier: MIT
// libperfutil at run time: the agent itself needs only the C library.
#include "ptt_library.h"

#include <dlfcn.h>

#include <string>

#include "return_codes.h"

namespace pi::jprof {
namespace {

constexpr const char* library_name = "libperfutil.so.0";

void* open_library() {
  Dl_info own{};
  const auto* const address = reinterpret_cast<const void*>(&load_ptt);
  if (::dladdr(address, &own) != 0 && own.dli_fname) {
    const std::string path = own.dli_fname;
    const size_t slash = path.rfind('/');
    if (slash != std::string::npos)
      if (void* library =
              ::dlopen((path.substr(0, slash + 1) + library_name).c_str(), RTLD_NOW | RTLD_LOCAL))
        return library;
  }
  return ::dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
}

// False if the library does not have the function.
template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace

Result<PttFunctions> load_ptt() {
  void* const library = open_library();
  if (!library) {
    const char* const why = ::dlerror();
    return Error{no_events,
                 "libperfutil cannot be loaded (" + std::string(why ? why : "unknown") + ")"};
  }
  PttFunctions f;
  const bool found =
      find(library, "PttQueryState", f.query_state) && find(library, "PttTerminate", f.terminate) &&
      find(library, "PiPttInit", f.init) && find(library, "PttInitThread", f.init_thread) &&
      find(library, "PttGetState", f.get_state) &&
      find(library, "PttReturnGetCurrentThreadDataFunctionPtr", f.reader) &&
      find(library, "PiPttSlot", f.slot) && find(library, "RcToString", f.text_of);
  if (!found) return Error{no_events, "libperfutil lacks functions: it is of another version"};
  return f;
}

}  // namespace pi::jprof
