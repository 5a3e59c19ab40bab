// SPDX-License-Identifier: MIT
// A library whose constructor allocates, before the recording begins, what later refers to a block.
#include <stdlib.h>

static struct registry {
  void* entries[8];
}* registry;

__attribute__((constructor)) static void make_registry(void) {
  registry = calloc(1, sizeof *registry);
}

__attribute__((visibility("default"))) void registry_keep(void* block) {
  registry->entries[3] = block;
}
