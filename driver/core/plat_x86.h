/* SPDX-License-Identifier: GPL-2.0-only */
/* x86-64: properties of the processor and of a task. */
#ifndef PITRACE_PLAT_X86_H
#define PITRACE_PLAT_X86_H

#include <linux/sched.h>
#include <asm/cpufeature.h>
#include <asm/thread_info.h>
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

/* Unit of PITRACE_PTT_CYCLES: the time-stamp counter, which also counts while the CPU is idle. */
static __always_inline u64 pitrace_arch_cycles(void)
{
	return rdtsc();
}

static inline bool pitrace_arch_task_is_32bit(struct task_struct *task)
{
	return test_tsk_thread_flag(task, TIF_ADDR32);
}

/* Is the number of current's system call from the 32-bit table? */
static inline bool pitrace_arch_syscall_is_32bit(void)
{
	return in_ia32_syscall();
}

#endif /* PITRACE_PLAT_X86_H */
