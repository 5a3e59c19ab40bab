// SPDX-License-Identifier: MIT
// The names of interpreters' frames, by numbers.
#include "frame_names.h"

namespace pi::swtrace {
namespace {

constexpr size_t overhead = 128;  // bytes of memory for a name, beside its text

}  // namespace

uint32_t FrameNames::add(std::string_view name, size_t& used) {
  const std::lock_guard lock(mutex_);
  const auto known = numbers_.find(name);
  if (known != numbers_.end()) return known->second;
  const size_t bytes = name.size() + overhead;
  if (bytes_ + bytes > limits_.bytes || used + bytes > limits_.bytes_a_process) {
    ++refused_;
    return 0;
  }
  names_.emplace_back(name);
  const auto number = static_cast<uint32_t>(names_.size());
  numbers_.emplace(names_.back(), number);
  bytes_ += bytes;
  used += bytes;
  return number;
}

const char* FrameNames::at(uint32_t number) const {
  const std::lock_guard lock(mutex_);
  return number - 1 < names_.size() ? names_[number - 1].c_str() : nullptr;
}

uint64_t FrameNames::refused() const {
  const std::lock_guard lock(mutex_);
  return refused_;
}

}  // namespace pi::swtrace
