// SPDX-License-Identifier: MIT
// PTT without the module: each thread's own perf events, and its clock for cycles.
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <memory>

#include <pi/unique_fd.h>

#include "events/event_refusal.h"
#include "events/perf_events.h"
#include "ptt_page.h"
#include "ptt_source.h"
#include "system/process_fd.h"

namespace pi::perfutil {
namespace {

struct ThreadEvent {
  ProcessFd fd;  // none: the thread's clock
  UniqueMapping page;
};

// The events of one thread; closed when the thread ends.
struct ThreadEvents {
  std::array<ThreadEvent, MAX_PTT_METRICS> event;
  size_t count = 0;
};

thread_local std::unique_ptr<ThreadEvents> my_events;

uint64_t thread_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t read_processor_counter(uint32_t index) {
  uint32_t low, high;
  asm volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
  return static_cast<uint64_t>(high) << 32 | low;
}

bool read_event(const ThreadEvent& event, uint64_t& value) {
  if (event.page) {
    const auto* page = reinterpret_cast<const volatile perf_event_mmap_page*>(event.page.data());
    if (const auto count = read_page(*page, read_processor_counter)) {
      value = *count;
      return true;
    }
  }
  // The C library's read() would be a cancellation point.
  return ::syscall(SYS_read, event.fd.get(), &value, sizeof value) == sizeof value;
}

int read_clock(uint64_t* values) {
  if (!my_events) return PU_ERROR_NOT_INITIALIZED;
  values[0] = thread_clock();
  return PU_SUCCESS;
}

int read_all(uint64_t* values) {
  if (!my_events) return PU_ERROR_NOT_INITIALIZED;
  for (size_t i = 0; i < my_events->count; ++i) {
    const ThreadEvent& event = my_events->event[i];
    if (!event.fd)
      values[i] = thread_clock();
    else if (!read_event(event, values[i]))
      return PU_FAILURE;
  }
  return PU_SUCCESS;
}

// Pinned: the event counts all the time, or reading it fails.
perf_event_attr thread_attr(const TickEvent& event) {
  perf_event_attr attr = event_attr(event);
  attr.pinned = 1;
  attr.exclude_hv = 1;
  return attr;
}

Result<ThreadEvent> open_thread_event(const PttMetric& metric) {
  ThreadEvent opened;
  const int fd = open_perf_event(thread_attr(metric.event), 0, -1);
  if (fd < 0) return refused_event(-fd, metric.name);
  opened.fd = ProcessFd(fd);
  const auto bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  opened.page = UniqueMapping(::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0), bytes);
  return opened;
}

Result<std::unique_ptr<ThreadEvents>> open_thread_events(const PttMetrics& metrics) {
  auto events = std::make_unique<ThreadEvents>();
  for (const auto& metric : metrics) {
    if (!metric.is_cycles()) {
      auto opened = open_thread_event(metric);
      if (!opened) return opened.error();
      events->event[events->count] = std::move(*opened);
    }
    ++events->count;
  }
  return events;
}

bool is_page_readable(const ThreadEvent& event) {
  const auto* page = reinterpret_cast<const volatile perf_event_mmap_page*>(event.page.data());
  return event.page && page->cap_user_rdpmc && page->index != 0;
}

class PerfPtt final : public PttSource {
 public:
  PerfPtt(PttMetrics metrics, int read_method)
      : metrics_(std::move(metrics)), read_method_(read_method) {}
  ~PerfPtt() override { my_events.reset(); }

  int kind() const override { return PI_PTT_SOURCE_PERF; }
  int read_method() const override { return read_method_; }
  pi_ptt_reader reader() const override {
    return metrics_.size() == 1 && metrics_.front().is_cycles() ? read_clock : read_all;
  }
  const char* cannot_separate() const override {
    return "interrupts: their cost is charged to the interrupted thread";
  }
  const char* unit(const PttMetric& metric) const override {
    return metric.is_cycles() ? "nanoseconds" : "events";
  }

  Status attach() override {
    if (my_events) return {};
    auto events = open_thread_events(metrics_);
    if (!events) return events.error();
    my_events = std::move(*events);
    return {};
  }
  void detach() override { my_events.reset(); }

  Status read(ptt_thread_data_ex& data) override {
    const int rc = read_all(data.Metrics);
    if (rc == PU_ERROR_NOT_INITIALIZED)
      return Error{rc, "PTT does not count this thread; call PttInitThread first."};
    if (rc != PU_SUCCESS)
      return Error{rc, "A counter of this thread was taken away by one that has precedence."};
    return {};
  }

 private:
  PttMetrics metrics_;
  int read_method_;
};

}  // namespace

Result<std::unique_ptr<PttSource>> open_perf_ptt(const PttMetrics& metrics) {
  // Open the events of this thread to find out whether they can be opened.
  const auto trial = open_thread_events(metrics);
  if (!trial) return trial.error();
  int method = PI_PTT_READ_PAGE;
  for (size_t i = 0; i < metrics.size(); ++i) {
    if (metrics[i].is_cycles())
      method = std::max(method, PI_PTT_READ_CLOCK);
    else if (!is_page_readable((*trial)->event[i]))
      method = method == PI_PTT_READ_CLOCK ? method : PI_PTT_READ_CALL;
  }
  if (metrics.size() > 1 && method == PI_PTT_READ_CLOCK) method = PI_PTT_READ_CALL;
  return std::unique_ptr<PttSource>(new PerfPtt(metrics, method));
}

void forget_perf_thread() {
  my_events.reset();
}

}  // namespace pi::perfutil
