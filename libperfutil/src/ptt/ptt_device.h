// SPDX-License-Identifier: MIT
// The module's PTT for users who may trace the system: begins it, ends it, returns the counts.
#ifndef PI_PERFUTIL_PTT_DEVICE_H
#define PI_PERFUTIL_PTT_DEVICE_H

#include <memory>
#include <vector>

#include <pi/result.h>
#include <pi/unique_fd.h>
#include <pitrace/ptt_abi.h>

#include "ptt_metrics.h"
#include "system/device.h"

namespace pi::perfutil {

// Errors of all functions: PU_ERROR_DRIVER_NOT_LOADED, PU_ERROR_ACCESS_DENIED,
// PU_ERROR_NOT_SUPPORTED (a module older than this library), besides those listed at each.

Result<std::unique_ptr<Device>> open_ptt_control();

// From the control device, which gives more information, if this user may open it; else from the
// device that all users may open.
Result<pitrace_ptt_info> ptt_info();

// flags, threads: of struct pitrace_ptt_init; threads 0: the default. PU_ERROR_FACILITY_BUSY,
// PU_ERROR_EVENT_NOT_SUPPORTED, PU_ERROR_NOT_ENOUGH_MEMORY, PU_ERROR_INVALID_PARAMETER.
Status ptt_begin(Device& device, const PttMetrics& metrics, uint32_t flags, uint32_t threads);
Status ptt_end(Device& device);  // PU_ERROR_NOT_INITIALIZED
Status ptt_interrupts(Device& device, bool separate);
Status ptt_take_residue(Device& device,
                        const pitrace_ptt_residue& residue);  // PU_ERROR_INCORRECT_STATE

struct PttDump {
  pitrace_ptt_dump head{};
  std::vector<pitrace_ptt_thread> threads;
  std::vector<pitrace_ptt_cpu> cpus;
};
Result<PttDump> ptt_dump(Device& device);  // PU_ERROR_NOT_INITIALIZED, PU_ERROR_NOT_ENOUGH_MEMORY

// Why a device of the module's cannot be opened; error is positive.
Error ptt_open_error(int error, const char* path);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PTT_DEVICE_H
