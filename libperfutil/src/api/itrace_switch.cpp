// SPDX-License-Identifier: MIT
// ITraceOn() and ITraceOff(): as few instructions as possible between the system call and the
// caller's code, because ITrace records them.
#include "itrace_switch.h"

#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <fmt/format.h>
#include <pi/module_advice.h>

#include "call.h"
#include "driver/driver_collector.h"
#include "driver/driver_itrace.h"
#include "system/ioctl_x86.h"
#include "system/kernel_device.h"
#include "trace/trace.h"

namespace pi::perfutil {
namespace {

const uint32_t self = PITRACE_ITRACE_SELF;
const uint32_t all = PITRACE_ITRACE_ALL;

// What the fast path uses: the device and the threads to act on. Written with call_mutex() held,
// read without. A program that calls ITraceOn() while another thread changes the target cannot
// expect a certain result.
struct Target {
  std::atomic<int> fd = -1;
  std::atomic<const uint32_t*> scope = &self;
};

Target target;
std::unique_ptr<KernelDevice> own_device;

// A child keeps the descriptor of a program that does not own the trace. The trace itself belongs
// to the parent.
void in_child() {
  if (target.scope.load(std::memory_order_relaxed) == &all) {
    target.fd.store(-1, std::memory_order_relaxed);
    target.scope.store(&self, std::memory_order_relaxed);
  }
}

void watch_forks() {
  static const int watched = ::pthread_atfork(nullptr, nullptr, in_child);
  (void)watched;
}

// The descriptor is not the device any more: the program has closed it, or the number is another
// file's.
bool is_stale(long result) {
  return result == -EBADF || result == -ENOTTY;
}

void use_own_device() {
  target.scope.store(&self, std::memory_order_relaxed);
  target.fd.store(own_device->fd(), std::memory_order_release);
}

// For a target without descriptor, and for a system call that failed. result: of the system call;
// 0: there was none.
Status slow_path(Trace& trace, unsigned long request, long result) {
  const bool on = request == PITRACE_IOC_IT_ON;
  if (trace.is_initialised()) return on ? trace.itrace_on() : trace.itrace_off();
  if (result != 0 && !is_stale(result))
    return DriverITrace(*own_device).switched(static_cast<int>(-result), on);
  if (result != 0 && own_device) {
    own_device->forget();
    own_device.reset();
    clear_itrace_owner();
  }
  const auto device = device_of_program();
  if (!device) return device.error();
  uint32_t scope = PITRACE_ITRACE_SELF;
  return DriverITrace(**device).switched(-(*device)->control(request, &scope), on);
}

// Not inlined into ITraceOn() and ITraceOff(), so that these save no registers.
__attribute__((noinline, cold)) int call_slow_path(unsigned long request, long result) {
  return call([=](Trace& trace) { return slow_path(trace, request, result); });
}

}  // namespace

void set_itrace_owner(int fd) {
  watch_forks();
  own_device.reset();
  target.scope.store(&all, std::memory_order_relaxed);
  target.fd.store(fd, std::memory_order_release);
}

void clear_itrace_owner() {
  target.fd.store(-1, std::memory_order_relaxed);
  target.scope.store(&self, std::memory_order_relaxed);
}

Result<Device*> device_of_program() {
  if (own_device) {
    use_own_device();
    return own_device.get();
  }
  watch_forks();
  auto device = std::make_unique<KernelDevice>();
  if (const int error = device->open(); error != 0) {
    Error refusal = device_open_error(-error);
    if (refusal.code == PU_ERROR_DRIVER_NOT_LOADED)
      refusal.message = fmt::format(
          "The pitrace module is not loaded (there is no /dev/pitrace). A program needs it to turn "
          "ITrace on for itself. {} Without the module 'run.itrace -- COMMAND' traces the user "
          "code "
          "of the whole process.",
          load_module_advice());
    return refusal;
  }
  if (const auto info = read_device_info(*device); !info) return info.error();
  device->keep_in_children();
  own_device = std::move(device);
  use_own_device();
  return own_device.get();
}

}  // namespace pi::perfutil

using pi::perfutil::call_slow_path;
using pi::perfutil::inline_ioctl;
using pi::perfutil::last_error_text;
using pi::perfutil::target;

// Everything that is done on success comes before the system call.
int ITraceOn(void) {
  last_error_text().clear();
  const int fd = target.fd.load(std::memory_order_acquire);
  const uint32_t* const scope = target.scope.load(std::memory_order_relaxed);
  if (fd < 0) return call_slow_path(PITRACE_IOC_IT_ON, 0);
  const long result = inline_ioctl(fd, PITRACE_IOC_IT_ON, scope);
  if (__builtin_expect(result != 0, 0)) return call_slow_path(PITRACE_IOC_IT_ON, result);
  return PU_SUCCESS;
}

// Everything that is done on success comes after the system call.
int ITraceOff(void) {
  const int fd = target.fd.load(std::memory_order_acquire);
  if (fd < 0) return call_slow_path(PITRACE_IOC_IT_OFF, 0);
  const long result =
      inline_ioctl(fd, PITRACE_IOC_IT_OFF, target.scope.load(std::memory_order_relaxed));
  if (result != 0) return call_slow_path(PITRACE_IOC_IT_OFF, result);
  last_error_text().clear();
  return PU_SUCCESS;
}
