// SPDX-License-Identifier: MIT
// libperfutil for C++: PTT (per-thread counters) of regions of a program.
#ifndef PERFUTIL_PTT_HPP
#define PERFUTIL_PTT_HPP

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <perfutil/result.hpp>
#include <perfutil/trace.hpp>
#include <perfutil_ptt.h>

namespace pitrace {

// PTT of this process, until it is destroyed: PttInit(), PttTerminate(). One at a time. Threads are
// counted by a PttThread each. Thread-safety as TraceSession.
class Ptt {
 public:
  // metrics: PTT_METRIC_*, PI_PTT_METRIC_* or event numbers, in the order of all values.
  static Result<Ptt> create(std::span<const int> metrics, Privilege where = Privilege::both) {
    return begun(PttInit(count_of(metrics.size()), metrics.data(), static_cast<int>(where)),
                 metrics.size());
  }

  // The same by name, as PiPttInit(): Ptt::create({"CYCLES", "page-faults"}).
  static Result<Ptt> create(const std::vector<std::string>& names,
                            Privilege where = Privilege::both) {
    std::vector<const char*> all;
    for (const auto& name : names) all.push_back(name.c_str());
    return begun(PiPttInit(count_of(all.size()), all.data(), static_cast<int>(where), nullptr),
                 names.size());
  }

  Ptt(Ptt&& other) noexcept : metrics_(std::exchange(other.metrics_, 0)) {}
  Ptt& operator=(Ptt&& other) noexcept {
    if (this == &other) return *this;
    end();
    metrics_ = std::exchange(other.metrics_, 0);
    return *this;
  }
  ~Ptt() { end(); }

  // How many were asked for; 0 of one that was moved from.
  std::size_t metrics() const noexcept { return metrics_; }

  // Source, units, and what cannot be separated from the thread: PttGetState().
  Result<pi_ptt_state> state() const {
    pi_ptt_state state{};
    state.size = sizeof state;
    if (const int rc = PttGetState(&state); rc != PU_SUCCESS) return Error::last(rc);
    return state;
  }

 private:
  explicit Ptt(std::size_t metrics) noexcept : metrics_(metrics) {}

  // The library refuses counts above MAX_PTT_METRICS.
  static int count_of(std::size_t size) noexcept {
    return static_cast<int>(std::min<std::size_t>(size, INT_MAX));
  }

  static Result<Ptt> begun(int rc, std::size_t metrics) {
    if (rc != PU_SUCCESS) return Error::last(rc);
    return Result<Ptt>(Ptt(metrics));
  }

  void end() noexcept {
    if (std::exchange(metrics_, 0) != 0) (void)PttTerminate();
  }

  std::size_t metrics_;
};

// The calling thread is counted, from create() until it is destroyed; both in this thread, and
// while the Ptt exists. One at a time in a thread: destroying one ends the counting of the thread.
class PttThread {
 public:
  // Errors as PttInitThread().
  static Result<PttThread> create() {
    if (const int rc = PttInitThread(0); rc != PU_SUCCESS) return Error::last(rc);
    return Result<PttThread>(PttThread(PttReturnGetCurrentThreadDataFunctionPtr()));
  }

  PttThread(PttThread&& other) noexcept : reader_(std::exchange(other.reader_, nullptr)) {}
  PttThread& operator=(PttThread&& other) noexcept {
    if (this == &other) return *this;
    end();
    reader_ = std::exchange(other.reader_, nullptr);
    return *this;
  }
  ~PttThread() { end(); }

  // What this thread has had so far of each metric, in the order of Ptt::create(): the first
  // values.size() of them; elements beyond the metrics are 0. PU_SUCCESS, or
  // PU_ERROR_NOT_INITIALIZED: PTT has ended. Async-signal-safe.
  int read(std::span<std::uint64_t> values) const noexcept {
    std::array<std::uint64_t, MAX_PTT_METRICS> all{};
    const int rc = reader_ ? reader_(all.data()) : PU_ERROR_NOT_INITIALIZED;
    if (rc != PU_SUCCESS) return rc;
    std::fill(values.begin(), values.end(), 0);
    std::copy_n(all.begin(), std::min(values.size(), all.size()), values.begin());
    return rc;
  }

 private:
  friend class PttRegion;
  explicit PttThread(pi_ptt_reader reader) noexcept : reader_(reader) {}

  void end() noexcept {
    if (std::exchange(reader_, nullptr)) (void)PttUnInitThread(0);
  }

  pi_ptt_reader reader_;
};

// Sums over regions. Not for several threads at once: one for each thread.
struct PttTotals {
  std::array<std::uint64_t, MAX_PTT_METRICS> values{};  // in the order of Ptt::create()
  std::uint64_t regions = 0;                            // in values
  std::uint64_t failed = 0;                             // regions that could not be read
};

// Adds what the calling thread has had of each metric from here to the end of the scope, the cost
// of one reading included, to totals. thread and totals must outlive it. Regions may nest.
class PttRegion {
 public:
  PttRegion(const PttThread& thread, PttTotals& totals) noexcept
      : reader_(thread.reader_), totals_(totals) {
    rc_ = reader_ ? reader_(before_.data()) : PU_ERROR_NOT_INITIALIZED;
  }
  PttRegion(const PttRegion&) = delete;
  PttRegion& operator=(const PttRegion&) = delete;
  ~PttRegion() {
    std::array<std::uint64_t, MAX_PTT_METRICS> after{};
    if (rc_ != PU_SUCCESS || reader_(after.data()) != PU_SUCCESS) {
      ++totals_.failed;
      return;
    }
    for (std::size_t i = 0; i < after.size(); ++i) totals_.values[i] += after[i] - before_[i];
    ++totals_.regions;
  }

  // Whether the region is measured.
  explicit operator bool() const noexcept { return rc_ == PU_SUCCESS; }

 private:
  const pi_ptt_reader reader_;
  PttTotals& totals_;
  std::array<std::uint64_t, MAX_PTT_METRICS> before_{};
  int rc_;
};

}  // namespace pitrace

#endif  // PERFUTIL_PTT_HPP
