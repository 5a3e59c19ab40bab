// SPDX-License-Identifier: MIT
// The thread that traces by ptrace, as its users see it: no call waits for it without limit.
#include "ptrace_tracer.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "perfutil.h"
#include "system/limits.h"

namespace pi::perfutil {
namespace {

// Together less than five seconds, for a call that attaches in vain and then stops. stop_limit is
// longer than the time in which threads are detached.
constexpr std::chrono::milliseconds answer_limit(2000);
constexpr std::chrono::milliseconds stop_limit(2400);

// The kernel reads the instructions and the stack of a followed thread on the tracing thread's
// behalf. That lasts as long as the file system likes whose file is mapped there.
Error no_answer() {
  return {PU_ERROR_FACILITY_BUSY,
          "The thread that traces does not answer: it waits for the memory of a followed process. "
          "It ends with the recorder ('swtrace free'); SIGTRAP may then end followed processes."};
}

Error not_detached(const std::vector<LeftThread>& left) {
  const auto in_danger = std::count_if(left.begin(), left.end(),
                                       [](const LeftThread& each) { return each.has_trap_flag; });
  const FlowThread& first = left.front().id;
  return {
      PU_ERROR_FACILITY_BUSY,
      fmt::format("ITrace is off. {} followed thread{} (thread {} of process {}{}) did not stop "
                  "within two seconds, as a thread that waits in vfork() for example, and {} "
                  "detached without that.{}",
                  left.size(), left.size() == 1 ? "" : "s", first.tid, first.pid,
                  left.size() == 1 ? "" : ", and others", left.size() == 1 ? "was" : "were",
                  in_danger == 0 ? std::string()
                                 : fmt::format(" {} of them waited for memory: SIGTRAP may end "
                                               "the process when the memory is there.",
                                               in_danger))};
}

}  // namespace

// Outlives the tracer if the thread waits in the kernel when the tracer stops.
struct PtraceTracer::Shared {
  Shared(FlowWriter::Put put_record, uint32_t flags, std::shared_ptr<PtraceCounts> all_counts)
      : put(std::move(put_record)),
        counts(std::move(all_counts)),
        follower([this](uint64_t time, std::span<const std::byte> record) { pass(time, record); },
                 flags, *counts) {}

  void run();
  void take_request();
  void pass(uint64_t time, std::span<const std::byte> record) {
    const std::lock_guard lock(put_mutex);
    if (put) put(time, record);
  }

  std::atomic<bool> stopping = false;
  std::mutex put_mutex;
  FlowWriter::Put put;  // empty when the tracer has gone
  std::shared_ptr<PtraceCounts> counts;
  PtraceFollower follower;  // used by the tracing thread only
  std::mutex mutex;         // guards the members below
  std::condition_variable done;
  std::optional<uint32_t> request;  // the process to attach, until it is answered
  std::atomic<bool> has_request = false;
  Status answer;
  bool ended = false;
  std::vector<LeftThread> left;
};

void PtraceTracer::Shared::run() {
  try {
    while (!stopping) {
      if (has_request) take_request();
      follower.follow();
    }
  } catch (const std::bad_alloc&) {
    // Ends the recording and detaches the threads.
  }
  auto undetached = follower.detach_all();
  const std::lock_guard lock(mutex);
  left = std::move(undetached);
  ended = true;
  done.notify_all();
}

void PtraceTracer::Shared::take_request() {
  std::unique_lock lock(mutex);
  const uint32_t pid = *request;
  has_request = false;
  lock.unlock();
  Status attached = follower.attach(pid);
  lock.lock();
  answer = std::move(attached);
  request.reset();
  done.notify_all();
}

PtraceTracer::PtraceTracer(FlowWriter::Put put, uint32_t flags,
                           std::shared_ptr<PtraceCounts> counts)
    : shared_(std::make_shared<Shared>(std::move(put), flags, std::move(counts))) {}

void PtraceTracer::ask_to_stop() {
  shared_->stopping.store(true, std::memory_order_relaxed);
}

bool PtraceTracer::is_stopping() const {
  return shared_->stopping.load(std::memory_order_relaxed);
}

Status PtraceTracer::attach(uint32_t pid) {
  const auto end = std::chrono::steady_clock::now() + answer_limit;
  std::unique_lock lock(shared_->mutex);
  if (!runner_.joinable()) {
    try {
      runner_ = std::thread([shared = shared_] { shared->run(); });
    } catch (const std::system_error&) {
      return no_thread("tracing");
    }
  }
  // A request that was not answered in time may still be there.
  const auto is_free = [this] { return !shared_->request || shared_->ended; };
  if (!shared_->done.wait_until(lock, end, is_free)) return no_answer();
  if (!shared_->ended) {
    shared_->request = pid;
    shared_->has_request = true;
    if (!shared_->done.wait_until(lock, end, is_free)) return no_answer();
    if (!shared_->request) return shared_->answer;
  }
  return Error{PU_ERROR_INCORRECT_STATE,
               "ITrace has ended by itself: the trace buffer is full, or there is no memory."};
}

Status PtraceTracer::stop() {
  ask_to_stop();
  if (!runner_.joinable()) return {};
  std::unique_lock lock(shared_->mutex);
  if (!shared_->done.wait_for(lock, stop_limit, [this] { return shared_->ended; })) {
    lock.unlock();
    const std::lock_guard put_lock(shared_->put_mutex);
    shared_->put = nullptr;
    runner_.detach();
    return no_answer();
  }
  lock.unlock();
  // The end of the thread detaches what is left.
  runner_.join();
  if (!shared_->left.empty()) return not_detached(shared_->left);
  return {};
}

}  // namespace pi::perfutil
