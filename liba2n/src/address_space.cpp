// SPDX-License-Identifier: MIT
// What was mapped where and when in one image of a process: intervals in address and time.
#include "address_space.h"

#include <algorithm>

namespace a2n {
namespace {

// The piece of a sorted, disjoint list that contains address, or null.
const Piece* piece_at(const AddressSpace::Pieces& pieces, uint64_t address) {
  auto after =
      std::upper_bound(pieces.begin(), pieces.end(), address,
                       [](uint64_t value, const Piece& piece) { return value < piece.begin; });
  if (after == pieces.begin()) return nullptr;
  const Piece& piece = *--after;
  return address < piece.end ? &piece : nullptr;
}

}  // namespace

void AddressSpace::thaw() {
  if (thawed_) return;
  live_.clear();
  if (initial_) {
    for (const Piece& piece : *initial_) {
      live_.emplace_hint(live_.end(), piece.begin, Live{piece.end, piece.tag});
    }
  }
  // Only a space that was frozen has changes here.
  for (const Change& change : log_) replace(change.piece);
  thawed_ = true;
}

// Ends exactly what piece overlaps; what sticks out on either side stays.
void AddressSpace::replace(const Piece& piece) {
  auto next = live_.lower_bound(piece.begin);
  if (next != live_.begin()) {
    auto before = std::prev(next);
    const Live cut = before->second;
    if (cut.end > piece.begin) {
      before->second.end = piece.begin;
      if (cut.end > piece.end) next = live_.emplace_hint(next, piece.end, cut);
    }
  }
  while (next != live_.end() && next->first < piece.end) {
    const Live cut = next->second;
    next = live_.erase(next);
    if (cut.end > piece.end) next = live_.emplace_hint(next, piece.end, cut);
  }
  live_.emplace_hint(next, piece.begin, Live{piece.end, piece.tag});
}

void AddressSpace::add(uint64_t time, uint64_t begin, uint64_t end, uint32_t tag) {
  if (begin >= end) return;
  thaw();
  const Piece piece{begin, end, tag};
  log_.push_back({std::max(time, newest()), piece});
  thawed_ = false;  // when memory runs out meanwhile, the next change begins from the log
  replace(piece);
  thawed_ = true;
  const size_t covered = checkpoints_.empty() ? 0 : checkpoints_.back().changes;
  // A quarter of the pieces: memory stays proportional to the changes, a search stays short.
  if (log_.size() - covered > std::max<size_t>(32, live_.size() / 4)) checkpoint();
}

void AddressSpace::checkpoint() {
  auto pieces = std::make_shared<Pieces>();
  pieces->reserve(live_.size());
  for (const auto& [begin, live] : live_) pieces->push_back({begin, live.end, live.tag});
  checkpoints_.push_back({log_.size(), std::move(pieces)});
}

std::shared_ptr<const AddressSpace::Pieces> AddressSpace::now() {
  if (log_.empty()) return initial_;
  if (checkpoints_.empty() || checkpoints_.back().changes != log_.size()) {
    thaw();
    checkpoint();
  }
  return checkpoints_.back().pieces;
}

void AddressSpace::freeze() {
  live_.clear();
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
  const Pieces* pieces = from_start ? initial_.get() : std::prev(after)->pieces.get();
  // Newer neighbours cut what is found beneath them.
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
  const Piece* piece = pieces ? piece_at(*pieces, address) : nullptr;
  if (!piece) return std::nullopt;
  return cut(*piece);
}

}  // namespace a2n
