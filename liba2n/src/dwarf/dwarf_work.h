// SPDX-License-Identifier: MIT
// Counts what reading a module's debug information costs, in all files that it is in.
#ifndef A2N_DWARF_WORK_H
#define A2N_DWARF_WORK_H

#include <algorithm>
#include <cstdint>

#include "base/budgets.h"

namespace a2n {

// Bytes that many entries or units may share are counted each time they are read: tables, lists,
// names. There is one budget, by the bytes of all debug information that is used.
class DwarfWork {
 public:
  // So many bytes of debug information are used.
  void allow(uint64_t bytes) { size_ += std::min(bytes, UINT64_MAX - size_); }
  void count(uint64_t bytes) { done_ += std::min(bytes, UINT64_MAX - done_); }

  uint64_t size() const { return size_; }
  uint64_t done() const { return done_; }
  uint64_t left() const { return limit() - std::min(done_, limit()); }
  bool excess() const { return done_ > limit(); }

 private:
  uint64_t limit() const { return budgets::debug_entries.of(size_); }

  uint64_t size_ = 0;
  uint64_t done_ = 0;
};

}  // namespace a2n

#endif  // A2N_DWARF_WORK_H
