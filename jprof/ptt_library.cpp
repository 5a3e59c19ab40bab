// SPDX-License-Identifier: MIT
// libperfutil at run time: the agent itself needs only the C library.
#include "ptt_library.h"

#include "own_libraries.h"

namespace pi::jprof {
namespace {

constexpr const char* library_name = "libperfutil.so.0";

}  // namespace

Result<PttFunctions> load_ptt() {
  const auto opened = open_library(library_name);
  if (!opened) return opened.error();
  void* const library = *opened;
  PttFunctions f;
  const bool found = find_function(library, "PttQueryState", f.query_state) &&
                     find_function(library, "PttTerminate", f.terminate) &&
                     find_function(library, "PiPttInit", f.init) &&
                     find_function(library, "PttInitThread", f.init_thread) &&
                     find_function(library, "PttGetState", f.get_state) &&
                     find_function(library, "PttReturnGetCurrentThreadDataFunctionPtr", f.reader) &&
                     find_function(library, "PiPttSlot", f.slot) &&
                     find_function(library, "RcToString", f.text_of);
  if (!found) return lacks_functions(library_name);
  return f;
}

}  // namespace pi::jprof
