// SPDX-License-Identifier: MIT
// Begins the recording when the library is loaded, as the environment says.
#include <sys/auxv.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "at_end.h"
#include "next.h"
#include "session.h"
#include "system.h"

namespace pi::heapit {
namespace {

constexpr uint64_t most_search_seconds = 1'000'000;

bool is_off(const char* name) {
  const char* value = ::getenv(name);
  return value && (std::string_view(value) == "off" || std::string_view(value) == "0");
}

uint64_t search_seconds() {
  const char* value = ::getenv("HEAPIT_LEAKS");
  uint64_t seconds = Settings{}.search_seconds;
  if (!value) return seconds;
  const std::string_view text = value;
  if (text == "off") return 0;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  return std::min(seconds, most_search_seconds);
}

void start() {
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
  settings.search_seconds = search_seconds();
  if (!settings.children) ::unsetenv("HEAPIT_DIR");
  prepare_end();
  Session::start(settings);
}

[[gnu::constructor]] void at_start() {
  next_functions();
  start();
  Session::end_early();
}

}  // namespace
}  // namespace pi::heapit
