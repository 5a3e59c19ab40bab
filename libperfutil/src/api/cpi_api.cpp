// SPDX-License-Identifier: MIT
// C entry points for cycles per instruction.
#include <array>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "call.h"
#include "counters/cpi.h"
#include "events/events.h"
#include "perfutil.h"

namespace pi::perfutil {
namespace {

constexpr int known_flags = PI_CPI_RAW | PI_CPI_SCALED | PI_CPI_THREAD | PI_CPI_TRACE_ON_GET |
                            PI_CPI_TRACE_ONLY | PI_CPI_TRACE_SUMMARY | PI_CPI_TRACE_DETAIL;
constexpr int trace_flags =
    PI_CPI_TRACE_ON_GET | PI_CPI_TRACE_ONLY | PI_CPI_TRACE_SUMMARY | PI_CPI_TRACE_DETAIL;
constexpr size_t max_label_bytes = 256;

struct Handle {
  std::unique_ptr<CpiMeter> meter;
  int flags = 0;
};

// With call_mutex() held. By address, so that an invalid handle is refused.
std::map<void*, std::unique_ptr<Handle>>& handles() {
  static OfProcess<std::map<void*, std::unique_ptr<Handle>>> all;
  return all.get();
}

Status give_handle(Result<std::unique_ptr<CpiMeter>> meter, int flags, void** out) {
  if (!meter) return meter.error();
  auto handle = std::make_unique<Handle>(Handle{std::move(*meter), flags});
  *out = handle.get();
  handles().emplace(*out, std::move(handle));
  return {};
}

template <class Work>
int with_handle(void* handle, Work work) {
  return call([=](Trace&) -> Status {
    const auto found = handles().find(handle);
    if (found == handles().end())
      return Error{PU_ERROR_INVALID_PARAMETER, "Invalid handle: pass one returned by CpiInit."};
    return work(*found->second);
  });
}

// As perfutil.h describes it: two numbers, then six numbers of 64 bits, each low half first.
using CpiRecord = std::array<uint32_t, 14>;

CpiRecord record_of(const pi_cpi& cpi, int mode, uint64_t elapsed_ns) {
  CpiRecord ints{static_cast<uint32_t>(cpi.cpu), static_cast<uint32_t>(mode)};
  size_t place = 2;
  for (const uint64_t number : {elapsed_ns, cpi.counted_ns, cpi.cycles, cpi.busy_cycles,
                                cpi.active_cycles, cpi.instructions}) {
    ints[place++] = static_cast<uint32_t>(number);
    ints[place++] = static_cast<uint32_t>(number >> 32);
  }
  return ints;
}

Status write_record(const pi_cpi& cpi, const cpi_data& data, int minor, const std::string& label) {
  constexpr std::string_view signature = "#CPI";
  const CpiRecord ints = record_of(cpi, data.mode, data.elapsed_ns);
  const pi_hook_string strings[] = {{signature.data(), signature.size()},
                                    {label.data(), label.size()}};
  const int rc =
      PiTraceHook(PI_CPI_MAJOR, static_cast<uint32_t>(minor), ints.data(), ints.size(), strings, 2);
  if (rc == PU_SUCCESS) return {};
  return Error{rc, fmt::format("The record of cycles per instruction could not be written to the "
                               "trace ({}).",
                               RcToString(rc))};
}

// One record of the system, or of the thread when the system was not measured; with
// PI_CPI_TRACE_DETAIL also one of each CPU.
Status write_records(const cpi_data& data, int flags, int minor, const std::string& label) {
  const bool system = (data.mode & PI_CPI_RAW) != 0;
  if (auto written = write_record(system ? data.system : data.thread, data, minor, label); !written)
    return written;
  if ((flags & PI_CPI_TRACE_DETAIL) == 0 || !system) return {};
  for (int i = 0; i < data.cpu_count; ++i)
    if (auto written = write_record(data.cpus[i], data, minor, label); !written) return written;
  return {};
}

Status check_label(const char* label) {
  if (label != nullptr && std::strlen(label) > max_label_bytes)
    return Error{PU_ERROR_INVALID_PARAMETER,
                 fmt::format("The label is longer than {} bytes.", max_label_bytes)};
  return {};
}

Status get_and_trace(Handle& handle, int minor, int flags, const std::string& label,
                     const cpi_data** out) {
  const auto data = handle.meter->get();
  if (!data) return data.error();
  if (out != nullptr) *out = *data;
  return write_records(**data, flags, minor, label);
}

}  // namespace
}  // namespace pi::perfutil

using pi::Error;
using pi::Status;
using pi::perfutil::call;
using pi::perfutil::CpiMeter;
using pi::perfutil::Handle;
using pi::perfutil::Trace;
using pi::perfutil::with_handle;

int IsCpiSupported(void) {
  return IsPerfCounterEventSupported(PI_EVENT_NONHALTED_CYCLES) &&
         IsPerfCounterEventSupported(PI_EVENT_INSTR);
}

int PiCpiInit(int flags, int priv, void** handle) {
  return call([=](Trace&) -> Status {
    if (handle == nullptr) return pi::perfutil::null_pointer("handle");
    *handle = nullptr;
    if ((flags & ~pi::perfutil::known_flags) != 0)
      return Error{PU_ERROR_INVALID_PARAMETER, fmt::format("{:#x} has unknown flags.", flags)};
    if (auto good = pi::perfutil::check_privilege(priv); !good) return good;
    const int mode = (flags & ~pi::perfutil::trace_flags) | PI_CPI_RAW;
    return pi::perfutil::give_handle(CpiMeter::open(mode, priv), flags, handle);
  });
}

int CpiInit(int flags, void** handle) {
  return PiCpiInit(flags, PI_PRIV_BOTH, handle);
}

int PiCpiInitProcess(int pid, int priv, void** handle) {
  return call([=](Trace&) -> Status {
    if (handle == nullptr) return pi::perfutil::null_pointer("handle");
    *handle = nullptr;
    if (pid <= 0) return Error{PU_ERROR_INVALID_PARAMETER, fmt::format("{} is no process.", pid)};
    if (auto good = pi::perfutil::check_privilege(priv); !good) return good;
    return pi::perfutil::give_handle(CpiMeter::open_process(pid, priv), PI_CPI_THREAD, handle);
  });
}

int CpiStart(void* handle) {
  return with_handle(handle, [](Handle& each) { return each.meter->start(); });
}

int CpiGet(void* handle, const struct cpi_data** data) {
  return with_handle(handle, [=](Handle& each) -> Status {
    if ((each.flags & (PI_CPI_TRACE_ON_GET | PI_CPI_TRACE_ONLY)) != 0)
      return pi::perfutil::get_and_trace(each, each.meter->minor, each.flags, each.meter->label,
                                         data);
    if (data == nullptr) return pi::perfutil::null_pointer("data");
    const auto now = each.meter->get();
    if (!now) return now.error();
    *data = *now;
    return {};
  });
}

int CpiGetAndTrace(void* handle, int minor, int flags, const char* label,
                   const struct cpi_data** data) {
  return with_handle(handle, [=](Handle& each) -> Status {
    if (auto good = pi::perfutil::check_label(label); !good) return good;
    return pi::perfutil::get_and_trace(each, minor, flags, label ? label : each.meter->label, data);
  });
}

int CpiSetTraceHookId(void* handle, int minor, const char* label) {
  return with_handle(handle, [=](Handle& each) -> Status {
    if (auto good = pi::perfutil::check_label(label); !good) return good;
    each.meter->minor = minor;
    each.meter->label = label ? label : "";
    return {};
  });
}

int CpiGetCurrentMode(void* handle) {
  int mode = 0;
  const int rc = with_handle(handle, [&](Handle& each) -> Status {
    mode = each.meter->mode();
    return {};
  });
  return rc == PU_SUCCESS ? mode : rc;
}

int CpiTerminate(void* handle) {
  return with_handle(handle, [=](Handle&) -> Status {
    pi::perfutil::handles().erase(handle);
    return {};
  });
}
