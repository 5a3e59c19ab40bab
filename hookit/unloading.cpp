// SPDX-License-Identifier: MIT
// dlclose() as the program calls it: the functions of the library keep their names.
#include <dlfcn.h>

#include "joined.h"
#include "session.h"

using pi::hookit::Session;

namespace {

// In the memory of its parent a child of vfork() changes nothing.
Session* own_session() {
  Session* session = Session::get();
  return session && !pi::hookit::is_joined() && session->is_of_this_process() ? session : nullptr;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int dlclose(void* library) noexcept {
  if (Session* session = own_session()) session->before_unloading();
  static const auto next = reinterpret_cast<decltype(&dlclose)>(::dlsym(RTLD_NEXT, "dlclose"));
  return next(library);
}
