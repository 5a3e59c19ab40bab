// SPDX-License-Identifier: MIT
// One process a CPU, pinned to it, that writes numbered user hooks and logs what became of each.
#ifndef PI_TESTS_SCHEDULE_WRITERS_H
#define PI_TESTS_SCHEDULE_WRITERS_H

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "writer_log.h"

namespace schedule {

class Writers {
 public:
  // Starts them, held. Throws std::runtime_error.
  explicit Writers(unsigned count);
  ~Writers();
  Writers(const Writers&) = delete;
  Writers& operator=(const Writers&) = delete;

  unsigned count() const { return count_; }
  const WriterLog& log(unsigned writer) const;

  // Returns when the writer is in the middle of nothing; it stays so until release().
  void hold(unsigned writer);
  void release(unsigned writer);
  // What the records made from now on are logged as. Every call is a change of its own.
  void set_recording(Recording recording);
  // Records one after the other, and the pause between two such bursts.
  void set_pace(uint32_t burst, uint32_t pause_us);
  // Throws std::runtime_error when one of them failed.
  void check() const;

 private:
  struct Shared;
  [[noreturn]] static void write(Shared& shared, unsigned writer);

  unsigned count_;
  Shared* shared_;
  std::vector<pid_t> pids_;
};

}  // namespace schedule

#endif  // PI_TESTS_SCHEDULE_WRITERS_H
