/* SPDX-License-Identifier: GPL-2.0-only */
/* Model-specific registers, by the names that the functions have since 6.16. */
#ifndef PITRACE_CORE_MSR_X86_H
#define PITRACE_CORE_MSR_X86_H

#include <asm/msr.h>

#ifndef rdmsrq
#define rdmsrq rdmsrl
#define rdmsrq_safe rdmsrl_safe
#define wrmsrq wrmsrl
#define wrmsrq_safe wrmsrl_safe
#endif

#endif /* PITRACE_CORE_MSR_X86_H */
