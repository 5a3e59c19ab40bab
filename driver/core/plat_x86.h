/* SPDX-License-Identifier: GPL-2.0-only */
/* What the driver asks of x86-64 itself: about the processor and about a task. */
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

static inline bool pitrace_arch_task_is_32bit(struct task_struct *task)
{
	return test_tsk_thread_flag(task, TIF_ADDR32);
}

/* Of the system call that current is in: is its number one of the 32-bit table? */
static inline bool pitrace_arch_syscall_is_32bit(void)
{
	return in_ia32_syscall();
}

/*
 * The processor's own vectors with a hook: EACH(name) for those of tracepoints name_entry and
 * name_exit, both with the vector for an argument. A kernel built without one never gets it.
 */
#ifdef CONFIG_IRQ_WORK
#define PITRACE_X86_IRQ_WORK(EACH) EACH(irq_work)
#else
#define PITRACE_X86_IRQ_WORK(EACH)
#endif
#ifdef CONFIG_SMP
#define PITRACE_X86_SMP(EACH) EACH(reschedule) EACH(call_function) EACH(call_function_single)
#else
#define PITRACE_X86_SMP(EACH)
#endif
#ifdef CONFIG_X86_MCE_THRESHOLD
#define PITRACE_X86_THRESHOLD(EACH) EACH(threshold_apic)
#else
#define PITRACE_X86_THRESHOLD(EACH)
#endif
#ifdef CONFIG_X86_MCE_AMD
#define PITRACE_X86_DEFERRED(EACH) EACH(deferred_error_apic)
#else
#define PITRACE_X86_DEFERRED(EACH)
#endif
#ifdef CONFIG_X86_THERMAL_VECTOR
#define PITRACE_X86_THERMAL(EACH) EACH(thermal_apic)
#else
#define PITRACE_X86_THERMAL(EACH)
#endif

#define PITRACE_ARCH_VECTORS(EACH)                                                     \
	EACH(local_timer) EACH(spurious_apic) EACH(error_apic) EACH(x86_platform_ipi)  \
	PITRACE_X86_IRQ_WORK(EACH) PITRACE_X86_SMP(EACH) PITRACE_X86_THRESHOLD(EACH)   \
	PITRACE_X86_DEFERRED(EACH) PITRACE_X86_THERMAL(EACH)

#endif /* PITRACE_PLAT_X86_H */
