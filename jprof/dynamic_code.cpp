// SPDX-License-Identifier: MIT
// Checks what a JVM says of code that it has generated.
#include "dynamic_code.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace pi::jprof {
namespace {

// Reads the byte without faulting. True also where the system does not permit such reads.
bool is_readable(const void* address) {
  char byte;
  const iovec here{&byte, 1};
  const iovec there{const_cast<void*>(address), 1};
  return ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) == 1 || errno != EFAULT;
}

}  // namespace

bool is_generated(const void* address, int32_t size) {
  const auto begin = reinterpret_cast<uint64_t>(address);
  if (size <= 0 || static_cast<uint32_t>(size) == static_cast<uint32_t>(0 - begin)) return false;
  return is_readable(static_cast<const char*>(address) + size - 1);
}

}  // namespace pi::jprof
