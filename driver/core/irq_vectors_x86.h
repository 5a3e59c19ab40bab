/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints around the handlers of x86's own interrupt vectors: local timer, inter-processor interrupts, ... */
#ifndef PITRACE_IRQ_VECTORS_X86_H
#define PITRACE_IRQ_VECTORS_X86_H

#include <asm/trace/irq_vectors.h>

/* EACH(name) for each pair of tracepoints name_entry, name_exit that this kernel has; their argument is the vector. */
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

/* Does this kernel pass to these tracepoints what the probes take? */
#define PITRACE_ARCH_CHECK_VECTORS(on_entry, on_exit)                  \
	do {                                                           \
		check_trace_callback_type_local_timer_entry(on_entry); \
		check_trace_callback_type_local_timer_exit(on_exit);   \
	} while (0)

#endif /* PITRACE_IRQ_VECTORS_X86_H */
