// SPDX-License-Identifier: MIT
// The memory from which a process reaches its blocks: what it has written outside of them, except
// what is known to be out of use.
#ifndef PI_HEAPIT_ROOTS_H
#define PI_HEAPIT_ROOTS_H

#include <cstddef>
#include <cstdint>
#include <span>

#include "foreign_memory.h"
#include "frozen.h"
#include "maps.h"
#include "reach.h"
#include "workspace.h"

namespace pi::heapit {

// A mapping of the process.
struct Vma {
  uint64_t begin, end;
  bool readable, shared, main_stack;
  bool of_others;  // a device's, the kernel's, or written by other processes only
};

class Roots {
 public:
  struct Process {
    const char* maps;  // in /proc
    const char* stat;
    // Only live blocks are looked at in memory of glibc's allocator: all of them are known.
    bool without_freed;
  };

  // Twice as many ranges as mappings are needed, and one for each that is given.
  Roots(std::span<Vma> vmas, std::span<Range> ranges, ForeignMemory& memory)
      : vmas_(vmas), ranges_(ranges), memory_(memory) {}

  // How many mappings there are.
  static size_t count(const char* maps);

  // Memory that is left out.
  bool leave_out(const Range& range) { return range.begin >= range.end || ranges_.push(range); }
  // The threads are stopped. Other than searched: the reason why it is not known.
  heap_log::Search find(const Process& process, std::span<const ThreadPlace> threads);
  void look_at(Reach& reach);

 private:
  bool read(const char* maps);
  const Vma* vma_with(uint64_t address) const;
  const Vma* guard_of(const Vma& vma) const;
  bool leave_out_heap(const char* stat);
  bool leave_out_arenas(const Vma& vma);
  uint64_t end_of_arena(uint64_t address);
  bool leave_out_stack(const ThreadPlace& thread, std::span<const ThreadPlace> threads);
  bool leave_out_old_stack(const Vma& vma, std::span<const ThreadPlace> threads);

  List<Vma> vmas_;  // by address
  List<Range> ranges_;
  ForeignMemory& memory_;
};

}  // namespace pi::heapit

#endif  // PI_HEAPIT_ROOTS_H
