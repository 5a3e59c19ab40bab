// SPDX-License-Identifier: MIT
// Converts the call chain of a perf sample to the stack of a trace record.
#ifndef PI_PERFUTIL_PERF_STACK_H
#define PI_PERFUTIL_PERF_STACK_H

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "perf_copy.h"
#include "source/sampling.h"

namespace pi::perfutil {

// perf's chain has marks before the entries of the kernel and of the user, and begins with the
// address of the sample itself. It ends where the frame pointers end. perf does not report whether
// that is the end of the stack or an invalid frame pointer, so that no stack from perf is ever
// marked BROKEN.
class PerfStack {
 public:
  // Where the entry is that the record of a tick already holds, and that is dropped.
  enum class Leaf { kept, in_kernel, in_user };

  // The chain's entries in rest, the bytes after the fixed fields of a sample; an empty span when
  // no stacks are wanted, nothing when the record is too short.
  static std::optional<std::span<const std::byte>> entries_of(std::span<const std::byte> rest,
                                                              bool wanted);

  // max_frames: maximum of entries without marks in a chain of the kernel's. unwound: whose the
  // user's entries are, if they may be the application's.
  void read(std::span<const std::byte> entries, const StackChoice& stacks, uint32_t max_frames,
            Leaf leaf, const UnwoundTail& unwound = {});
  // Valid until the next read().
  Stack stack() const { return {exists_, flags_, kernel_, user_, table_frames_}; }

 private:
  void take_unwound(const UnwoundTail& unwound, Leaf leaf, bool is_cut);

  bool exists_ = false;
  uint32_t flags_ = 0;
  uint32_t table_frames_ = 0;
  std::vector<__u64> kernel_;
  std::vector<__u64> user_;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PERF_STACK_H
