// SPDX-License-Identifier: MIT
// Packages of split DWARF (.dwp): which parts of their sections belong to a unit.
#ifndef A2N_DWARF_PACKAGE_H
#define A2N_DWARF_PACKAGE_H

#include <cstdint>
#include <optional>

#include "dwarf_sections.h"
#include "dwarf_work.h"

namespace a2n {

// The sections of the unit of that id alone; nothing where the package has none. Versions 2 (gcc's
// and clang's before DWARF 5) and 5. Several units may have the same bytes, which are counted for
// each.
std::optional<DwarfSections> unit_in_package(const DwarfSections& package, uint64_t id,
                                             DwarfWork& work);

}  // namespace a2n

#endif  // A2N_DWARF_PACKAGE_H
