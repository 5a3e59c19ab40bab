// SPDX-License-Identifier: MIT
// Accepts processes that write user hooks and gives each an area of rings; drains the rings of
// processes that disconnect.
#ifndef PI_PERFUTIL_HOOK_SERVER_H
#define PI_PERFUTIL_HOOK_SERVER_H

#include <atomic>
#include <bitset>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <pi/result.h>
#include <pi/unique_fd.h>

#include "hook_area.h"
#include "system/process_fd.h"

namespace pi::perfutil {

// A thread of its own serves the socket from start() to the destructor. The other functions may be
// called from any thread, also by alert.
class HookServer {
 public:
  // path: of the socket. ring_bytes: size of each thread's ring, see hook_ring_bytes_good().
  // alert: called in the server's thread when there is something to collect.
  static Result<std::unique_ptr<HookServer>> start(const std::string& path, uint32_t ring_bytes,
                                                   std::function<void()> alert);
  ~HookServer();

  // The majors that are stored from now on.
  void publish(const std::bitset<256>& majors, uint32_t interval_id);
  // A trace begins: hooks older than start are ignored. Call it before publish().
  void begin(uint64_t start);
  // Adds the hooks written since the last call. cpus: upper limit of CPU numbers.
  void collect(uint32_t cpus, HookBatch& batch);
  // As collect(), after publish() without majors: waits for threads that are writing a hook, for a
  // limited time.
  void settle(uint32_t cpus, HookBatch& batch);
  // The trace has ended, after settle(): counts unfinished hooks as lost.
  void end(HookBatch& batch);

  // Processes that were refused since begin(), for lack of memory or descriptors.
  uint32_t refused() const { return refused_; }

 private:
  struct Client {
    ProcessFd connection;
    HookArea area;
    bool gone = false;
  };

  HookServer(std::string path, uint32_t ring_bytes, std::function<void()> alert)
      : path_(std::move(path)), ring_bytes_(ring_bytes), alert_(std::move(alert)) {}
  Status open();
  Status make_control();
  void run();
  void accept_writer();
  bool admit(ProcessFd connection);
  void listen_to(int fd);
  // With mutex_ held:
  void collect_locked(uint32_t cpus, HookBatch& batch);
  void drop_gone(HookBatch& batch);
  void wait_until_quiet();

  const std::string path_;
  const uint32_t ring_bytes_;
  const std::function<void()> alert_;
  ProcessFd lock_, listener_, stop_, epoll_, control_fd_;
  UniqueMapping control_;
  std::mutex mutex_;               // guards the members below
  std::map<int, Client> clients_;  // by connection
  uint64_t clients_ever_ = 0;
  uint64_t start_ = 0;
  bool recording_ = false;
  std::atomic<uint32_t> refused_{0};
  std::thread thread_;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_HOOK_SERVER_H
