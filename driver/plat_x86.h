/* SPDX-License-Identifier: GPL-2.0-only */
/* What the driver asks of x86-64 itself: about the processor and about a task. */
#ifndef PITRACE_PLAT_X86_H
#define PITRACE_PLAT_X86_H

#include <linux/sched.h>
#include <asm/cpufeature.h>
#include <asm/tsc.h>

/* NULL, or the name of a feature without which the module cannot work. */
static inline const char *pitrace_arch_lacks(void)
{
	return boot_cpu_has(X86_FEATURE_CX16) ? NULL : "cmpxchg16b (cx16)";
}

static inline u32 pitrace_arch_mhz(void)
{
	return tsc_khz / 1000;
}

static inline bool pitrace_arch_task_is_32bit(struct task_struct *task)
{
	return test_tsk_thread_flag(task, TIF_ADDR32);
}

#endif /* PITRACE_PLAT_X86_H */
