// SPDX-License-Identifier: MIT
// The memory that operator new takes in this library.
#ifndef PI_HEAPIT_ARENA_H
#define PI_HEAPIT_ARENA_H

namespace pi::heapit {

// Between both, operator new of this thread takes memory from an arena, all of which end_arena()
// frees. One thread at a time.
void begin_arena();
void end_arena();

}  // namespace pi::heapit

#endif  // PI_HEAPIT_ARENA_H
