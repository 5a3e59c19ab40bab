// SPDX-License-Identifier: MIT
// Reads the fields of a record of perf that its event's attributes select.
#ifndef PI_PERFUTIL_PERF_FIELDS_H
#define PI_PERFUTIL_PERF_FIELDS_H

#include <cstdint>
#include <optional>

#include "perf_event_table.h"

namespace pi::perfutil {

// The registers and the top of the stack of a thread in user mode.
struct UserCopy {
  uint64_t abi = 0;  // PERF_SAMPLE_REGS_ABI_*
  Bytes registers;   // those of the event's mask
  Bytes stack;       // from the stack pointer on
};

// Fields that the record does not have are 0.
struct RecordFields {
  uint32_t pid = 0;
  uint32_t tid = 0;
  uint64_t time = 0;
  uint32_t cpu = 0;
  uint64_t ip = 0;
  uint64_t period = 1;
  Bytes chain;              // of a sample: the entries of its call chain
  Bytes raw;                // of a sample of a tracepoint: its fields
  UserCopy copy;            // of a sample whose event has PERF_SAMPLE_STACK_USER
  size_t body = 0;          // of another record: its bytes without these fields
  uint64_t identifier = 0;  // of the event, for PerfConverter; not read
};

// Nothing if the record is too short for what its event says.
std::optional<RecordFields> fields_of_sample(Bytes record, const RecordedEvent& event);
// event: nullptr for a recording whose other records have no such fields.
std::optional<RecordFields> fields_of_other(Bytes record, const RecordedEvent* event);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PERF_FIELDS_H
