// SPDX-License-Identifier: MIT
// The mappings of one image of a process, as intervals in address and time.
#include "address_space.h"

#include <algorithm>
#include <iterator>

namespace a2n {
namespace {

constexpr size_t checkpoint_distance = 32;  // maximum number of changes that a search reads

}  // namespace

void AddressSpace::thaw() {
  if (thawed_) return;
  live_ = checkpoints_.empty() ? initial_ : checkpoints_.back().pieces;
  for (size_t i = checkpointed(); i < log_.size(); ++i) live_.replace(log_[i].piece);
  thawed_ = true;
}

void AddressSpace::add(uint64_t time, uint64_t begin, uint64_t end, uint32_t tag) {
  if (begin >= end) return;
  thaw();
  const Piece piece{begin, end, tag};
  log_.push_back({std::max(time, newest()), piece});
  thawed_ = false;  // if replace() runs out of memory, the next change rebuilds live_ from the log
  live_.replace(piece);
  thawed_ = true;
  if (log_.size() - checkpointed() > checkpoint_distance)
    checkpoints_.push_back({log_.size(), live_});
}

const PieceTree& AddressSpace::now() {
  thaw();
  return live_;
}

void AddressSpace::freeze() {
  live_ = {};
  thawed_ = false;
  log_.shrink_to_fit();
}

size_t AddressSpace::changes_until(uint64_t time) const {
  if (time >= newest()) return log_.size();
  auto after =
      std::upper_bound(log_.begin(), log_.end(), time,
                       [](uint64_t value, const Change& change) { return value < change.time; });
  return static_cast<size_t>(after - log_.begin());
}

std::optional<Piece> AddressSpace::find(uint64_t address, uint64_t time) const {
  const size_t changes = changes_until(time);
  auto after = std::upper_bound(
      checkpoints_.begin(), checkpoints_.end(), changes,
      [](size_t value, const Checkpoint& checkpoint) { return value < checkpoint.changes; });
  const bool from_start = after == checkpoints_.begin();
  const size_t oldest = from_start ? 0 : std::prev(after)->changes;
  const PieceTree& pieces = from_start ? initial_ : std::prev(after)->pieces;
  // Newer changes on either side of the address cut the piece that is found below them.
  uint64_t low = 0;
  uint64_t high = UINT64_MAX;
  const auto cut = [&](const Piece& piece) {
    return Piece{std::max(low, piece.begin), std::min(high, piece.end), piece.tag};
  };
  for (size_t i = changes; i-- > oldest;) {
    const Piece& piece = log_[i].piece;
    if (address >= piece.end) {
      low = std::max(low, piece.end);
    } else if (address < piece.begin) {
      high = std::min(high, piece.begin);
    } else {
      return cut(piece);
    }
  }
  const Piece* piece = pieces.find(address);
  if (!piece) return std::nullopt;
  return cut(*piece);
}

}  // namespace a2n
