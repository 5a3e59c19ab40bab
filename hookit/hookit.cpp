// SPDX-License-Identifier: MIT
// Starts hookit when its process starts, and the functions of hookit.h.
#include "hookit.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include <cstdlib>
#include <string>

#include "endings.h"
#include "engine.h"
#include "hooks.h"
#include "joined.h"
#include "patch/events.h"
#include "patch/patcher.h"
#include "session.h"

namespace pi::hookit {
namespace {

// Nothing, unless HOOKIT_PROFILING is "on".
bool is_on() {
  const char* text = ::getenv("HOOKIT_PROFILING");
  if (!text) return false;
  const std::string value = text;
  if (value == "on" || value == "1") return true;
  if (value != "off" && value != "0" && !value.empty())
    say("HOOKIT_PROFILING=" + value + " is neither 'on' nor 'off'; nothing is recorded");
  return false;
}

void use_profiler(const char* library) {
  void* handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return say("HOOKIT_PROFILER=" + std::string(library) + ": " + ::dlerror() +
               "; nothing is recorded");
  const auto get =
      reinterpret_cast<decltype(::hookit_get_profiler)*>(::dlsym(handle, "hookit_get_profiler"));
  const struct hookit_profiler* profiler = get ? get() : nullptr;
  if (get && !profiler) return;
  if (!profiler || profiler->size < sizeof *profiler)
    return say("HOOKIT_PROFILER=" + std::string(library) +
               ": this library is no profiler for this version of hookit; nothing is recorded");
  set_hooks(profiler->enter, profiler->leave);
  set_patched_hooks(profiler->enter, profiler->leave);
  hookit_saves_vectors = true;
  if (!prepare_functions()) return;
  if (const auto patched = patch_functions(); !patched) say(patched.error().message);
}

// JProf reads the lower-case name too.
const char* profiler_options() {
  const char* text = ::getenv("JPROFOPTS");
  if (!text) text = ::getenv("jprofopts");
  return text ? text : "";
}

// After the program's own handlers of exit() and quick_exit(), and destructors.
[[gnu::destructor]] void at_exit() {
  if (Session* session = Session::get()) session->end(false);
}

// Whether recording starts now.
bool begin_process() {
  const pi::callflow::Ignored ignored(this_thread());
  // With another user's rights the environment is that of an attacker.
  if (::getauxval(AT_SECURE) || !is_on()) return false;
  if (const char* library = ::getenv("HOOKIT_PROFILER"); library && *library) {
    use_profiler(library);
    return false;
  }
  if (join_jprof()) return false;
  auto parsed = parse_options(profiler_options());
  for (const auto& error : parsed.errors) say("JPROFOPTS: " + error);
  if (!parsed.errors.empty()) {
    say("Nothing is recorded; hookit(7) lists the options");
    return false;
  }
  const char* debug = ::getenv("HOOKIT_DEBUG");
  if (debug && *debug && std::string(debug) != "0") parsed.options.verbose = true;
  Session::create(parsed.options);
  prepare_functions();
  watch_signals();
  ::at_quick_exit(at_exit);
  return parsed.options.start;
}

[[gnu::constructor]] void at_start() {
  // Not while events are ignored: start() trains.
  if (begin_process() && Session::get()->start() != 0) say("Nothing is recorded");
}

template <int (Session::*Function)()>
int call_session() {
  if (is_joined()) {
    say("JProf records the calls of this process, and starts and stops by its own commands");
    return -1;
  }
  Session* session = Session::get();
  return session ? (session->*Function)() : -1;
}

}  // namespace
}  // namespace pi::hookit

using pi::hookit::Session;

#pragma GCC visibility push(default)
extern "C" {

int hookit_start(void) {
  return pi::hookit::call_session<&Session::start>();
}

int hookit_stop(void) {
  return pi::hookit::call_session<&Session::stop>();
}

int hookit_flush(void) {
  return pi::hookit::call_session<&Session::flush>();
}

int hookit_reset(void) {
  return pi::hookit::call_session<&Session::reset>();
}
}
#pragma GCC visibility pop
