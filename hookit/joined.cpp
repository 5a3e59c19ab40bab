// SPDX-License-Identifier: MIT
// hookit in a Java virtual machine whose calls JProf records.
#include "joined.h"

#include <link.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>

#include "joined_engine.h"
#include "hooks.h"
#include "loaded_functions.h"
#include "names.h"
#include "patch/events.h"
#include "patch/patcher.h"
#include "session.h"
#include "slots.h"
#include "trainer.h"

namespace pi::hookit {
namespace {

namespace callflow = pi::callflow;

std::atomic<bool> may_join = false;
std::atomic<bool> joined = false;

struct State {
  std::mutex lock;
  Names names;
  unsigned long long loads = 0;  // of libraries, when names saw them
  bool records = false;
  bool patches = false;  // the process has functions that can be patched
};

// Never destroyed: JProf calls until the process ends.
State& state() {
  static auto* const only = new State;
  return *only;
}

unsigned long long count_loads() {
  unsigned long long loads = 0;
  const auto take = [](dl_phdr_info* object, size_t, void* count) {
    *static_cast<unsigned long long*>(count) = object->dlpi_adds;
    return 1;
  };
  ::dl_iterate_phdr(take, &loads);
  return loads;
}

// Hooks of patched functions on. Those that have hooks keep them.
void patch(State& state) {
  state.patches = prepare_functions();
  if (!state.patches) return;
  const auto patched = patch_functions();
  if (!patched) return say(patched.error().message);
  if (patched->unprepared) say(unprepared_functions(patched->unprepared));
}

void connect(const callflow::JoinedEngine* engine) {
  joined = true;
  if (Session* session = Session::get()) session->hand_over();
  set_patched_hooks(engine->patched_enter, engine->patched_leave);
  set_hooks(engine->enter, engine->leave);
  state().patches = prepare_functions();
}

void begin(bool saves_vectors) {
  const std::lock_guard lock(state().lock);
  if (state().records) return;
  state().records = true;
  hookit_saves_vectors = saves_vectors;
  patch(state());
}

// Hooks that cannot be switched off do nothing.
void end() {
  const std::lock_guard lock(state().lock);
  state().records = false;
  if (const auto off = unpatch_functions(); !off) say(off.error().message);
  if (const uint64_t lost = calls_without_cell()) say(calls_are_lost(lost));
}

void train_all() {
  train();
  if (state().patches) train_patched();
}

void see_libraries() {
  const unsigned long long loads = count_loads();
  const std::lock_guard lock(state().lock);
  if (loads == state().loads) return;
  state().loads = loads;
  connect_hooks();
  state().names.see_libraries();
  if (state().records) patch(state());
}

size_t name(uint64_t function, char* text, size_t size) {
  const std::lock_guard lock(state().lock);
  const std::string name = state().names.of(function);
  if (size == 0) return name.size();
  const size_t used = std::min(name.size(), size - 1);
  std::memcpy(text, name.data(), used);
  text[used] = '\0';
  return name.size();
}

constexpr callflow::JoinedHooks hooks = {connect, begin, end, train_all, see_libraries, name};

}  // namespace

bool join_jprof() {
  may_join = true;
  for (void* function : jprof::loaded_functions(callflow::join_function_name))
    if (reinterpret_cast<callflow::JoinFunction>(function)(&hooks)) return true;
  return false;
}

bool is_joined() {
  return joined;
}

}  // namespace pi::hookit

extern "C" [[gnu::visibility("default")]] void hookit_join_1(pi::callflow::JoinFunction join) {
  if (pi::hookit::may_join && !pi::hookit::joined) join(&pi::hookit::hooks);
}
