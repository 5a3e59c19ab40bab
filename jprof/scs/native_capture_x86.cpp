// SPDX-License-Identifier: MIT
// What a signal handler copies of the thread that it has interrupted in native code.
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "scs/native_capture.h"

namespace pi::jprof {
namespace {

// By DWARF number.
constexpr std::array places = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                               REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                               REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
static_assert(places.size() == unwind::register_count);

uint64_t register_of(const ucontext_t& context, int place) {
  return static_cast<uint64_t>(context.uc_mcontext.gregs[place]);
}

// Bytes that were copied. One part for each page: the kernel stops at the first part that it cannot
// read whole.
size_t copy_memory(uint64_t from, void* to, size_t bytes) {
  constexpr size_t page = 4096;
  std::array<iovec, captured_stack_bytes / page + 1> parts;
  size_t count = 0;
  for (size_t at = 0; at < bytes;) {
    const size_t part = std::min<size_t>(bytes - at, page - (from + at) % page);
    parts[count++] = {reinterpret_cast<void*>(from + at), part};
    at += part;
  }
  const iovec target = {to, bytes};
  const long copied =
      ::syscall(SYS_process_vm_readv, ::getpid(), &target, 1L, parts.data(), count, 0L);
  return copied > 0 ? static_cast<size_t>(copied) : 0;
}

}  // namespace

uint64_t instruction_of(const ucontext_t& context) {
  return register_of(context, REG_RIP);
}

size_t capture(const ucontext_t& context, uint64_t* words) {
  for (size_t i = 0; i < places.size(); ++i) words[i] = register_of(context, places[i]);
  return places.size() +
         copy_memory(words[unwind::stack_pointer], words + places.size(), captured_stack_bytes) /
             sizeof(uint64_t);
}

}  // namespace pi::jprof
