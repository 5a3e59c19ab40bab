// SPDX-License-Identifier: MIT
// Turns a call chain as perf samples carry it into the stack of a trace record.
#ifndef PI_PERFUTIL_PERF_STACK_H
#define PI_PERFUTIL_PERF_STACK_H

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "source/sampling.h"

namespace pi::perfutil {

// perf's chain has marks that tell whose the entries behind them are, the kernel's or the user's,
// and begins with the address of the sample itself. It ends where the frame pointers end; whether
// that was the end of the stack or a frame pointer that leads nowhere, perf does not tell, so that
// no stack of perf's is ever marked BROKEN.
class PerfStack {
 public:
  // Where the entry is that a tick's record has already: it is not repeated.
  enum class Leaf { kept, in_kernel, in_user };

  // The chain's entries in what follows the fixed fields of a sample; none when stacks are not
  // wanted, nothing when the record is cut short.
  static std::optional<std::span<const std::byte>> entries_of(std::span<const std::byte> rest,
                                                              bool wanted);

  // max_frames: how many entries but for marks the kernel makes a chain of at most.
  void read(std::span<const std::byte> entries, const StackChoice& stacks, uint32_t max_frames,
            Leaf leaf);
  // Valid until the next read().
  Stack stack() const { return {exists_, flags_, kernel_, user_}; }

 private:
  bool exists_ = false;
  uint32_t flags_ = 0;
  std::vector<__u64> kernel_;
  std::vector<__u64> user_;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PERF_STACK_H
