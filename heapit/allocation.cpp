// SPDX-License-Identifier: MIT
// The functions of the C library that allocate and free. operator new and delete call them.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "next.h"
#include "session.h"
#include "thread.h"

// Where this library begins and ends in memory, by the linker.
extern "C" [[gnu::visibility("hidden")]] const char __ehdr_start[], _end[];

namespace pi::heapit {
namespace {

[[gnu::noinline]] void record(Session& session, const void* block, size_t bytes, const Here& here) {
  if (const Inside inside; inside) session.allocated(block, bytes, here);
}

// The C++ library inside this library allocates space for exceptions when it starts.
bool is_own_code(const void* address) {
  const auto* byte = static_cast<const char*>(address);
  return byte >= __ehdr_start && byte < _end;
}

// In the function that replaces one of the C library: its caller is the first of the path.
#define PI_RECORD(block, bytes)                                      \
  do {                                                               \
    Session* const session = (block) ? Session::of_heap() : nullptr; \
    if (session && !is_own_code(__builtin_return_address(0)))        \
      record(*session, block, bytes, here());                        \
    else if ((block) && Session::is_early())                         \
      Session::allocated_early(block, bytes);                        \
  } while (false)

// A block that is about to be freed, or to be put elsewhere. It counts as live until freed().
class Leaving {
 public:
  explicit Leaving(const void* address)
      : session_(Session::of_heap()), address_(address), was_moving_(this_thread.moving_block) {
    this_thread.moving_block = true;
    if (const Inside inside; session_) block_ = session_->take(address);
    if (Session::is_early()) Session::freed_early(address);
  }
  ~Leaving() { this_thread.moving_block = was_moving_; }
  Leaving(const Leaving&) = delete;
  Leaving& operator=(const Leaving&) = delete;
  void freed() {
    if (const Inside inside; block_) session_->freed(*block_);
  }
  void stays() {
    if (const Inside inside; block_) session_->put_back(address_, *block_);
  }

 private:
  Session* const session_;
  const void* const address_;
  const bool was_moving_;
  std::optional<Block> block_;
};

void* early_zeros(size_t count, size_t bytes) {
  size_t all = 0;
  return __builtin_mul_overflow(count, bytes, &all) ? nullptr : early_memory(all);
}

// A block of the time before this library knew where to get memory.
void* move_early(void* old, size_t bytes) {
  void* block = ::malloc(bytes);
  if (block) std::memcpy(block, old, std::min(bytes, early_bytes_from(old)));
  return block;
}

}  // namespace
}  // namespace pi::heapit

using namespace pi::heapit;

#pragma GCC visibility push(default)
extern "C" {

void* malloc(size_t bytes) noexcept {
  const Next* next = next_functions();
  if (!next) return early_memory(bytes);
  void* block = next->malloc(bytes);
  PI_RECORD(block, bytes);
  return block;
}

void* calloc(size_t count, size_t bytes) noexcept {
  const Next* next = next_functions();
  if (!next) return early_zeros(count, bytes);
  void* block = next->calloc(count, bytes);
  PI_RECORD(block, count * bytes);
  return block;
}

void* realloc(void* old, size_t bytes) noexcept {
  const Next* next = next_functions();
  if (!next) return early_memory(bytes);
  if (is_early(old)) return move_early(old, bytes);
  Leaving leaving(old);
  void* block = next->realloc(old, bytes);
  if (block || bytes == 0)
    leaving.freed();
  else
    leaving.stays();
  PI_RECORD(block, bytes);
  return block;
}

void* reallocarray(void* old, size_t count, size_t bytes) noexcept {
  const Next* next = next_functions();
  size_t all = 0;
  if (!next || is_early(old) || __builtin_mul_overflow(count, bytes, &all)) {
    if (__builtin_mul_overflow(count, bytes, &all)) {
      errno = ENOMEM;
      return nullptr;
    }
    return ::realloc(old, all);
  }
  Leaving leaving(old);
  void* block = next->reallocarray(old, count, bytes);
  if (block || all == 0)
    leaving.freed();
  else
    leaving.stays();
  PI_RECORD(block, all);
  return block;
}

void free(void* block) noexcept {
  const Next* next = next_functions();
  if (!block || is_early(block) || !next) return;
  Leaving(block).freed();
  next->free(block);
}

int posix_memalign(void** block, size_t alignment, size_t bytes) noexcept {
  const Next* next = next_functions();
  if (!next) return ENOMEM;
  const int error = next->posix_memalign(block, alignment, bytes);
  if (error == 0) PI_RECORD(*block, bytes);
  return error;
}

void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  const Next* next = next_functions();
  if (!next) return nullptr;
  void* block = next->aligned_alloc(alignment, bytes);
  PI_RECORD(block, bytes);
  return block;
}

void* memalign(size_t alignment, size_t bytes) noexcept {
  const Next* next = next_functions();
  if (!next) return nullptr;
  void* block = next->memalign(alignment, bytes);
  PI_RECORD(block, bytes);
  return block;
}

void* valloc(size_t bytes) noexcept {
  const Next* next = next_functions();
  if (!next) return nullptr;
  void* block = next->valloc(bytes);
  PI_RECORD(block, bytes);
  return block;
}

void* pvalloc(size_t bytes) noexcept {
  const Next* next = next_functions();
  if (!next) return nullptr;
  void* block = next->pvalloc(bytes);
  PI_RECORD(block, bytes);
  return block;
}

int dlclose(void* library) noexcept {
  const Next* next = next_functions();
  if (!next) return -1;
  const int error = next->dlclose(library);
  if (Session* session = Session::get())
    if (const Inside inside; inside) session->code_unloaded();
  return error;
}
}
#pragma GCC visibility pop
