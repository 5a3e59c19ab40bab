// SPDX-License-Identifier: MIT
// What was mapped where and when in one image of a process: intervals in address and time.
#ifndef A2N_ADDRESS_SPACE_H
#define A2N_ADDRESS_SPACE_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace a2n {

// [begin, end) belongs to the mapping the caller calls tag.
struct Piece {
  uint64_t begin;
  uint64_t end;
  uint32_t tag;
};

// Nothing is ever unmapped, only covered by something newer. So the owner of an address at a time
// is the newest change up to then that contains it: a log of changes in time order is the truth,
// and a checkpoint (all pieces at one moment, sorted) every so many changes bounds the search.
class AddressSpace {
 public:
  using Pieces = std::vector<Piece>;

  AddressSpace() = default;
  // Begins with another space's pieces, shared with it.
  explicit AddressSpace(std::shared_ptr<const Pieces> initial) : initial_(std::move(initial)) {}

  // [begin, end) is tag's from time on; a time before the newest change counts as that change's.
  void add(uint64_t time, uint64_t begin, uint64_t end, uint32_t tag);

  // The piece that contains address, as it was cut at that time.
  std::optional<Piece> find(uint64_t address, uint64_t time) const;

  // All pieces as of the newest change.
  std::shared_ptr<const Pieces> now();

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
    std::shared_ptr<const Pieces> pieces;
  };
  struct Live {
    uint64_t end;
    uint32_t tag;
  };

  void thaw();
  void replace(const Piece& piece);
  void checkpoint();
  size_t changes_until(uint64_t time) const;

  std::shared_ptr<const Pieces> initial_;
  std::vector<Change> log_;
  std::vector<Checkpoint> checkpoints_;
  std::map<uint64_t, Live> live_;  // the pieces now, by begin; only while thawed_
  bool thawed_ = false;
};

}  // namespace a2n

#endif  // A2N_ADDRESS_SPACE_H
