// SPDX-License-Identifier: MIT
// Counts ticks by thread, function, address in the function's code, and time.
#include "code_by_time.h"

namespace post {

// The function is, but for what was inlined, that of the address.
CodeByTime::Prepared CodeByTime::prepare(const pi::TprofTick& tick, uint64_t time) {
  const uint32_t version = *processes_.at(tick.pid, time).maps_version;
  const uint64_t hash =
      (tick.address ^ uint64_t{version} << 40 ^ uint64_t{tick.tid} << 20) * 0x9e3779b97f4a7c15ull;
  Recent& recent = recent_[hash >> 32 & (recent_.size() - 1)];
  __builtin_prefetch(&recent);
  return {recent, version};
}

void CodeByTime::add(const Prepared& prepared, const pi::TprofTick& tick, uint32_t cpu,
                     uint64_t time, uint32_t thread, FrameId frame) {
  const auto& [recent, version] = prepared;
  if (recent.maps_version != version || recent.address != tick.address || recent.thread != thread ||
      recent.frame != frame) {
    const Micro::Spot spot = micro_.find(tick, cpu, time);
    if (!spot.function || spot.offset > UINT32_MAX) return;
    recent = {tick.address, version, thread, frame, spot_of(spot, thread, frame)};
  }
  sums.add(time, recent.spot, 1);
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
