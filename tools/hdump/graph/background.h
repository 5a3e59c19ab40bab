// SPDX-License-Identifier: MIT
// A second thread that does tasks one after the other, while the first goes on.
#ifndef HDUMP_GRAPH_BACKGROUND_H
#define HDUMP_GRAPH_BACKGROUND_H

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace hdump {

// All functions are for one thread. The second thread begins with the first task; where the system
// has none, add() does the tasks. What a task throws, the next wait() throws.
class Background {
 public:
  Background() = default;
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      end_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  // Waits while `most_waiting` tasks have not begun. What a task refers to must outlive it.
  void add(std::function<void()> task) {
    if (!thread_.joinable() && !start()) return task();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return tasks_.size() < most_waiting; });
    tasks_.push_back(std::move(task));
    changed_.notify_all();
  }
  // Waits until all tasks are done; what they wrote can be read then.
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return tasks_.empty() && !busy_; });
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  }

 private:
  static constexpr size_t most_waiting = 2;

  bool start() {
    try {
      thread_ = std::thread([this] { run(); });
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return end_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      busy_ = true;
      lock.unlock();
      changed_.notify_all();
      std::exception_ptr thrown;
      try {
        task();
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
      busy_ = false;
      if (thrown) thrown_ = thrown;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool busy_ = false;
  bool end_ = false;
  std::exception_ptr thrown_;
  std::thread thread_;
};

}  // namespace hdump

#endif  // HDUMP_GRAPH_BACKGROUND_H
