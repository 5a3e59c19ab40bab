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
#include "base/notes.h"
#include "elf_file.h"

namespace a2n {

// Off until use() is called. Sends requests only if DEBUGINFOD_URLS names servers; only then the
// client's library is loaded. After a failure of the servers it sends no more requests.
class Debuginfod {
 public:
  explicit Debuginfod(Notes& notes);
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

  bool start();
  void give_up(const std::string& reason);

  Notes& notes_;
  bool on_ = false;
  a2n_progress progress_ = nullptr;
  void* progress_data_ = nullptr;
  std::unique_ptr<Client> client_;

  // The current transfer:
  const char* path_ = nullptr;
  uint64_t done_ = 0;
  std::chrono::steady_clock::time_point moved_;  // when the last bytes arrived
  bool shown_ = false;
  bool too_large_ = false;
  bool stalled_ = false;
};

}  // namespace a2n

#endif  // A2N_DEBUGINFOD_H
