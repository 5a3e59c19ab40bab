// SPDX-License-Identifier: MIT
// Counts ticks by thread, function, address in the function's code, and time.
#include "code_by_time.h"

namespace post {

namespace {

constexpr uint32_t no_spot = UINT32_MAX;

}  // namespace

void CodeByTime::add(const pi::TprofTick& tick, uint32_t cpu, uint64_t time, uint32_t thread,
                     FrameId frame) {
  const uint32_t version = *processes_.at(tick.pid, time).maps_version;
  const uint32_t number = recent_.at({tick.address, version, thread, frame}, [&] {
    const Micro::Spot spot = micro_.find(tick, cpu, time);
    return spot.function && spot.offset <= UINT32_MAX ? spot_of(spot, thread, frame) : no_spot;
  });
  if (number != no_spot) sums.add(time, number, 1);
}

uint32_t CodeByTime::spot_of(const Micro::Spot& spot, uint32_t thread, FrameId frame) {
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
  return spot_at_[place] - 1;
}

}  // namespace post
