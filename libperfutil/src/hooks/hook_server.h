// SPDX-License-Identifier: MIT
// The recorder's door for processes that write user hooks: who comes gets rings, who goes is read
// to the end.
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
// called from any thread, from alert as well.
class HookServer {
 public:
  // path: of the socket. ring_bytes: of each thread's ring, as hook_ring_bytes_good() wants.
  // alert: called in the server's thread when there is something to collect.
  static Result<std::unique_ptr<HookServer>> start(const std::string& path, uint32_t ring_bytes,
                                                   std::function<void()> alert);
  ~HookServer();

  // The majors that are stored from now on.
  void publish(const std::bitset<256>& majors, uint32_t interval_id);
  // A trace begins: what was written before start is of no interest. Before publish().
  void begin(uint64_t start);
  // What was written since. cpus: their numbers are below this.
  void collect(uint32_t cpus, HookBatch& batch);
  // As collect(), after publish() of nothing: waits for those that are in the middle of a hook, but
  // not for ever.
  void settle(uint32_t cpus, HookBatch& batch);
  // The trace has ended, after settle(): who is in the middle of a hook now has lost it.
  void end(HookBatch& batch);

  // Processes that could not be served since begin(), for lack of memory or descriptors.
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
  std::mutex mutex_;               // what stands below
  std::map<int, Client> clients_;  // by connection
  uint64_t clients_ever_ = 0;
  uint64_t start_ = 0;
  bool recording_ = false;
  std::atomic<uint32_t> refused_{0};
  std::thread thread_;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_HOOK_SERVER_H
