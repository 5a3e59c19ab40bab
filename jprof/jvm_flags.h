// SPDX-License-Identifier: MIT
// Options of the JVM, with the values that are in force.
#ifndef PI_JPROF_JVM_FLAGS_H
#define PI_JPROF_JVM_FLAGS_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pi::jprof {

// An option with the value true or false, and one with a number. Nothing if the JVM has no such
// option, or is not HotSpot.
std::optional<bool> jvm_switch(std::string_view name);
std::optional<int64_t> jvm_number(std::string_view name);

// Those that decide which code the JVM generates, also those that it has chosen itself: "UseG1GC
// UseCompressedOops TieredStopAtLevel=4", for example. Empty for a JVM that is not HotSpot.
std::string code_generation_flags();

}  // namespace pi::jprof

#endif  // PI_JPROF_JVM_FLAGS_H
