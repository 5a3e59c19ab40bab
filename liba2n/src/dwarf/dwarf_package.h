// SPDX-License-Identifier: MIT
// Packages of split DWARF (.dwp): finds the sections of a unit.
#ifndef A2N_DWARF_PACKAGE_H
#define A2N_DWARF_PACKAGE_H

#include <cstdint>
#include <optional>

#include "dwarf_sections.h"
#include "dwarf_work.h"

namespace a2n {

// The parts of the package's sections that belong to the unit with that id; nullopt if the package
// does not contain it. Supports index versions 2 (gcc and clang before DWARF 5) and 5. Bytes that
// several units share are counted for each unit.
std::optional<DwarfSections> unit_in_package(const DwarfSections& package, uint64_t id,
                                             DwarfWork& work);

}  // namespace a2n

#endif  // A2N_DWARF_PACKAGE_H
