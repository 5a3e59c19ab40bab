// SPDX-License-Identifier: MIT
// PTT of the module: the device of this process's own threads, their slots and readers.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <iterator>

#include <fmt/format.h>
#include <pi/above_standard.h>
#include <pi/unique_fd.h>

#include "ptt_device.h"
#include "ptt_source.h"
#include "system/process_fd.h"
#include "system/text.h"

namespace pi::perfutil {
namespace {

constexpr pitrace_ptt_slot inactive_slot{};

// Only one pointer, so that the library can be loaded at any time despite initial-exec, with which
// the reader needs no call to find it.
__attribute__((tls_model("initial-exec"))) thread_local const pitrace_ptt_slot* my_slot =
    &inactive_slot;

// For the reader by a system call; -1: there is none.
std::atomic<int> reading_fd{-1};

int read_slot(uint64_t* values) {
  return PiPttReadCycles(my_slot, values) != 0 ? PU_SUCCESS : PU_ERROR_NOT_INITIALIZED;
}

int read_by_call(uint64_t* values) {
  pitrace_ptt_read now;
  if (::ioctl(reading_fd.load(std::memory_order_relaxed), PITRACE_PTT_IOC_READ, &now) != 0)
    return PU_ERROR_NOT_INITIALIZED;
  for (size_t i = 0; i < PITRACE_PTT_METRICS; ++i) values[i] = now.value[i];
  return PU_SUCCESS;
}

Error withheld_error() {
  return {PU_ERROR_ACCESS_DENIED,
          "The kernel's settings do not let this user count these events, not even of its own "
          "threads. Let root set /proc/sys/kernel/perf_event_paranoid to 1 (to 2 for events that "
          "leave out the kernel), run as root or with CAP_PERFMON, or ask for cycles alone."};
}

Error attach_error(int error) {
  switch (error) {
    case ENXIO:
      return {PU_ERROR_NOT_INITIALIZED, "PTT has ended; restart it with 'ptt init' or PttInit."};
    case EDQUOT:
    case ENOSPC:
      return {PU_ERROR_PTT_USER_TABLE_FULL,
              "PTT has no space for another thread of this user; the module's parameter ptt_pages "
              "and 'ptt init' with more threads give more."};
    case EACCES:
      return withheld_error();
    case ENOMEM:
      return {PU_ERROR_NOT_ENOUGH_MEMORY, "The kernel has no memory for another thread's slot."};
    default:
      return {PU_FAILURE, fmt::format("The pitrace module does not count this thread ({}).",
                                      errno_text(error))};
  }
}

// The device and the slots stay mapped until the process ends: threads may keep pointers to their
// slots. With call_mutex() held, except for attaching and detaching.
struct Area {
  ProcessFd fd;
  UniqueMapping slots;
};

Area& global_area() {
  static auto* const area = new Area;
  return *area;
}

class ModulePtt final : public PttSource {
 public:
  // owner: the handle whose closing ends PTT; null when another process began it.
  ModulePtt(const Area& area, std::unique_ptr<Device> owner, bool cycles_only)
      : area_(area), owner_(std::move(owner)), cycles_only_(cycles_only) {}
  ~ModulePtt() override { detach(); }

  int kind() const override { return PI_PTT_SOURCE_MODULE; }
  int read_method() const override { return cycles_only_ ? PI_PTT_READ_SLOT : PI_PTT_READ_CALL; }
  pi_ptt_reader reader() const override { return cycles_only_ ? read_slot : read_by_call; }
  const char* cannot_separate() const override {
    return "non-maskable interrupts; of other interrupts what the processor and the kernel do "
           "before the "
           "first and after the last hook; of dispatches the way through the scheduler";
  }
  const char* unit(const PttMetric& metric) const override {
    return metric.is_cycles() ? "cycles" : "events";
  }

  Status attach() override {
    __u64 offset = 0;
    if (::ioctl(area_.fd.get(), PITRACE_PTT_IOC_ATTACH, &offset) != 0) {
      if (errno == EALREADY && my_slot != &inactive_slot) return {};
      return attach_error(errno);
    }
    const void* const slot = area_.slots.data() + offset;
    my_slot = static_cast<const pitrace_ptt_slot*>(slot);
    return {};
  }
  void detach() override {
    if (my_slot == &inactive_slot) return;
    my_slot = &inactive_slot;
    (void)::ioctl(area_.fd.get(), PITRACE_PTT_IOC_DETACH);
  }

  Status read(ptt_thread_data_ex& data) override {
    pitrace_ptt_read now{};
    if (::ioctl(area_.fd.get(), PITRACE_PTT_IOC_READ, &now) != 0) return attach_error(errno);
    data.Dispatches = now.dispatches;
    data.Interrupts = now.interrupts;
    std::copy(std::begin(now.value), std::end(now.value), data.Metrics);
    return {};
  }

 private:
  const Area& area_;
  std::unique_ptr<Device> owner_;
  bool cycles_only_;
};

Status open_area(Area& area) {
  if (area.slots) return {};
  ProcessFd fd(above_standard(UniqueFd(::open(PITRACE_PTT_DEVICE_PATH, O_RDWR | O_CLOEXEC))));
  if (!fd) return ptt_open_error(errno, PITRACE_PTT_DEVICE_PATH);
  UniqueMapping slots(::mmap(nullptr, PITRACE_PTT_AREA_BYTES, PROT_READ, MAP_SHARED, fd.get(), 0),
                      PITRACE_PTT_AREA_BYTES);
  if (!slots)
    return Error{
        PU_ERROR_NOT_ENOUGH_MEMORY,
        fmt::format("{} cannot be mapped ({}).", PITRACE_PTT_DEVICE_PATH, errno_text(errno))};
  area.fd = std::move(fd);
  area.slots = std::move(slots);
  reading_fd = area.fd.get();
  return {};
}

Result<std::unique_ptr<Device>> begin(const PttMetrics& metrics, const pi_ptt_options& options) {
  auto control = open_ptt_control();
  if (!control) return control;
  const uint32_t flags = ((options.flags & PI_PTT_KEEP) != 0 ? PITRACE_PTT_KEEP : 0) |
                         ((options.flags & PI_PTT_FORCE) != 0 ? PITRACE_PTT_FORCE : 0);
  if (const auto begun = ptt_begin(**control, metrics, flags, options.threads); !begun)
    return begun.error();
  return control;
}

}  // namespace

Result<std::unique_ptr<PttSource>> open_module_ptt(const PttMetrics& metrics,
                                                   const pi_ptt_options& options) {
  Area& area = global_area();
  if (const auto opened = open_area(area); !opened) return opened.error();
  pitrace_ptt_info info{};
  if (::ioctl(area.fd.get(), PITRACE_PTT_IOC_INFO, &info) != 0 ||
      info.abi_major != PITRACE_ABI_MAJOR)
    return Error{PU_ERROR_NOT_SUPPORTED,
                 "The pitrace module that is loaded does not belong to this library."};
  std::unique_ptr<Device> owner;
  const bool begins = (options.flags & (PI_PTT_FORCE | PI_PTT_KEEP)) != 0;
  if (begins || info.active == 0 || !ptt_has(info, metrics)) {
    auto begun = begin(metrics, options);
    if (!begun) return begun.error();
    owner = std::move(*begun);
  }
  // Only when another process began it: a process may read all metrics that it began itself.
  const uint32_t wanted = (1u << metrics.size()) - 1;
  if (!owner && (info.withheld & wanted) != 0) return withheld_error();
  const bool cycles_only = metrics.size() == 1 && metrics.front().is_cycles();
  return std::unique_ptr<PttSource>(new ModulePtt(area, std::move(owner), cycles_only));
}

void forget_module_thread() {
  my_slot = &inactive_slot;
  reading_fd = -1;
  // The mapping is not inherited by the child.
  global_area().fd.reset();
  global_area().slots = UniqueMapping();
}

const pitrace_ptt_slot* module_slot() {
  return my_slot;
}

}  // namespace pi::perfutil
