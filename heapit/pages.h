// SPDX-License-Identifier: MIT
// Memory that does not come from malloc().
#ifndef PI_HEAPIT_PAGES_H
#define PI_HEAPIT_PAGES_H

#include <cstddef>

namespace pi::heapit {

// Zeroed pages, which a child of fork() does not have. Null: there is no memory.
std::byte* map_pages(size_t bytes);
void unmap_pages(std::byte* memory, size_t bytes);

}  // namespace pi::heapit

#endif  // PI_HEAPIT_PAGES_H
