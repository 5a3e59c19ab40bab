// SPDX-License-Identifier: MIT
// An unwind table in memory that nobody can change any more.
#include "sealed_table.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace pi::swtrace {

std::optional<SealedTable> SealedTable::of(const UniqueFd& memory) {
  // The kernel refuses the seal while anyone can still write to the memory by a mapping.
  struct stat facts {};
  if (::fcntl(memory.get(), F_ADD_SEALS,
              F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0 ||
      ::fstat(memory.get(), &facts) != 0 || facts.st_size <= 0)
    return std::nullopt;
  const auto size = static_cast<size_t>(facts.st_size);
  SealedTable sealed;
  sealed.mapping_ =
      UniqueMapping(::mmap(nullptr, size, PROT_READ, MAP_SHARED, memory.get(), 0), size);
  if (!sealed.mapping_) return std::nullopt;
  const auto table = unwind::Table::check(sealed.mapping_.bytes());
  if (!table) return std::nullopt;
  sealed.table_ = *table;
  return sealed;
}

}  // namespace pi::swtrace
