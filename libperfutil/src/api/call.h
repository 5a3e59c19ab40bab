// SPDX-License-Identifier: MIT
// What every C entry point does around its work: lock, error text, no exception gets out, no
// cancellation gets in.
#ifndef PI_PERFUTIL_CALL_H
#define PI_PERFUTIL_CALL_H

#include <mutex>
#include <new>
#include <string>

#include <pi/no_cancel.h>
#include <pi/result.h>

#include "perfutil.h"
#include "system/process.h"

namespace pi::perfutil {

class Trace;

Trace& global_trace();           // of this process; with call_mutex() held
std::string& last_error_text();  // this thread's

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

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_CALL_H
