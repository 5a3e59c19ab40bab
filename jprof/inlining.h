// SPDX-License-Identifier: MIT
// Reads from the JVM's compile record which methods are inlined into a compiled one.
#ifndef PI_JPROF_INLINING_H
#define PI_JPROF_INLINING_H

#include <jvmti.h>

#include <cstdint>
#include <vector>

#include "log_text.h"

namespace pi::jprof {

struct Inlining {
  std::vector<jmethodID> methods;  // each once; the compiled method itself is the first
  std::vector<InlineFrame> frames;
  std::vector<InlineRange> ranges;
};

// compile_info: from the event CompiledMethodLoad, or null. PC records outside the code are
// ignored.
Inlining read_inlining(jmethodID compiled, const void* compile_info, const void* code,
                       uint32_t code_size);

}  // namespace pi::jprof

#endif  // PI_JPROF_INLINING_H
