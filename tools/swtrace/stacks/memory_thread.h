// SPDX-License-Identifier: MIT
// Runs reads of other processes' memory, which their owners can make wait for ever.
#ifndef SWTRACE_MEMORY_THREAD_H
#define SWTRACE_MEMORY_THREAD_H

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

namespace pi::swtrace {

// Used by one thread; the jobs run in another, one after the other. One that does not end keeps its
// thread, and the later jobs get a new one, as long as few threads are kept so.
class MemoryThread {
 public:
  using Job = std::function<void()>;
  using Clock = std::chrono::steady_clock;

  explicit MemoryThread(Clock::duration patience = std::chrono::seconds(1)) : patience_(patience) {}
  ~MemoryThread() { leave(); }
  MemoryThread(const MemoryThread&) = delete;
  MemoryThread& operator=(const MemoryThread&) = delete;

  // False: it will not run. A job must not refer to anything that may end before it.
  bool add(Job job);
  // To be called while jobs are waited for.
  void check();
  // How many jobs have not ended in time so far.
  unsigned hanging() const { return hanging_; }

 private:
  struct Shared;

  bool start();
  // Ends the thread after its job.
  void leave();

  const Clock::duration patience_;
  std::shared_ptr<Shared> shared_;
  std::thread thread_;
  unsigned hanging_ = 0;
  std::shared_ptr<std::atomic<unsigned>> kept_ = std::make_shared<std::atomic<unsigned>>(0);
};

}  // namespace pi::swtrace

#endif  // SWTRACE_MEMORY_THREAD_H
