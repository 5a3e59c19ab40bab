// SPDX-License-Identifier: MIT
// The class files that are part of this library.
#ifndef PI_JPROF_EMBEDDED_H
#define PI_JPROF_EMBEDDED_H

#include <cstddef>
#include <span>

namespace pi::jprof {

// java.lang.PitraceProbe.
std::span<const std::byte> embedded_probe_class();
// java.lang.PitraceLocks and its classes, in the format of PackClasses.java.
std::span<const std::byte> embedded_lock_classes();
// The transformer and ASM, in the format of PackClasses.java. Empty if ASM or a Java compiler was
// missing at build time.
std::span<const std::byte> embedded_transformer();

}  // namespace pi::jprof

#endif  // PI_JPROF_EMBEDDED_H
