// SPDX-License-Identifier: MIT
// The recording of this process.
#include "session.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>

#include <pi/raw_lock.h>

#include "next.h"
#include "pages.h"
#include "system.h"
#include "thread.h"

namespace pi::heapit {

using heap_log::Path;

namespace {

// A page that is zero in a child of fork(), whichever way it was made: a child has none of the
// memory of its parent's recording.
struct Control {
  std::atomic<Session*> session;
  std::atomic<bool> begun;
  std::atomic<bool> has_ended;
  RawLock lock;
};

constexpr size_t page = 4096, session_bytes = (sizeof(Session) + page - 1) / page * page;

Control* control;
bool early_is_whole = true;
Settings settings;
bool uses_c_library;  // whose allocator it is
bool is_child;        // of the process that loaded the library

// A block in memory of another allocator has no header of the C library's.
bool is_of_c_library(const Next& next) {
  Dl_info allocator{}, other{};
  return ::dladdr(reinterpret_cast<void*>(next.malloc), &allocator) != 0 &&
         ::dladdr(reinterpret_cast<void*>(next.dlclose), &other) != 0 &&
         allocator.dli_fbase == other.dli_fbase;
}

}  // namespace

bool Session::early = true;
constinit Blocks Session::early_blocks(64 << 20);

void Session::allocated_early(const void* block, size_t bytes) {
  if (const Inside inside; inside && !early_blocks.put(block, {bytes, nullptr}).stored)
    early_is_whole = false;
}

void Session::freed_early(const void* block) {
  if (const Inside inside; inside) early_blocks.take(block);
}

void Session::take_early_blocks() {
  knows_early_blocks_ =
      early_is_whole && early_blocks.for_each([&](uint64_t address, const Block& block) {
        return live_.was_there(reinterpret_cast<const void*>(address), block.bytes);
      });
}

void Session::start(const Settings& given) {
  settings = given;
  void* memory = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || ::madvise(memory, page, MADV_WIPEONFORK) != 0)
    return say("nothing is recorded: no memory that a child of fork() does not get");
  const Inside inside;
  uses_c_library = is_of_c_library(*next_functions());
  control = new (memory) Control;
  begin();
  is_child = true;  // where get() finds none
}

Session::Session(const Settings& chosen, std::byte* memory, size_t bytes)
    : memory_end_(reinterpret_cast<uint64_t>(memory) + bytes),
      heap_(chosen.heap),
      locks_(chosen.locks),
      code_(memory + session_bytes),
      paths_(memory + session_bytes + Code::memory_bytes),
      live_(chosen.max_block_bytes) {}

Session* Session::begin() {
  const std::lock_guard lock(control->lock);
  if (control->begun) return control->session;
  control->begun = true;
  if (is_child && !settings.children) return nullptr;
  constexpr size_t bytes = session_bytes + Code::memory_bytes + Paths::memory_bytes;
  std::byte* memory = map_pages(bytes);
  if (!memory) {
    say("nothing is recorded: no memory");
    return nullptr;
  }
  auto* session = new (memory) Session(settings, memory, bytes);
  if (!session->log_.create(settings.directory, ::getpid())) {
    say("cannot create the log '", session->log_.path(), "': ", std::strerror(errno));
    return nullptr;
  }
  if (!session->paths_.begin(session->log_)) return nullptr;
  if (!is_child) session->take_early_blocks();
  control->session.store(session, std::memory_order_release);
  return session;
}

Session* Session::get() {
  if (!control) return nullptr;
  Session* session = control->session.load(std::memory_order_acquire);
  if (session || control->begun.load(std::memory_order_relaxed)) return session;
  const Inside inside;
  return inside ? begin() : nullptr;
}

Session* Session::of_heap() {
  Session* session = this_thread.inside ? nullptr : get();
  return session && session->heap_ ? session : nullptr;
}

Session* Session::of_locks() {
  Session* session = this_thread.inside ? nullptr : get();
  return session && session->locks_ ? session : nullptr;
}

Session* Session::at_end() {
  if (!control || settings.search_seconds == 0 || this_thread.inside) return nullptr;
  Session* session = control->session.load(std::memory_order_acquire);
  // A child of vfork() has the memory of its parent.
  if (!session || !session->heap_ ||
      session->log_.header().pid != static_cast<uint32_t>(::getpid()))
    return nullptr;
  return control->has_ended.exchange(true) ? nullptr : session;
}

bool Session::knows_all_blocks() const {
  return knows_early_blocks_ && log_.header().lost[heap_log::lost_blocks] == 0 && uses_c_library;
}

uint64_t Session::search_nanoseconds() const {
  return settings.search_seconds * 1'000'000'000;
}

Path& Session::path(heap_log::Kind kind, const Here& here) {
  Stack stack;
  find_callers(here, code_, stack);
  return paths_.find(kind, stack, log_, code_);
}

void Session::allocated(const void* block, size_t bytes, const Here& here) {
  live_.allocated(log_, path(heap_log::allocation, here), block, bytes);
}

}  // namespace pi::heapit
