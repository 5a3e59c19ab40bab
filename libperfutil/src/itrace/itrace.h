// SPDX-License-Identifier: MIT
// The interface of ITrace, implemented by the module and by a tracer that uses ptrace.
#ifndef PI_PERFUTIL_ITRACE_H
#define PI_PERFUTIL_ITRACE_H

#include <array>
#include <cstdint>

#include <pi/result.h>
#include <pitrace/abi.h>

#include "perfutil.h"

namespace pi::perfutil {

// The majors of an instruction trace; to read it, the names of code (MTE) are needed as well.
constexpr std::array<uint32_t, 8> itrace_majors{
    PITRACE_MAJOR_BRANCH_KERNEL, PITRACE_MAJOR_BRANCH_USER, PITRACE_MAJOR_CUT_KERNEL,
    PITRACE_MAJOR_CUT_USER,      PITRACE_MAJOR_ITRACE_GAP,  PITRACE_MAJOR_ITRACE_THREAD,
    PITRACE_MAJOR_ITRACE_START,  PITRACE_MAJOR_ITRACE_STOP};

inline Error itrace_not_installed() {
  return {PU_ERROR_INCORRECT_STATE,
          "ITrace is not installed; call ITraceInit (swtrace it_install) first."};
}

inline Error itrace_is_installed() {
  return {PU_ERROR_INCORRECT_STATE,
          "ITrace is installed already; call ITraceTerminate (swtrace it_remove) first."};
}

// Errors as perfutil.h lists them. Not thread-safe, except that info() may be called at any time.
class ITrace {
 public:
  virtual ~ITrace() = default;

  virtual Status install(const pitrace_itrace& setup) = 0;
  virtual Status remove() = 0;
  // Processes from first to last, both included.
  virtual Status enable(uint32_t first, uint32_t last) = 0;
  virtual Status disable() = 0;
  // For all threads of the enabled processes.
  virtual Status on() = 0;
  virtual Status off() = 0;
  virtual Result<pitrace_itrace_info> info() = 0;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_ITRACE_H
