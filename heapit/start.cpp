// SPDX-License-Identifier: MIT
// Begins the recording when the library is loaded, as the environment says.
#include <sys/auxv.h>

#include <cstdlib>
#include <string_view>

#include "next.h"
#include "session.h"
#include "system.h"

namespace pi::heapit {
namespace {

bool is_off(const char* name) {
  const char* value = ::getenv(name);
  return value && (std::string_view(value) == "off" || std::string_view(value) == "0");
}

[[gnu::constructor]] void at_start() {
  next_functions();
  const char* directory = ::getenv("HEAPIT_DIR");
  // With another user's rights the environment is that of an attacker.
  if (!directory || !*directory || ::getauxval(AT_SECURE)) return;
  if (*directory != '/')
    return say("nothing is recorded: HEAPIT_DIR='", directory, "' must begin with '/'");
  static char kept[4096];
  const std::string_view text = directory;
  if (text.size() >= sizeof kept) return say("nothing is recorded: HEAPIT_DIR is too long");
  text.copy(kept, text.size());
  Settings settings{};
  settings.directory = kept;
  settings.heap = !is_off("HEAPIT_HEAP");
  settings.locks = !is_off("HEAPIT_LOCKS");
  settings.children = !is_off("HEAPIT_CHILDREN");
  if (!settings.children) ::unsetenv("HEAPIT_DIR");
  Session::start(settings);
}

}  // namespace
}  // namespace pi::heapit
