// SPDX-License-Identifier: MIT
// What was mapped where and when in one image of a process: intervals in address and time.
#ifndef A2N_ADDRESS_SPACE_H
#define A2N_ADDRESS_SPACE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/piece_tree.h"

namespace a2n {

// Nothing is ever unmapped, only covered by something newer. So the owner of an address at a time
// is the newest change up to then that contains it: a log of changes in time order is the truth,
// and a checkpoint (all pieces at one moment) every so many changes bounds the search. Checkpoints
// and forked spaces share what did not change between them.
class AddressSpace {
 public:
  AddressSpace() = default;
  // Begins with another space's pieces, shared with it.
  explicit AddressSpace(PieceTree initial) : initial_(std::move(initial)) {}

  // [begin, end) is tag's from time on; a time before the newest change counts as that change's.
  void add(uint64_t time, uint64_t begin, uint64_t end, uint32_t tag);

  // The piece that contains address, as it was cut at that time.
  std::optional<Piece> find(uint64_t address, uint64_t time) const;

  // All pieces as of the newest change.
  const PieceTree& now();

  uint64_t newest() const { return log_.empty() ? 0 : log_.back().time; }

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
