// SPDX-License-Identifier: MIT
// libperfutil for C++: ITrace (branch trace) of regions of a program.
#ifndef PERFUTIL_ITRACE_HPP
#define PERFUTIL_ITRACE_HPP

#include <cstdint>
#include <span>
#include <utility>

#include <climits>

#include <perfutil/itrace.h>
#include <perfutil/result.hpp>

namespace pitrace {

// ITrace of the calling thread, from here to the end of the scope; the thread that made it must
// destroy it. Regions do not nest: an inner one is not on and changes nothing.
class ITraceRegion {
 public:
  // Enables this process and opens the device, which the first region would do otherwise:
  // ITraceEnableCurrent(). Call it once before the first region.
  static Result<void> prepare() { return Result<void>::of(ITraceEnableCurrent()); }

  ITraceRegion() noexcept : rc_(ITraceOn()) {}
  ITraceRegion(const ITraceRegion&) = delete;
  ITraceRegion& operator=(const ITraceRegion&) = delete;
  ~ITraceRegion() {
    if (rc_ == PU_SUCCESS) ITraceOff();
  }

  // What ITraceOn() returned: whether the region is traced.
  int rc() const noexcept { return rc_; }
  explicit operator bool() const noexcept { return rc_ == PU_SUCCESS; }

 private:
  const int rc_;
};

// ITrace installed by the owner of the trace (a TraceSession that is on), until it is destroyed,
// which stops it for all threads. Thread-safety as TraceSession.
class ITraceInstallation {
 public:
  // flags: PI_ITRACE_*; threads and reserve as PiITraceInit(), which has the errors, too.
  static Result<ITraceInstallation> create(int flags = PI_ITRACE_RING, std::uint32_t threads = 0,
                                           std::uint32_t reserve = 0) {
    if (const int rc = PiITraceInit(flags, threads, reserve); rc != PU_SUCCESS)
      return Error::last(rc);
    return Result<ITraceInstallation>(ITraceInstallation(true));
  }

  ITraceInstallation(ITraceInstallation&& other) noexcept
      : owned_(std::exchange(other.owned_, false)) {}
  ITraceInstallation& operator=(ITraceInstallation&& other) noexcept {
    if (this == &other) return *this;
    end();
    owned_ = std::exchange(other.owned_, false);
    return *this;
  }
  ~ITraceInstallation() { end(); }

  // Adds these processes to the ones that can be traced: ITraceEnableList().
  Result<void> enable(std::span<const int> pids) {
    if (pids.size() > INT_MAX) return Error(PU_ERROR_INVALID_PARAMETER, "There are too many pids.");
    return Result<void>::of(ITraceEnableList(pids.data(), static_cast<int>(pids.size())));
  }

  // How many threads are traced, and how many records were written: PiITraceStatus().
  Result<pi_itrace_status> status() const {
    pi_itrace_status status{};
    status.size = sizeof status;
    if (const int rc = PiITraceStatus(&status); rc != PU_SUCCESS) return Error::last(rc);
    return status;
  }

 private:
  explicit ITraceInstallation(bool owned) noexcept : owned_(owned) {}

  void end() noexcept {
    if (std::exchange(owned_, false)) (void)ITraceTerminate();
  }

  bool owned_;
};

}  // namespace pitrace

#endif  // PERFUTIL_ITRACE_HPP
