// SPDX-License-Identifier: MIT
// Memory of a process, this one or another, which need not be there.
#ifndef PI_HEAPIT_FOREIGN_MEMORY_H
#define PI_HEAPIT_FOREIGN_MEMORY_H

#include <setjmp.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "system.h"

namespace pi::heapit {

inline constexpr uint64_t page_bytes = 4096;

class ForeignMemory {
 public:
  // pagemap: that of the process in /proc.
  ForeignMemory(pid_t pid, const char* pagemap);

  bool is_open() const { return bool(pagemap_); }

  // The memory is that of this process, which has no other thread: it is read without copying.
  // Sets the process's handlers of faults.
  void read_directly();
  // Calls look(), which reads memory of this process. False: it must be copied, or is not there.
  template <class Look>
  bool look_directly(Look&& look) const {
    if (!is_direct_ || sigsetjmp(at_fault, 0) != 0) return false;
    look();
    return true;
  }

  // How many bytes could be read.
  size_t read(uint64_t address, std::span<std::byte> to) const;
  size_t read(std::span<const iovec> to, std::span<const iovec> from) const;
  bool read_word(uint64_t address, uint64_t& word) const {
    return read(address, std::as_writable_bytes(std::span(&word, 1))) == sizeof word;
  }

  // Which pages are looked at: written by the process; or all that it has in memory or on swap.
  enum class Pages : uint8_t { written, present };
  // Calls take(begin, end) for the runs of such pages, until it or go_on() returns false. Pages
  // that the process has never touched are not made. False: the kernel does not say which there
  // are.
  template <class Take, class GoOn>
  bool for_each_run(uint64_t begin, uint64_t end, Pages pages, Take&& take, GoOn&& go_on) {
    uint64_t run = 0;
    for (uint64_t page = begin / page_bytes; page * page_bytes < end && go_on();) {
      const uint64_t count = load(page, (end + page_bytes - 1) / page_bytes - page);
      if (count == 0) return false;
      for (uint64_t i = 0; i < count; ++i, ++page) {
        const uint64_t at = page * page_bytes;
        if (is_wanted(states_[i], pages)) {
          if (run == 0) run = at > begin ? at : begin;
        } else if (run != 0) {
          if (!take(run, at)) return true;
          run = 0;
        }
      }
    }
    if (run != 0) take(run, end);
    return true;
  }

 private:
  static inline sigjmp_buf at_fault;
  bool is_direct_ = false;

  uint64_t load(uint64_t first, uint64_t wanted);
  static bool is_wanted(uint64_t state, Pages pages);

  const pid_t pid_;
  const Descriptor pagemap_;
  std::array<uint64_t, 512> states_{};
};

}  // namespace pi::heapit

#endif  // PI_HEAPIT_FOREIGN_MEMORY_H
