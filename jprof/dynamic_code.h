// SPDX-License-Identifier: MIT
// Checks what a JVM says of code that it has generated.
#ifndef PI_JPROF_DYNAMIC_CODE_H
#define PI_JPROF_DYNAMIC_CODE_H

#include <cstdint>

namespace pi::jprof {

// False if an event DynamicCodeGenerated is not about code that exists, whose bytes may not be
// read. The compilers of JDK 25 generate stubs while the JVM starts; GenerateEvents() reports one
// that is not complete with an end of 0, so that its size is the low half of -address. An event
// with the right size follows.
bool is_generated(const void* address, int32_t size);

}  // namespace pi::jprof

#endif  // PI_JPROF_DYNAMIC_CODE_H
