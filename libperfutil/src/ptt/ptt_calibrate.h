// SPDX-License-Identifier: MIT
// What interrupts and dispatches leave on the thread that they meet, found out by a thread that
// meets them.
#ifndef PI_PERFUTIL_PTT_CALIBRATE_H
#define PI_PERFUTIL_PTT_CALIBRATE_H

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <pitrace/ptt_data.h>

namespace pi::perfutil {

// Of each kind of interrupt the least that was seen.
class ResidueMeter {
 public:
  // vector, softs: as in the slot; left: more than lies between two reads without an interrupt.
  void add(uint32_t vector, uint32_t softs, uint64_t left);
  uint64_t interrupts() const { return interrupts_; }
  // Never more than was seen of any kind, so that no thread's time goes backwards.
  pitrace_ptt_residue result() const;

 private:
  // The least difference that one soft interrupt more makes; 0 when it was not seen.
  uint64_t soft_step(uint32_t softs) const;

  std::map<std::pair<uint32_t, uint32_t>, uint64_t> least_;  // by vector and softs
  uint64_t interrupts_ = 0;
};

// Reads the slot, which is the calling thread's and has cycles first, for so long.
ResidueMeter measure_residue(const pitrace_ptt_slot& slot, uint64_t nanoseconds);

// What each dispatch leaves on a thread, in the order of size. Nothing when no process can be made.
//
// The calling thread stays on one processor meanwhile, which processes of ours want all the time.
std::vector<uint64_t> measure_dispatches(const pitrace_ptt_slot& slot, uint64_t nanoseconds);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PTT_CALIBRATE_H
