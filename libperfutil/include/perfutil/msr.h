/* SPDX-License-Identifier: MIT */
/*
 * libperfutil: model-specific registers. The names are ours; the processor's manual defines the
 * registers.
 *
 * Thread-safety: any thread; no TraceInit() is needed.
 */
#ifndef PERFUTIL_MSR_H
#define PERFUTIL_MSR_H

#include <stdint.h>

#include <perfutil/errors.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PI_MSR_UNREADABLE 0xBAD0BAD1BAD2BAD3ull

/* Read and write a register through the kernel's msr device, as root (CAP_SYS_RAWIO). cpu: number of
 * a CPU that is online. *value becomes PI_MSR_UNREADABLE when the register cannot be read. Reading may
 * have side effects, and writing can stop the machine: see the processor's manual.
 * PU_ERROR_NULL_POINTER, PU_ERROR_INVALID_PARAMETER (no such CPU), PU_ERROR_NOT_SUPPORTED (no msr
 * device: the text has the reason and what to do), PU_ERROR_ACCESS_DENIED (no rights; for writing also
 * a locked-down kernel), PU_FAILURE (the processor rejects the register's number or the value).
 */
int PiReadMsr(int cpu, uint32_t number, uint64_t *value);
int PiWriteMsr(int cpu, uint32_t number, uint64_t value);

#ifdef __cplusplus
}
#endif

#endif /* PERFUTIL_MSR_H */
