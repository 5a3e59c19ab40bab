// SPDX-License-Identifier: MIT
// Counts ticks by thread, function, address in the function's code, and time.
#include "code_by_time.h"

namespace post {

void CodeByTime::add(const pi::TprofTick& tick, uint32_t cpu, uint64_t time, uint32_t thread,
                     FrameId frame) {
  const Micro::Spot spot = micro_.find(tick, cpu, time);
  if (!spot.function || spot.offset > UINT32_MAX) return;
  const auto number =
      numbers_.try_emplace(spot.function, static_cast<uint32_t>(numbers_.size())).first->second;
  const auto offset = static_cast<uint32_t>(spot.offset);
  const uint32_t function =
      tree_.child(tree_.child(tree_.child(PathTree::root, thread), frame), number);
  const uint32_t place = tree_.child(function, offset);
  if (spot_at_.size() <= place) spot_at_.resize(place + 1);
  if (spot_at_[place] == 0) {
    spots_.push_back({thread, frame, spot.function, offset});
    spot_at_[place] = static_cast<uint32_t>(spots_.size());
  }
  sums.add(time, spot_at_[place] - 1, 1);
}

}  // namespace post
