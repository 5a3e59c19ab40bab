// SPDX-License-Identifier: MIT
// The methods of a recording by number, and what is not recorded.
#include "probes/method_list.h"

#include "log_text.h"

namespace pi::jprof {

uint32_t MethodList::add(std::string_view method) {
  const std::lock_guard lock(mutex_);
  names_.push_back(log_name(method));
  return static_cast<uint32_t>(names_.size());
}

std::string MethodList::name(uint64_t number) const {
  const std::lock_guard lock(mutex_);
  return number == 0 || number > names_.size() ? "?" : names_[number - 1];
}

void MethodList::report(std::string_view what, std::string_view why) {
  const std::lock_guard lock(mutex_);
  unrecorded_.insert_or_assign(log_name(what), std::string(why));
}

std::string MethodList::unrecorded() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [what, why] : unrecorded_) text += what + ": " + why + "\n";
  return text;
}

}  // namespace pi::jprof
