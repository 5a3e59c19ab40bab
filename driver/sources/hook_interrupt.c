// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts: of devices, of the processor's own vectors (timer, inter-processor ...), and softirqs.
 *
 * The kernel calls the handlers of a shared IRQ line one after the other, with tracepoints around each:
 * such a line makes one pair of records per handler.
 */

#include <linux/interrupt.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <trace/events/irq.h>

#include "core/irq_vectors.h"
#include "core/probes.h"
#include "core/record.h"
#include "sources.h"

/* Deeper than interrupts ever nest; a deeper one would have no exit record. */
#define DEEPEST 8

/*
 * Interrupts that a CPU has entered and not left yet. Two per CPU, as a hard IRQ may arrive while that
 * of the softirqs is being changed; hooks of hard IRQs run with interrupts off.
 */
struct nest {
	u32 entered; /* since ON */
	u32 depth;
	struct {
		u32 number;
		u32 count;
	} open[DEEPEST];
};

static DEFINE_PER_CPU(struct nest, hardirq_nest);
static DEFINE_PER_CPU(struct nest, softirq_nest);

static __always_inline void hook_interrupt_write(u32 minor, u32 number, u32 count)
{
	const u32 ints[] = { number, count };

	pitrace_write_ints_here(PITRACE_BUFFER_TRACE, PITRACE_MAJOR_INTERRUPT, minor, ints,
				ARRAY_SIZE(ints));
}

static __always_inline void hook_interrupt_enter(struct nest *nest, u32 minor, u32 number)
{
	nest->entered++;
	if (likely(nest->depth < DEEPEST)) {
		nest->open[nest->depth].number = number;
		nest->open[nest->depth].count = nest->entered;
		nest->depth++;
	}
	hook_interrupt_write(minor, number, nest->entered);
}

/* No record for the exit of an interrupt that was entered before its hook was attached. */
static __always_inline void hook_interrupt_leave(struct nest *nest, u32 minor, u32 number)
{
	u32 at = nest->depth;
	u32 count;

	while (at && nest->open[at - 1].number != number)
		at--;
	if (unlikely(!at))
		return;
	count = nest->open[at - 1].count;
	nest->depth = at - 1;
	hook_interrupt_write(minor, number | PITRACE_INTERRUPT_NUMBER_EXIT, count);
}

static void hook_interrupt_on_device_entry(void *data, int irq, struct irqaction *action)
{
	hook_interrupt_enter(this_cpu_ptr(&hardirq_nest), PITRACE_INTERRUPT_ENTRY, irq);
}

static void hook_interrupt_on_device_exit(void *data, int irq, struct irqaction *action, int result)
{
	hook_interrupt_leave(this_cpu_ptr(&hardirq_nest), PITRACE_INTERRUPT_EXIT, irq);
}

static void hook_interrupt_on_vector_entry(void *data, int vector)
{
	hook_interrupt_enter(this_cpu_ptr(&hardirq_nest), PITRACE_INTERRUPT_ENTRY,
			     PITRACE_INTERRUPT_VECTOR | vector);
}

static void hook_interrupt_on_vector_exit(void *data, int vector)
{
	hook_interrupt_leave(this_cpu_ptr(&hardirq_nest), PITRACE_INTERRUPT_EXIT,
			     PITRACE_INTERRUPT_VECTOR | vector);
}

/* PREEMPT_RT runs softirqs in threads, which do not migrate meanwhile. */
static void hook_interrupt_on_softirq_entry(void *data, unsigned int number)
{
	preempt_disable_notrace();
	hook_interrupt_enter(this_cpu_ptr(&softirq_nest), PITRACE_INTERRUPT_SOFT_ENTRY, number);
	preempt_enable_notrace();
}

static void hook_interrupt_on_softirq_exit(void *data, unsigned int number)
{
	preempt_disable_notrace();
	hook_interrupt_leave(this_cpu_ptr(&softirq_nest), PITRACE_INTERRUPT_SOFT_EXIT, number);
	preempt_enable_notrace();
}

#define VECTOR_ENTRY(vector)               \
	{ .name = #vector "_entry",        \
	  .type = PITRACE_HOOK_TRACEPOINT, \
	  .probe = hook_interrupt_on_vector_entry },
#define VECTOR_EXIT(vector)                \
	{ .name = #vector "_exit",         \
	  .type = PITRACE_HOOK_TRACEPOINT, \
	  .probe = hook_interrupt_on_vector_exit },

/* Attached in this order and detached in the reverse one, so that each entry has an exit. */
static struct pitrace_hook hooks[] = { { .name = "irq_handler_exit",
					 .type = PITRACE_HOOK_TRACEPOINT,
					 .probe = hook_interrupt_on_device_exit },
				       { .name = "softirq_exit",
					 .type = PITRACE_HOOK_TRACEPOINT,
					 .probe = hook_interrupt_on_softirq_exit },
				       PITRACE_ARCH_VECTORS(VECTOR_EXIT){
					       .name = "irq_handler_entry",
					       .type = PITRACE_HOOK_TRACEPOINT,
					       .probe = hook_interrupt_on_device_entry },
				       { .name = "softirq_entry",
					 .type = PITRACE_HOOK_TRACEPOINT,
					 .probe = hook_interrupt_on_softirq_entry },
				       PITRACE_ARCH_VECTORS(VECTOR_ENTRY) };

const struct pitrace_hook_set pitrace_interrupt_hooks = { hooks, ARRAY_SIZE(hooks) };

void pitrace_interrupt_reset(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		per_cpu(hardirq_nest, cpu).entered = 0;
		per_cpu(softirq_nest, cpu).entered = 0;
	}
}

int pitrace_interrupt_start(void)
{
	unsigned int cpu;

	/* Exits were missed while the hooks were not attached. */
	for_each_possible_cpu(cpu) {
		per_cpu(hardirq_nest, cpu).depth = 0;
		per_cpu(softirq_nest, cpu).depth = 0;
	}
	pitrace_hooks_attach(hooks, ARRAY_SIZE(hooks));
	return 0;
}

/* Does this kernel pass what the probes take? */
static void __maybe_unused hook_interrupt_check_types(void)
{
	check_trace_callback_type_irq_handler_entry(hook_interrupt_on_device_entry);
	check_trace_callback_type_irq_handler_exit(hook_interrupt_on_device_exit);
	check_trace_callback_type_softirq_entry(hook_interrupt_on_softirq_entry);
	check_trace_callback_type_softirq_exit(hook_interrupt_on_softirq_exit);
}
