// SPDX-License-Identifier: MIT
// C and C++ functions in JProf's trees: the libraries with hookit in this JVM.
#include "probes/c_functions.h"

#include <algorithm>
#include <array>

#include <snapshot.h>

#include "loaded_functions.h"
#include "probes/c_hook_functions.h"
#include "probes/own_tree.h"

namespace pi::jprof {

namespace callflow = pi::callflow;

void CFunctions::set(bool saves_vectors, bool trains) {
  saves_vectors_ = saves_vectors;
  trains_ = trains;
}

void CFunctions::find_hooks(callflow::JoinFunction join) const {
  for (void* function : loaded_functions(callflow::hookit_joins_name))
    reinterpret_cast<callflow::HookitJoins>(function)(join);
}

// The caller is loading a library.
void CFunctions::add(const callflow::JoinedHooks& hooks) {
  const AgentWork work;
  const std::lock_guard lock(mutex_);
  const auto is_known = [&](const Joined& known) { return known.hooks == &hooks; };
  if (std::any_of(joined_.begin(), joined_.end(), is_known)) return;
  joined_.push_back({&hooks, false});
  hooks.connect(&c_hook_functions);
  hooks.see_libraries();
  if (records_) begin(joined_.back());
}

void CFunctions::begin(Joined& joined) {
  if (trains_ && !joined.trained)
    minima_ = callflow::train_beside(own_tree, joined.hooks->train, minima_);
  joined.trained = true;
  joined.hooks->begin(saves_vectors_);
}

void CFunctions::begin() {
  const std::lock_guard lock(mutex_);
  records_ = true;
  for (auto& joined : joined_) begin(joined);
}

void CFunctions::end() {
  const std::lock_guard lock(mutex_);
  records_ = false;
  for (const auto& joined : joined_) joined.hooks->end();
}

std::vector<const callflow::JoinedHooks*> CFunctions::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<const callflow::JoinedHooks*> hooks;
  for (const auto& joined : joined_) hooks.push_back(joined.hooks);
  return hooks;
}

// Without the lock: reading names takes its time, and a thread that loads a library must not wait.
void CFunctions::see_libraries() {
  for (const auto* hooks : all()) {
    const AgentWork work;
    hooks->see_libraries();
  }
}

void CFunctions::take_minima(callflow::Minima& minima) {
  const std::lock_guard lock(mutex_);
  for (const auto& [place, minimum] : minima_.values) {
    const callflow::Minimum none{minimum.value, 0};
    auto& known = minima.values.try_emplace(place, none).first->second;
    known.value = std::min(known.value, minimum.value);
    known.count += minimum.count;
  }
  minima_.values.clear();
}

// All of them name functions by the libraries of the process.
std::string CFunctions::name(uint64_t function) const {
  const auto hooks = all();
  if (hooks.empty()) return "?";
  std::array<char, 4096> text;
  hooks.front()->name(function, text.data(), text.size());
  return text.data();
}

}  // namespace pi::jprof
