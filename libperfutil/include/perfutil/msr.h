/* SPDX-License-Identifier: MIT */
/* libperfutil: model-specific registers (our names). */
#ifndef PERFUTIL_MSR_H
#define PERFUTIL_MSR_H

#include <stdint.h>

#include <perfutil/errors.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PI_MSR_UNREADABLE 0xBAD0BAD1BAD2BAD3ull

/* Through the kernel's msr device, for root (CAP_SYS_RAWIO). cpu: one that is online. *value becomes
 * PI_MSR_UNREADABLE when it cannot be read. Reading may have side effects, and writing can stop the machine:
 * the processor's manual tells.
 * PU_ERROR_NULL_POINTER, PU_ERROR_INVALID_PARAMETER (no such CPU), PU_ERROR_NOT_SUPPORTED (no such
 * device: the text tells why and what to do), PU_ERROR_ACCESS_DENIED (no rights; for writing also a kernel
 * that is locked down), PU_FAILURE (the processor refuses: no such register, or not that value).
 */
int PiReadMsr(int cpu, uint32_t number, uint64_t *value);
int PiWriteMsr(int cpu, uint32_t number, uint64_t value);

#ifdef __cplusplus
}
#endif

#endif /* PERFUTIL_MSR_H */
