// SPDX-License-Identifier: MIT
// The methods of a recording by number, and what is not recorded.
#include "probes/method_list.h"

#include "log_text.h"

namespace pi::jprof {

uint32_t MethodList::add(std::string_view method) {
  std::string name = log_name(method);
  const std::lock_guard lock(mutex_);
  if (const auto found = numbers_.find(name); found != numbers_.end()) return found->second;
  names_.push_back(std::move(name));
  const auto number = static_cast<uint32_t>(names_.size());
  numbers_.emplace(names_.back(), number);
  return number;
}

uint32_t MethodList::find(std::string_view method) const {
  const std::string name = log_name(method);
  const std::lock_guard lock(mutex_);
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? 0 : found->second;
}

std::string MethodList::name(uint64_t id) const {
  const uint64_t number = id & ~java_bit;
  const std::lock_guard lock(mutex_);
  return number == 0 || number > names_.size() ? "?" : names_[number - 1];
}

void MethodList::report(std::string_view what, std::string_view why) {
  const std::lock_guard lock(mutex_);
  unrecorded_.insert_or_assign(log_name(what), std::string(why));
}

std::map<std::string, std::string> MethodList::unrecorded() const {
  const std::lock_guard lock(mutex_);
  return unrecorded_;
}

std::string MethodList::unrecorded_text() const {
  std::string text;
  for (const auto& [what, why] : unrecorded()) text += what + ": " + why + "\n";
  return text;
}

}  // namespace pi::jprof
