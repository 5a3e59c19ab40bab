// SPDX-License-Identifier: MIT
// The mappings of one image of a process, as intervals in address and time.
#ifndef A2N_ADDRESS_SPACE_H
#define A2N_ADDRESS_SPACE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/piece_tree.h"

namespace a2n {

// Mappings are never removed, only covered by newer ones. So the owner of an address at a time is
// the newest change up to then that contains it. All changes are in a log in time order; a
// checkpoint (all pieces at one time) after a fixed number of changes bounds the search.
// Checkpoints and forked spaces share the pieces that did not change between them.
class AddressSpace {
 public:
  AddressSpace() = default;
  // Begins with another space's pieces, shared with it.
  explicit AddressSpace(PieceTree initial) : initial_(std::move(initial)) {}

  // [begin, end) belongs to tag from this time on. A time before the newest change's counts as
  // that.
  void add(uint64_t time, uint64_t begin, uint64_t end, uint32_t tag);

  // The piece that contains address, as it was cut at that time.
  std::optional<Piece> find(uint64_t address, uint64_t time) const;

  // All pieces as of the newest change.
  const PieceTree& now();

  uint64_t newest() const { return log_.empty() ? 0 : log_.back().time; }

  // Calls use(tag) for the tag of each change; not for those of the pieces it began with.
  template <class Use>
  void each_tag(Use use) const {
    for (const Change& change : log_) use(change.piece.tag);
  }

  // No further change will come: releases what only changes need.
  void freeze();

 private:
  struct Change {
    uint64_t time;
    Piece piece;
  };
  struct Checkpoint {
    size_t changes;  // how many changes it contains
    PieceTree pieces;
  };

  size_t checkpointed() const { return checkpoints_.empty() ? 0 : checkpoints_.back().changes; }
  void thaw();
  size_t changes_until(uint64_t time) const;

  PieceTree initial_;
  std::vector<Change> log_;
  std::vector<Checkpoint> checkpoints_;
  PieceTree live_;  // the pieces now; only while thawed_
  bool thawed_ = false;
};

}  // namespace a2n

#endif  // A2N_ADDRESS_SPACE_H
