// SPDX-License-Identifier: MIT
// The forms that an arc can have.
#ifndef POST_ARC_OPTIONS_H
#define POST_ARC_OPTIONS_H

#include <cstddef>

namespace post {

struct ArcOptions {
  bool compact = false;            // -c: one line for consecutive blocks of one function
  bool merge_kernel = false;       // -ck: one line for consecutive blocks of the kernel
  bool merge_plt = false;          // -cp: <plt> is part of the line that called it
  bool instructions = false;       // -ss
  bool bytes = false;              // -ssi
  bool count_by_code = false;      // -dcnt
  bool module_width = false;       // -tmod
  size_t cache_entries = 1 << 18;  // of the cache, a power of two
};

}  // namespace post

#endif  // POST_ARC_OPTIONS_H
