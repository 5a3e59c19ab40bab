// SPDX-License-Identifier: MIT
// The memory of one process, which jobs of a MemoryThread read.
#ifndef SWTRACE_PROCESS_MEMORY_H
#define SWTRACE_PROCESS_MEMORY_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <pi/unique_fd.h>

#include "memory_thread.h"

namespace pi::swtrace {

class ProcessMemory {
 public:
  explicit ProcessMemory(std::string path) : path_(std::move(path)) {}

  // Adds work(owner, may_read) as a job; the owner keeps this alive. may_read is false, and stays
  // so, when an earlier job of this process hangs: each would cost another thread. False: the job
  // will not run.
  template <class Owner, class Work>
  bool add(MemoryThread& thread, std::shared_ptr<Owner> owner, Work work) {
    return thread.add([this, owner = std::move(owner), work = std::move(work)] {
      if (is_busy_.exchange(true)) {
        hangs_ = true;
        work(*owner, false);
        return;
      }
      const struct Busy {
        std::atomic<bool>& is;
        ~Busy() { is = false; }
      } busy{is_busy_};
      work(*owner, true);
    });
  }
  bool hangs() const { return hangs_; }

  // In a job. How many bytes were read, from the first on.
  size_t read(uint64_t address, std::span<std::byte> bytes);

 private:
  const std::string path_;
  std::atomic<bool> is_busy_ = false, hangs_ = false;
  UniqueFd memory_;  // of the jobs, as is:
  bool is_opened_ = false;
};

}  // namespace pi::swtrace

#endif  // SWTRACE_PROCESS_MEMORY_H
