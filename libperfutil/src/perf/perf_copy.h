// SPDX-License-Identifier: MIT
// The copy of registers and stack in a perf sample, and the frames that replace it.
#ifndef PI_PERFUTIL_PERF_COPY_H
#define PI_PERFUTIL_PERF_COPY_H

#include <cstdint>
#include <span>
#include <vector>

#include "source/stack_unwinding.h"

namespace pi::perfutil {

// Behind the call chain of a tick whose user entries may have been replaced.
struct UnwoundTail {
  uint32_t resolved;      // 1: the user's entries are those of the application
  uint32_t flags;         // then PITRACE_STACK_USER_FLAGS
  uint32_t table_frames;  // and the number of frames that tables have found
};

// A record from a ring of ticks. chain: offset of the call chain, if it is a tick with a copy; 0
// for other records. The copy is taken out; a tick that is too short is only a header then.
// buffer: memory for the copy.
HeldStack held_record(uint64_t time, std::span<const std::byte> record, size_t chain,
                      std::vector<std::byte> buffer = {});

// Puts the application's frames into the record, instead of the kernel's for the user.
void replace_frames(HeldStack& held, size_t chain, const ResolvedStack& resolved);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PERF_COPY_H
