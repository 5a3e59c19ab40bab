// SPDX-License-Identifier: MIT
// A library with a function that allocates, for the program allocates; PIECE is its own name.
#include <stdlib.h>

__attribute__((noipa, visibility("hidden"))) void* PIECE(size_t bytes) {
  void* volatile block = malloc(bytes);
  return block;
}

void* library_allocate(size_t bytes) {
  void* volatile block = PIECE(bytes);
  return block;
}
