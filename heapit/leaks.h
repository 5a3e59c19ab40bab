// SPDX-License-Identifier: MIT
// The search for leaked blocks: those that nothing in a process refers to any more.
#ifndef PI_HEAPIT_LEAKS_H
#define PI_HEAPIT_LEAKS_H

#include <sys/types.h>

#include <cstdint>
#include <span>

#include "blocks.h"
#include "frozen.h"
#include "log.h"
#include "roots.h"
#include "search_limit.h"
#include "workspace.h"

namespace pi::heapit {

// The thread that waits for the search, and need not be stopped.
struct OwnThread {
  pid_t tid;
  std::span<const uint64_t> registers;
  ThreadPlace place;
};

struct Searched {
  pid_t memory;  // a process with this memory
  bool is_own;   // which is the calling one, and has no other thread
  Roots::Process process;
  const char* pagemap;                // in /proc
  pid_t pid;                          // the process whose threads are stopped
  const OwnThread* own = nullptr;     // null: all of them
  std::span<const Range> left_out{};  // memory that is not the process's own
};

// Ends this program some time after the limit: memory of a process can be such that reading it
// takes for ever.
class LastResort {
 public:
  explicit LastResort(const SearchLimit& limit);
  ~LastResort();
  LastResort(const LastResort&) = delete;
  LastResort& operator=(const LastResort&) = delete;

 private:
  int timer_ = -1;
};

class LeakSearch {
 public:
  // blocks: how many there may be.
  LeakSearch(const Searched& searched, size_t blocks, const SearchLimit& limit);

  // Stops the threads, which go on when this object is gone, or by resume(). Other than searched:
  // the reason why not.
  heap_log::Search stop();
  void resume() { frozen_.resume(); }
  // Whether this byte of a thread is not 0, relative to the C library's data of the thread.
  bool is_set_in_a_thread(uint64_t byte);
  // All live blocks, while the threads are stopped. False: there are more than expected.
  bool add(uint64_t address, const Block& block, const Log& log);
  heap_log::Search run();
  // The numbers of each path, and of the search.
  void write(Log& log, heap_log::Search state) const;

 private:
  struct Space {
    std::span<Frozen::Thread> threads;
    std::span<ThreadPlace> places;
    std::span<uint64_t> registers;
    std::span<std::byte> buffer;
    std::span<Vma> vmas;
    std::span<Range> ranges;
    std::span<Node> nodes;
    std::span<NodeIndex::Piece> pieces;
    bool has_all() const { return !pieces.empty(); }
  };
  static size_t bytes_for(size_t blocks, size_t vmas);
  static Space take_space(Workspace& workspace, size_t blocks, size_t vmas);

  const Searched& searched_;
  const SearchLimit& limit_;
  const LastResort last_resort_;
  const size_t vmas_;
  Workspace workspace_;
  const Space space_;
  ForeignMemory memory_;
  Frozen frozen_;
  List<Node> nodes_;
  uint64_t bytes_ = 0;
};

}  // namespace pi::heapit

#endif  // PI_HEAPIT_LEAKS_H
