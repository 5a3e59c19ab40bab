// SPDX-License-Identifier: MIT
// The only decoder of ITrace's records (include/pitrace/abi.h). Addresses are those of the thread,
// ns are nanoseconds. As in decode.h, no byte is trusted.
#ifndef PI_DECODE_ITRACE_H
#define PI_DECODE_ITRACE_H

#include <cstdint>

#include <pi/record_view.h>

namespace pi {

inline bool is_itrace(const RecordView& record) {
  const uint32_t major = record.major();
  return major >= PITRACE_MAJOR_BRANCH_KERNEL && major <= PITRACE_MAJOR_ITRACE_STOP &&
         (major <= PITRACE_MAJOR_BRANCH_USER || major == PITRACE_MAJOR_CUT_KERNEL ||
          major == PITRACE_MAJOR_CUT_USER || major == PITRACE_MAJOR_ITRACE_GAP ||
          major == PITRACE_MAJOR_ITRACE_THREAD || major == PITRACE_MAJOR_ITRACE_START ||
          major == PITRACE_MAJOR_ITRACE_STOP);
}

struct ItraceBranch {
  bool user;  // the ring of the branch
  uint64_t from;
  uint64_t to;
  uint32_t count;  // instructions; 0: not in the record
};

inline bool decode_branch(const RecordView& record, ItraceBranch& out) {
  const uint32_t major = record.major();
  const uint32_t ints = record.int_count();
  if ((major != PITRACE_MAJOR_BRANCH_KERNEL && major != PITRACE_MAJOR_BRANCH_USER) || ints < 3)
    return false;
  out = {major == PITRACE_MAJOR_BRANCH_USER,
         static_cast<uint64_t>(record.int_at(0)) << 32 | record.minor(), record.low_first_at(1),
         ints > 3 ? record.int_at(3) : 0};
  return true;
}

struct ItraceCut {
  bool user;
  bool resumed;     // the flow that was cut continues
  bool device;      // by a device's interrupt line
  bool signal;      // cut by an event after which a signal was delivered
  uint32_t vector;  // or the line's number, or the signal's
  uint32_t count;
  uint64_t address;  // of the instruction that is not executed
};

inline bool decode_cut(const RecordView& record, ItraceCut& out) {
  const uint32_t major = record.major();
  if ((major != PITRACE_MAJOR_CUT_KERNEL && major != PITRACE_MAJOR_CUT_USER) ||
      record.int_count() < PITRACE_CUT_INTS)
    return false;
  constexpr uint32_t numbered = PITRACE_CUT_DEVICE | PITRACE_CUT_SIGNAL;
  out = {major == PITRACE_MAJOR_CUT_USER,
         (record.minor() & PITRACE_CUT_RESUMED) != 0,
         (record.minor() & PITRACE_CUT_DEVICE) != 0,
         (record.minor() & PITRACE_CUT_SIGNAL) != 0,
         record.minor() & ((record.minor() & numbered) != 0 ? PITRACE_CUT_NUMBER : 0xff),
         record.int_at(0),
         record.low_first_at(1)};
  return true;
}

struct ItraceGap {
  uint32_t reason;   // PITRACE_GAP_*, or one that is not known
  uint32_t count;    // instructions before it
  uint32_t missing;  // instructions in it; 0: not known
  uint32_t ns;
  uint64_t to;  // address at which the flow continues
};

inline bool decode_gap(const RecordView& record, ItraceGap& out) {
  if (record.major() != PITRACE_MAJOR_ITRACE_GAP || record.int_count() < PITRACE_GAP_INTS)
    return false;
  out = {record.minor(), record.int_at(0), record.int_at(1), record.int_at(2),
         record.low_first_at(3)};
  return true;
}

struct ItraceThread {
  uint32_t tid;
  uint32_t pid;  // 0: not in the record
};

inline bool decode_itrace_thread(const RecordView& record, ItraceThread& out) {
  if (record.major() != PITRACE_MAJOR_ITRACE_THREAD) return false;
  out = {record.minor(), record.int_count() > 1 ? record.int_at(1) : 0};
  return true;
}

struct ItraceStart {
  uint32_t pid;
  uint32_t tid;
  uint32_t flags;  // PITRACE_ITRACE_*
  bool placed;     // the record has an address
  uint64_t address;
};

inline bool decode_itrace_start(const RecordView& record, ItraceStart& out) {
  const uint32_t ints = record.int_count();
  if (record.major() != PITRACE_MAJOR_ITRACE_START || ints < 4) return false;
  const bool placed = ints >= PITRACE_ITRACE_START_INTS;
  out = {record.int_at(2), record.int_at(3), ints > 4 ? record.int_at(4) : 0, placed,
         placed ? record.low_first_at(5) : 0};
  return true;
}

struct ItraceStop {
  uint32_t reason;  // PITRACE_STOP_*
  uint32_t branches;
  bool placed;  // the record has the next three
  uint32_t tid;
  uint32_t count;
  uint64_t address;  // of the instruction that was next
};

inline bool decode_itrace_stop(const RecordView& record, ItraceStop& out) {
  const uint32_t ints = record.int_count();
  if (record.major() != PITRACE_MAJOR_ITRACE_STOP || ints < 2) return false;
  const bool placed = ints >= PITRACE_ITRACE_STOP_INTS;
  out = {record.minor(), record.int_at(1), placed, 0, 0, 0};
  if (placed) {
    out.tid = record.int_at(2);
    out.count = record.int_at(3);
    out.address = record.low_first_at(4);
  }
  return true;
}

}  // namespace pi

#endif  // PI_DECODE_ITRACE_H
