// SPDX-License-Identifier: MIT
// What every C entry point does around its work: takes the lock, stores the error text, catches
// exceptions and disables cancellation.
#ifndef PI_PERFUTIL_CALL_H
#define PI_PERFUTIL_CALL_H

#include <mutex>
#include <new>
#include <string>
#include <type_traits>

#include <pi/no_cancel.h>
#include <pi/result.h>

#include "perfutil.h"
#include "system/process.h"

namespace pi::perfutil {

class Trace;

Trace& global_trace();           // the trace of this process; with call_mutex() held
std::string& last_error_text();  // of the calling thread

// Runs work with the lock held; its Status (or the exception it throws) becomes the return code
// and the thread's error text.
template <class Work>
int call(Work work) {
  const NoCancel off;
  try {
    last_error_text().clear();
    const std::lock_guard lock(call_mutex());
    const Status done = work(global_trace());
    if (done) return PU_SUCCESS;
    last_error_text() = done.error().message;
    return done.error().code;
  } catch (const std::bad_alloc&) {
    return PU_ERROR_NOT_ENOUGH_MEMORY;
  } catch (...) {
    return PU_ERROR_INTERNAL;
  }
}

// For entry points that return a value and no code: the value that work returns, or a default one
// when it throws.
template <class Work>
auto query(Work work) {
  std::invoke_result_t<Work, Trace&> value{};
  (void)call([&](Trace& trace) -> Status {
    value = work(trace);
    return {};
  });
  return value;
}

// For entry points that return a number, or a code when there is none: work returns Result<int>.
template <class Work>
int call_for_number(Work work) {
  int number = 0;
  const int rc = call([&](Trace& trace) -> Status {
    const Result<int> result = work(trace);
    if (!result) return result.error();
    number = *result;
    return {};
  });
  return rc == PU_SUCCESS ? number : rc;
}

inline Error null_pointer(const std::string& what) {
  return {PU_ERROR_NULL_POINTER, "The pointer to the " + what + " is null."};
}

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_CALL_H
