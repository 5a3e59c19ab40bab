// SPDX-License-Identifier: MIT
// One process for each CPU, pinned to it, that writes numbered user hooks and logs the result of
// each.
#ifndef PI_TESTS_SCHEDULE_WRITERS_H
#define PI_TESTS_SCHEDULE_WRITERS_H

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "writer_log.h"

namespace schedule {

class Writers {
 public:
  // Starts the writers, held. Throws std::runtime_error.
  explicit Writers(unsigned count);
  ~Writers();
  Writers(const Writers&) = delete;
  Writers& operator=(const Writers&) = delete;

  unsigned count() const { return count_; }
  const WriterLog& log(unsigned writer) const;

  // Returns when the writer is between two records; it stays there until release().
  void hold(unsigned writer);
  void release(unsigned writer);
  // Sets the Recording value that is logged for records from now on. Every call counts as a change.
  void set_recording(Recording recording);
  // Sets the number of records in a burst, and the pause between bursts.
  void set_pace(uint32_t burst, uint32_t pause_us);
  // Throws std::runtime_error if a writer failed.
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
