// SPDX-License-Identifier: MIT
// ITrace without the module: user code of processes that are enabled one by one, by ptrace.
#ifndef PI_PERFUTIL_PTRACE_ITRACE_H
#define PI_PERFUTIL_PTRACE_ITRACE_H

#include "itrace.h"
#include "perfutil.h"

namespace pi::perfutil {

class PtraceITrace final : public ITrace {
 public:
  Status install(const pitrace_itrace&) override { return no(); }
  Status remove() override { return no(); }
  Status enable(uint32_t, uint32_t) override { return no(); }
  Status disable() override { return no(); }
  Status on() override { return no(); }
  Status off() override { return no(); }
  Result<pitrace_itrace_info> info() override { return no().error(); }

 private:
  static Status no() {
    return Error{PU_ERROR_NOT_SUPPORTED, "ITrace needs the pitrace module."};
  }
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PTRACE_ITRACE_H
