// SPDX-License-Identifier: MIT
// The thread that reads the build-ids of files that a trace mentions, while their processes may
// still be there to lead to them: a file system that does not answer stops only this thread.
#ifndef PI_PERFUTIL_BUILD_ID_READER_H
#define PI_PERFUTIL_BUILD_ID_READER_H

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "build_ids.h"

namespace pi::perfutil {

// How long the end of a trace waits for a file system that does not answer.
constexpr std::chrono::seconds build_id_patience{5};

// Any thread.
class BuildIdReader {
 public:
  // A file's line; runs in the thread.
  using Read = std::function<std::string(const WantedFile&)>;

  // max_waiting: files that wait to be read; of more the build-ids are left out.
  explicit BuildIdReader(Read read, size_t max_waiting = 1 << 14);
  // Waits a moment for a file that is being read, and then leaves the thread to itself.
  ~BuildIdReader();
  BuildIdReader(const BuildIdReader&) = delete;
  BuildIdReader& operator=(const BuildIdReader&) = delete;

  void want(std::vector<WantedFile> files);
  // The lines of files that were read since the last call.
  std::string take_lines();
  // The same after waiting for all that are wanted, but not for longer than limit.
  std::string wait_for_lines(std::chrono::milliseconds limit);
  // What the thread has not read is given up: lines that say so. Call wait_for_lines() before.
  std::string give_up();
  // One sentence on files whose build-ids are not in the trace; empty when there are none.
  std::string trouble() const;

 private:
  struct Shared;
  static void run(const std::shared_ptr<Shared>& shared);
  bool start();  // with the lock held

  std::shared_ptr<Shared> shared_;  // with the thread, which may outlive this
  std::thread thread_;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_BUILD_ID_READER_H
