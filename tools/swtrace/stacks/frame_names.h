// SPDX-License-Identifier: MIT
// The names of interpreters' frames, by numbers.
#ifndef SWTRACE_FRAME_NAMES_H
#define SWTRACE_FRAME_NAMES_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace pi::swtrace {

// Any thread. A name keeps its number; equal names have the same.
class FrameNames {
 public:
  // Processes choose their names: so much memory for all, and for each of them.
  struct Limits {
    size_t bytes = 32 << 20, bytes_a_process = 8 << 20;
  };
  FrameNames() : FrameNames(Limits{}) {}
  explicit FrameNames(const Limits& limits) : limits_(limits) {}

  // used: by the names that this process has added, so far. 0: there is no space for it.
  uint32_t add(std::string_view name, size_t& used);
  // Null: there is none with this number, which counts from 1. Otherwise it stays.
  const char* at(uint32_t number) const;
  // Names for which there was no space; each time one of them was asked for counts.
  uint64_t refused() const;

 private:
  const Limits limits_;
  mutable std::mutex mutex_;
  std::deque<std::string> names_;
  std::unordered_map<std::string_view, uint32_t> numbers_;
  size_t bytes_ = 0;
  uint64_t refused_ = 0;
};

}  // namespace pi::swtrace

#endif  // SWTRACE_FRAME_NAMES_H
