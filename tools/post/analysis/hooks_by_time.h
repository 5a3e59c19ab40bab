// SPDX-License-Identifier: MIT
// Counts user hooks by their numbers, text, CPU, thread and time.
#ifndef POST_HOOKS_BY_TIME_H
#define POST_HOOKS_BY_TIME_H

#include <pi/decode.h>

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "time_sums.h"

namespace post {

class HooksByTime {
 public:
  struct Kind {
    uint32_t major = 0;
    uint32_t minor = 0;
    uint32_t cpu = 0;
    uint32_t thread = 0;  // a number of the caller's
    std::string text;     // its first string
    auto operator<=>(const Kind&) const = default;
  };

  // Whether the record is a hook that a program wrote.
  static bool is_hook(const pi::RecordView& record);
  void add(const pi::RecordView& record, uint32_t cpu, uint32_t thread, uint64_t time);

  // Keys are places in kinds().
  TimeSums by_kind{{.sums = 1 << 18}};
  const std::vector<Kind>& kinds() const { return kinds_; }
  // Hooks without their text, and hooks that were not counted: there were too many kinds.
  uint64_t without_text() const { return without_text_; }
  uint64_t left_out() const { return left_out_; }

 private:
  static constexpr size_t most_texts = 4096;  // kinds with texts
  static constexpr size_t most_kinds = 2 * most_texts;

  std::vector<Kind> kinds_;
  std::map<Kind, uint32_t> places_;
  uint64_t without_text_ = 0;
  uint64_t left_out_ = 0;
};

}  // namespace post

#endif  // POST_HOOKS_BY_TIME_H
