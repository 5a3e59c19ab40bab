// SPDX-License-Identifier: MIT
// The thread that waits for perf rings to fill, and calls a function that drains them.
#include "perf_reader.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <array>
#include <chrono>
#include <system_error>

#include "perfutil.h"
#include "system/limits.h"

namespace pi::perfutil {

Status PerfReader::prepare() {
  epoll_ = ProcessFd(::epoll_create1(EPOLL_CLOEXEC));
  stop_event_ = ProcessFd(::eventfd(0, EFD_CLOEXEC));
  if (!epoll_ || !stop_event_)
    return Error{
        PU_ERROR_NOT_ENOUGH_MEMORY,
        "No file descriptor is left for reading the trace. Raise the limit with 'ulimit -n'."};
  watch(stop_event_.get());
  return {};
}

void PerfReader::watch(int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

Status PerfReader::start(Work drain, Work each_second) {
  try {
    thread_ = std::thread([this, drain = std::move(drain), each_second = std::move(each_second)] {
      loop(drain, each_second);
    });
  } catch (const std::system_error&) {
    return no_thread("reading the trace");
  }
  return {};
}

void PerfReader::stop() {
  if (thread_.joinable()) {
    ::eventfd_write(stop_event_.get(), 1);
    thread_.join();
  }
  epoll_.reset();
  stop_event_.reset();
}

bool PerfReader::wait() {
  // After a task has ended, its ring reports that for ever, while its children may still write to
  // it: remove it from epoll. It is still drained, as are rings that are not filled to their mark:
  // every 100 ms, because the NSpid of a new task can be read only while it lives.
  const int interval_ms = waits_ ? 10 : 100;
  std::array<epoll_event, 32> events;
  const int count =
      ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), interval_ms);
  for (int i = 0; i < count; ++i) {
    const int fd = events[static_cast<size_t>(i)].data.fd;
    if (fd == stop_event_.get()) return false;
    if ((events[static_cast<size_t>(i)].events & (EPOLLHUP | EPOLLERR)) == 0) continue;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  }
  return true;
}

void PerfReader::loop(const Work& drain, const Work& each_second) {
  using Clock = std::chrono::steady_clock;
  auto next = Clock::now() + std::chrono::seconds(1);
  while (wait()) {
    drain();
    if (Clock::now() < next) continue;
    each_second();
    next = Clock::now() + std::chrono::seconds(1);
  }
}

}  // namespace pi::perfutil
