// SPDX-License-Identifier: MIT
// What C++ programs have besides perfutil.h.
#ifndef PERFUTIL_HPP
#define PERFUTIL_HPP

#include "perfutil.h"

namespace pi {

// ITrace of the calling thread, from here to the end of the scope; the thread that made it must end
// it. Our addition. The program has called ITraceEnableCurrent() before.
class ITraceRegion {
 public:
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

}  // namespace pi

#endif  // PERFUTIL_HPP
