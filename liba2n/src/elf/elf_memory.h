// SPDX-License-Identifier: MIT
// A lack of memory in libelf, which reports it as missing data: std::bad_alloc, as in the rest of
// the library. Otherwise a report without these names would look complete.
#ifndef A2N_ELF_MEMORY_H
#define A2N_ELF_MEMORY_H

#include <cerrno>
#include <new>

namespace a2n {

// Calls a function of libelf, which returns a pointer. Null stays null, except for a lack of
// memory.
template <class Call>
auto with_memory(Call call) {
  errno = 0;
  const auto result = call();
  if (!result && errno == ENOMEM) throw std::bad_alloc();
  return result;
}

}  // namespace a2n

#endif  // A2N_ELF_MEMORY_H
