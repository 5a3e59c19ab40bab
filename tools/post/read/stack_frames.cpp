// SPDX-License-Identifier: MIT
// Keeps the user's frames of the newest stacks, for the records that have their ids.
#include "stack_frames.h"

namespace post {

bool StackFrames::take(uint32_t cpu, const pi::RecordView& record) {
  pi::UserFrames frames{0, 0, 0, record, 0};
  if (!pi::decode_user_frames(record, frames) || frames.id == 0) return false;
  Kept& kept = cpus_[cpu][frames.id % newest];
  kept.bytes.assign(record.bytes().begin(), record.bytes().end());
  return pi::decode_user_frames(pi::RecordView(kept.bytes), kept.frames);
}

const pi::UserFrames* StackFrames::find(uint32_t cpu, const pi::RecordView& record) const {
  if (cpus_.empty()) return nullptr;
  uint32_t id = 0;
  if (record.major() == PITRACE_MAJOR_TPROF)
    id = pi::stack_of_tprof(record).id();
  else if (record.major() == PITRACE_MAJOR_DISPATCH && record.minor() >> 31 == 0)
    id = pi::stack_of_dispatch(record).id();
  const auto known = cpus_.find(cpu);
  if (id == 0 || known == cpus_.end()) return nullptr;
  const Kept& kept = known->second[id % newest];
  return kept.frames.id == id ? &kept.frames : nullptr;
}

}  // namespace post
