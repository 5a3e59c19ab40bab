// SPDX-License-Identifier: MIT
// Counts user hooks by their numbers, text, CPU, thread and time.
#include "hooks_by_time.h"

#include <pitrace/user_hook.h>

#include <string_view>

#include "text/name_limit.h"

namespace post {

bool HooksByTime::is_hook(const pi::RecordView& record) {
  return pitrace_hook_major_allowed(record.major());
}

void HooksByTime::add(const pi::RecordView& record, uint32_t cpu, uint32_t thread, uint64_t time) {
  Kind kind{record.major(), record.minor(), cpu, thread, {}};
  if (std::string_view text; record.string_at(0, text)) kind.text = limited_name(text);
  auto known = places_.find(kind);
  if (known == places_.end() && !kind.text.empty() && kinds_.size() >= most_texts) {
    ++without_text_;
    kind.text.clear();
    known = places_.find(kind);
  }
  if (known == places_.end()) {
    if (kinds_.size() >= most_kinds) {
      ++left_out_;
      return;
    }
    known = places_.emplace(kind, static_cast<uint32_t>(kinds_.size())).first;
    kinds_.push_back(kind);
  }
  by_kind.add(time, known->second, 1);
}

}  // namespace post
