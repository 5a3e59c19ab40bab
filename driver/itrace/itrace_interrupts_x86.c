// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts of followed code (-intr): records where each came, and how long its handler took. Handlers are not
 * stepped: the timer's would take longer than the time to its next tick.
 */

#include <linux/interrupt.h>
#include <asm/irq_regs.h>
#include <asm/processor-flags.h>
#include <trace/events/irq.h>

#include "core/irq_vectors.h"
#include "core/probes.h"
#include "itrace.h"

/* Registers of the interrupted code if it is being followed, else NULL. */
static struct pt_regs *itrace_interrupts_followed_regs(struct pitrace_it_thread *thread)
{
	struct pt_regs *regs = get_irq_regs();

	/* TF is not set inside another interrupt or inside a hook of this module. */
	if (!regs || !thread || READ_ONCE(thread->task) != current || !(regs->flags & X86_EFLAGS_TF))
		return NULL;
	if (!READ_ONCE(pitrace_it_runs) || thread->ended || thread->gap || thread->start_due)
		return NULL;
	if (user_mode(regs) ? !itrace_tf_in_user(thread->tf) : thread->tf != ITRACE_TF_KERNEL)
		return NULL;
	/* Where branches trap, it may be interrupted in the middle of a block: the flow is known up to here. */
	if (thread->branch_traps && user_mode(regs))
		thread->ip = regs->ip;
	return regs->ip == thread->ip ? regs : NULL;
}

/* Interrupts are off in all of these. */
static void itrace_interrupts_enter(u32 vector)
{
	struct pitrace_it_cpu *cpu = this_cpu_ptr(&pitrace_it_cpus);
	struct pitrace_it_thread *thread = cpu->running;
	struct pt_regs *regs = itrace_interrupts_followed_regs(thread);

	if (cpu->interrupted || !regs)
		return;
	pitrace_it_cut(thread, user_mode(regs), vector, regs->ip);
	if (thread->gap || thread->ended)
		return;
	pitrace_it_begin_gap(thread, PITRACE_GAP_INTERRUPT);
	cpu->interrupted = thread;
}

static void itrace_interrupts_leave(void)
{
	struct pitrace_it_cpu *cpu = this_cpu_ptr(&pitrace_it_cpus);
	struct pitrace_it_thread *thread = cpu->interrupted;

	if (!thread)
		return;
	cpu->interrupted = NULL;
	pitrace_it_begin_block(thread, thread->ip);
}

static void itrace_interrupts_on_device_entry(void *data, int irq, struct irqaction *action)
{
	itrace_interrupts_enter(PITRACE_CUT_DEVICE | ((u32)irq & PITRACE_CUT_NUMBER));
}

static void itrace_interrupts_on_device_exit(void *data, int irq, struct irqaction *action,
					     int result)
{
	itrace_interrupts_leave();
}

static void itrace_interrupts_on_vector_entry(void *data, int vector)
{
	itrace_interrupts_enter((u32)vector & 0xff);
}

static void itrace_interrupts_on_vector_exit(void *data, int vector)
{
	itrace_interrupts_leave();
}

/* Probes around a vector's handler, for PITRACE_ARCH_VECTORS. */
#define VECTOR_HOOKS(vector)                                                     \
	PITRACE_TRACEPOINT(#vector "_entry", itrace_interrupts_on_vector_entry), \
		PITRACE_TRACEPOINT(#vector "_exit", itrace_interrupts_on_vector_exit),

static struct pitrace_hook itrace_interrupts_list[] = {
	PITRACE_TRACEPOINT("irq_handler_entry", itrace_interrupts_on_device_entry),
	PITRACE_TRACEPOINT("irq_handler_exit", itrace_interrupts_on_device_exit),
	PITRACE_ARCH_VECTORS(VECTOR_HOOKS)
};

const struct pitrace_hook_set pitrace_it_interrupt_hooks = { itrace_interrupts_list,
							     ARRAY_SIZE(itrace_interrupts_list) };

/* Does this kernel pass to these tracepoints what the probes take? */
static void __maybe_unused itrace_interrupts_check_types(void)
{
	check_trace_callback_type_irq_handler_entry(itrace_interrupts_on_device_entry);
	check_trace_callback_type_irq_handler_exit(itrace_interrupts_on_device_exit);
	check_trace_callback_type_local_timer_entry(itrace_interrupts_on_vector_entry);
	check_trace_callback_type_local_timer_exit(itrace_interrupts_on_vector_exit);
}
