// SPDX-License-Identifier: MIT
// The class files that are part of this library.
#include "probes/embedded.h"

// See jprof/java/embedded.S.
extern "C" const std::byte jprof_probe_class_begin[], jprof_probe_class_end[],
    jprof_lock_classes_begin[], jprof_lock_classes_end[], jprof_transformer_begin[],
    jprof_transformer_end[];

namespace pi::jprof {

std::span<const std::byte> embedded_probe_class() {
  return {jprof_probe_class_begin, jprof_probe_class_end};
}

std::span<const std::byte> embedded_lock_classes() {
  return {jprof_lock_classes_begin, jprof_lock_classes_end};
}

std::span<const std::byte> embedded_transformer() {
  return {jprof_transformer_begin, jprof_transformer_end};
}

}  // namespace pi::jprof
