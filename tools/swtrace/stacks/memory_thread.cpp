// SPDX-License-Identifier: MIT
// Runs reads of other processes' memory, which their owners can make wait for ever.
#include "memory_thread.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

namespace pi::swtrace {
namespace {

constexpr size_t max_jobs = 1 << 14;
constexpr unsigned max_kept = 4;

}  // namespace

struct MemoryThread::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Job> jobs;
  std::optional<Clock::time_point> begun;  // of the job that runs
  bool stop = false;
  std::shared_ptr<std::atomic<unsigned>> kept;  // not null: this thread is one of these

  // A job that hung has ended at last.
  void end() const {
    if (kept) --*kept;
  }

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return stop || !jobs.empty(); });
      if (stop) return end();
      {
        const Job job = std::move(jobs.front());
        jobs.pop_front();
        begun = Clock::now();
        lock.unlock();
        try {
          job();
        } catch (const std::bad_alloc&) {
          // It is waited for in vain, for a limited time.
        }
      }
      lock.lock();
      begun.reset();
    }
  }
};

bool MemoryThread::start() {
  if (shared_) return true;
  if (*kept_ >= max_kept) return false;
  shared_ = std::make_shared<Shared>();
  try {
    thread_ = std::thread([shared = shared_] { shared->run(); });
  } catch (const std::system_error&) {
    shared_.reset();
  }
  return shared_ != nullptr;
}

void MemoryThread::leave() {
  if (!shared_) return;
  bool is_busy = false;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stop = true;
    is_busy = shared_->begun.has_value();
    shared_->changed.notify_all();
  }
  is_busy ? thread_.detach() : thread_.join();
  shared_.reset();
}

void MemoryThread::check() {
  if (!shared_) return;
  std::deque<Job> rest;
  {
    const std::lock_guard lock(shared_->mutex);
    if (!shared_->begun || Clock::now() - *shared_->begun < patience_) return;
    rest = std::move(shared_->jobs);
    shared_->kept = kept_;
    ++*kept_;
  }
  leave();
  ++hanging_;
  for (Job& job : rest)
    if (!add(std::move(job))) return;
}

bool MemoryThread::add(Job job) {
  check();
  if (!start()) return false;
  const std::lock_guard lock(shared_->mutex);
  if (shared_->jobs.size() == max_jobs) return false;
  shared_->jobs.push_back(std::move(job));
  shared_->changed.notify_one();
  return true;
}

}  // namespace pi::swtrace
