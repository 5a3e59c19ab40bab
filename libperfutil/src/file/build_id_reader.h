// SPDX-License-Identifier: MIT
// The thread that reads the build-ids of the files in a trace, while the processes that lead to
// them may still run. A file system that does not answer blocks only this thread.
#ifndef PI_PERFUTIL_BUILD_ID_READER_H
#define PI_PERFUTIL_BUILD_ID_READER_H

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "build_ids.h"

namespace pi::perfutil {

// How long to wait for build-ids: for one file, since a file system may not answer, and at the end
// of a trace for all files, since a file system may delay each answer intentionally.
struct BuildIdPatience {
  std::chrono::milliseconds file{5'000};
  std::chrono::milliseconds all{60'000};
};

// Any thread.
class BuildIdReader {
 public:
  // Returns the line of a file; called in the thread.
  using Read = std::function<std::string(const WantedFile&)>;

  // max_waiting: maximum of files that wait to be read; further files get no build-id.
  explicit BuildIdReader(Read read, size_t max_waiting = 1 << 14);
  // Waits up to a second for a file that is being read, then detaches the thread.
  ~BuildIdReader();
  BuildIdReader(const BuildIdReader&) = delete;
  BuildIdReader& operator=(const BuildIdReader&) = delete;

  void want(std::vector<WantedFile> files);
  // The lines of files that were read since the last call.
  std::string take_lines();
  // The same after waiting for all files, as long as the patience allows.
  std::string wait_for_lines(BuildIdPatience patience = {});
  // Gives up the files that were not read, and returns lines that say so. Call wait_for_lines()
  // before, and want() no more after it: a thread that waits is not replaced then.
  std::string give_up();
  // A sentence about files whose build-ids are not in the trace; empty when there are none.
  std::string trouble() const;

 private:
  struct Shared;
  static void run(const std::shared_ptr<Shared>& shared, uint64_t thread);
  // Both with the lock held. The second starts another thread if the present one waits for a file
  // for longer than the patience; false if there must be no more threads.
  bool start();
  bool replace_waiting_thread(std::chrono::milliseconds patience);

  std::shared_ptr<Shared> shared_;  // shared with the thread, which may outlive this object
  std::thread thread_;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_BUILD_ID_READER_H
