// SPDX-License-Identifier: MIT
// Those options of the JVM that decide which code it generates.
#ifndef PI_JPROF_JVM_FLAGS_H
#define PI_JPROF_JVM_FLAGS_H

#include <string>

namespace pi::jprof {

// The values that are in force, also those that the JVM has chosen itself: "UseG1GC
// UseCompressedOops TieredStopAtLevel=4", for example. Empty for a JVM that is not HotSpot.
std::string code_generation_flags();

}  // namespace pi::jprof

#endif  // PI_JPROF_JVM_FLAGS_H
