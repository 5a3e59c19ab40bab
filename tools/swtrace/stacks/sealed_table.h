// SPDX-License-Identifier: MIT
// An unwind table in memory that nobody can change any more.
#ifndef SWTRACE_SEALED_TABLE_H
#define SWTRACE_SEALED_TABLE_H

#include <optional>

#include <pi/unique_fd.h>

#include "table/table.h"

namespace pi::swtrace {

class SealedTable {
 public:
  // Seals the memory. Nothing unless the table in it is in bounds.
  static std::optional<SealedTable> of(const UniqueFd& memory);
  const unwind::Table& table() const { return table_; }
  size_t bytes() const { return mapping_.size(); }

 private:
  UniqueMapping mapping_;
  unwind::Table table_;
};

}  // namespace pi::swtrace

#endif  // SWTRACE_SEALED_TABLE_H
