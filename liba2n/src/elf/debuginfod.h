// SPDX-License-Identifier: MIT
// Gets separate debug files from debuginfod servers, with elfutils' client, which has a cache.
#ifndef A2N_DEBUGINFOD_H
#define A2N_DEBUGINFOD_H

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "a2n_context.h"
#include "base/budgets.h"
#include "base/notes.h"
#include "elf_file.h"

namespace a2n {

// Off until use() is called. Sends requests only if DEBUGINFOD_URLS names servers; only then the
// client's library is loaded. After a failure of the servers, or when their time is over, it sends
// no more requests. The time limits: DEBUGINFOD_TIMEOUT and DEBUGINFOD_MAXTIME replace that for
// silence, DEBUGINFOD_MAXTIME that for a file, and that for all files if it is longer.
class Debuginfod {
 public:
  explicit Debuginfod(Notes& notes, const budgets::ServerTimes& times = {});
  ~Debuginfod();
  Debuginfod(const Debuginfod&) = delete;
  Debuginfod& operator=(const Debuginfod&) = delete;

  // progress may be null.
  void use(a2n_progress progress, void* data);

  // Returns the debug file with this build-id (lower-case hex) of the module at path; nothing when
  // there is none. A file from a server is untrusted, as any file is.
  std::optional<ElfFile> find(const std::string& build_id, const std::string& path);

  // Called by the client while it waits; returns whether the transfer may continue.
  bool may_go_on(uint64_t done, uint64_t total);

 private:
  class Client;

  using Clock = std::chrono::steady_clock;
  enum class Cancelled { no, too_large, silent, file_too_slow, all_too_slow };

  bool start();
  void take_users_limits();
  Cancelled why_cancel(uint64_t bytes, Clock::time_point now) const;
  void report_failure(const std::string& path, int error);
  void give_up(const std::string& reason);

  Notes& notes_;
  budgets::ServerTimes times_;
  Clock::duration used_{0};  // by earlier transfers
  bool on_ = false;
  a2n_progress progress_ = nullptr;
  void* progress_data_ = nullptr;
  std::unique_ptr<Client> client_;

  // The current transfer:
  const char* path_ = nullptr;
  uint64_t done_ = 0;
  Clock::time_point began_;
  Clock::time_point moved_;  // when the last bytes arrived
  bool shown_ = false;
  Cancelled cancelled_ = Cancelled::no;
};

}  // namespace a2n

#endif  // A2N_DEBUGINFOD_H
