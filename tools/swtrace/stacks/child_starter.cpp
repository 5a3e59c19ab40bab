// SPDX-License-Identifier: MIT
// Starts child processes without copying this process's descriptors.
#include "child_starter.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <future>
#include <limits>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace pi::swtrace {
namespace {

// What to start; socket is a number in the descriptor table of the caller's threads.
struct Order {
  const char* program;
  const char* word;
  int socket;
};

Error failed(int error) {
  return {error, std::strerror(error)};
}

// socket: a number in the descriptor table of the calling thread.
Result<pid_t> spawn(const Order& order, int socket) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
  std::string name = "swtrace", word = order.word;
  char* const words[] = {name.data(), word.data(), nullptr};
  char* const environment[] = {nullptr};
  pid_t child = 0;
  const int error = ::posix_spawn(&child, order.program, &actions, &attributes, words, environment);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return failed(error);
  return child;
}

// The socket is taken from the table of the process's first thread.
Result<pid_t> start_one(const Order& order) {
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  if (!process) return failed(errno);
  const UniqueFd socket(
      static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), order.socket, 0)));
  if (!socket) return failed(errno);
  return spawn(order, socket.get());
}

// A thread whose own descriptor table is empty except while it starts a child.
class Starter {
 public:
  // Null if there can be no such thread.
  static Starter* get() {
    static Starter* const starter = new Starter;
    const std::lock_guard lock(starter->mutex_);
    if (starter->is_running_) return starter;
    try {
      std::thread([] { starter->run(); }).detach();
    } catch (const std::system_error&) {
      return nullptr;
    }
    starter->is_running_ = true;
    return starter;
  }

  Result<pid_t> start(const Order& order) {
    Task task([order] { return start_one(order); });
    auto child = task.get_future();
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    added_.notify_one();
    return child.get();
  }

 private:
  using Task = std::packaged_task<Result<pid_t>()>;

  [[noreturn]] void run() {
    ::pthread_setname_np(::pthread_self(), starter_name);
    // What is in the range up to the last descriptor is not copied, and so not closed either.
    ::syscall(SYS_close_range, 0, std::numeric_limits<unsigned>::max(), CLOSE_RANGE_UNSHARE);
    for (std::unique_lock lock(mutex_);;) {
      added_.wait(lock, [this] { return !tasks_.empty(); });
      Task task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable added_;
  bool is_running_ = false;
  std::deque<Task> tasks_;
};

}  // namespace

Result<pid_t> start_child(const char* program, const char* word, const UniqueFd& socket) {
  Starter* const starter = Starter::get();
  if (!starter) return failed(EAGAIN);
  const Order order{program, word, socket.get()};
  auto child = starter->start(order);
  // Containers can forbid pidfd_getfd(): then this thread starts it, with copies of its
  // descriptors.
  if (!child && (child.error().code == EPERM || child.error().code == ENOSYS))
    return spawn(order, order.socket);
  return child;
}

}  // namespace pi::swtrace
