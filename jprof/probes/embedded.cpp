// SPDX-License-Identifier: MIT
// The class files that are part of this library.
#include "probes/embedded.h"

// The linker's names for the files, see jprof/java/CMakeLists.txt.
extern "C" const std::byte _binary_probe_class_start[], _binary_probe_class_end[],
    _binary_locks_pack_start[], _binary_locks_pack_end[], _binary_transformer_pack_start[],
    _binary_transformer_pack_end[];

namespace pi::jprof {

std::span<const std::byte> embedded_probe_class() {
  return {_binary_probe_class_start, _binary_probe_class_end};
}

std::span<const std::byte> embedded_lock_classes() {
  return {_binary_locks_pack_start, _binary_locks_pack_end};
}

std::span<const std::byte> embedded_transformer() {
  return {_binary_transformer_pack_start, _binary_transformer_pack_end};
}

}  // namespace pi::jprof
