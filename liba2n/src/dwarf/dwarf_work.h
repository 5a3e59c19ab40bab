// SPDX-License-Identifier: MIT
// Counts the work of reading a module's debug information, in all its files.
#ifndef A2N_DWARF_WORK_H
#define A2N_DWARF_WORK_H

#include <algorithm>
#include <cstdint>

#include "base/budgets.h"

namespace a2n {

// Data that entries or units may share (tables, lists, names) is counted each time it is read. The
// budget is computed from the size of all debug information in use.
class DwarfWork {
 public:
  // Adds debug information of that size to the information in use.
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
