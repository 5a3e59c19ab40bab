// SPDX-License-Identifier: MIT
// Builds, from time-ordered JIT events, which method owned each address when.
#ifndef A2N_JIT_TIMELINE_H
#define A2N_JIT_TIMELINE_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/rectangle_index.h"

namespace a2n {

// Events must be passed in time order; see JitCode for the rules.
class JitTimeline {
 public:
  struct Method {
    uint64_t begin;
    uint64_t end;
    bool dynamic;
  };

  // A method is identified by its index in the list.
  explicit JitTimeline(const std::vector<Method>& methods) : methods_(methods) {}

  void load(uint64_t time, uint32_t method);
  void unload(uint64_t time, uint64_t address);
  void begin_late(uint64_t time);
  void lose(uint64_t time);
  void stop(uint64_t time);

  // The live owner of an address, or none.
  static constexpr uint32_t none = UINT32_MAX;
  uint32_t owner(uint64_t address) const;

  size_t reuses() const { return reuses_; }

  // Must be the last call.
  std::vector<Rectangle> finish();

 private:
  // [key, end) belongs to owner since this time; without an owner it has been free since then.
  struct Piece {
    uint64_t end;
    uint64_t since;
    uint32_t owner;
  };
  using Pieces = std::map<uint64_t, Piece>;

  bool is_inside(uint32_t inner, uint32_t outer) const;
  Pieces::iterator split(uint64_t address);
  void close(Pieces::iterator piece, uint64_t time);
  void end_method(uint32_t method, uint64_t time);
  void end_overlapped(uint64_t time, uint32_t method);
  std::optional<uint64_t> free_since(uint32_t method) const;
  void take(uint64_t from, uint32_t method);

  const std::vector<Method>& methods_;
  Pieces pieces_;
  uint64_t known_from_ = 0;
  bool lossy_ = false;
  // How many more inner pieces dynamic code may enclose. It limits memory for hostile logs: at 0,
  // new dynamic code ends all code that it overlaps.
  uint32_t nested_left_ = 1 << 20;
  size_t reuses_ = 0;
  std::vector<Rectangle> done_;
};

}  // namespace a2n

#endif  // A2N_JIT_TIMELINE_H
