// SPDX-License-Identifier: MIT
// Counts ticks by thread, function, address in the function's code, and time.
#ifndef POST_CODE_BY_TIME_H
#define POST_CODE_BY_TIME_H

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "micro.h"
#include "state/frames.h"
#include "text/path_tree.h"
#include "text/recent.h"
#include "time_sums.h"

namespace post {

class CodeByTime {
 public:
  // All three must outlive this. cache_entries: a power of two.
  CodeByTime(Processes& processes, Symbolizer& symbolizer, StringTable& names,
             Resolver::Options options, size_t cache_entries)
      : processes_(processes),
        micro_(processes, symbolizer, names, {{}, false, options, cache_entries}),
        recent_(2 * cache_entries) {}

  // thread: its place in the call tree; frame: the function as the tree has it, which can be
  // inlined into the one to which the code belongs.
  void add(const pi::TprofTick& tick, uint32_t cpu, uint64_t time, uint32_t thread, FrameId frame);

  struct Spot {
    uint32_t thread = 0;
    FrameId frame = 0;
    const Micro::Function* function = nullptr;
    uint32_t offset = 0;
  };
  // The ticks' keys are the numbers of these.
  const std::vector<Spot>& spots() const { return spots_; }
  // What is known of their functions; it has counted nothing.
  const Micro& functions() const { return micro_; }

  // Bins can be longer than those of other sums.
  TimeSums sums{{.sums = 1 << 19}};

 private:
  struct Address {
    uint64_t address = 0;
    uint32_t maps_version = 0;  // 0: none
    uint32_t thread = 0;
    FrameId frame = 0;  // follows from the others
    bool operator==(const Address&) const = default;
    uint64_t hash() const {
      return (address ^ uint64_t{maps_version} << 40 ^ uint64_t{thread} << 20) *
                 0x9e3779b97f4a7c15ull >>
             32;
    }
  };

  uint32_t spot_of(const Micro::Spot& spot, uint32_t thread, FrameId frame);

  Processes& processes_;
  Micro micro_;
  Recent<Address, uint32_t> recent_;  // spots; no_spot: no module is known there
  std::unordered_map<const Micro::Function*, uint32_t> numbers_;
  PathTree tree_;                  // thread, frame, function, offset
  std::vector<uint32_t> spot_at_;  // by place in the tree: 1 more than the number
  std::vector<Spot> spots_;
};

}  // namespace post

#endif  // POST_CODE_BY_TIME_H
