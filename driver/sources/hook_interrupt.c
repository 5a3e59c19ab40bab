// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts: of devices, of the processor's own vectors (timer, inter-processor ...), and soft ones.
 *
 * The kernel calls the handlers of a line that devices share one after the other, with a hook around
 * each: such a line makes one pair of records a handler.
 */

#include <linux/interrupt.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <trace/events/irq.h>

#include "core/irq_vectors.h"
#include "core/probes.h"
#include "core/record.h"
#include "sources.h"

/* Deeper than interrupts ever nest; what would go beyond has no exit. */
#define DEEPEST 8

/*
 * What a CPU has entered and not left yet. Two of them a CPU, as a hard interrupt may come while the
 * one of the soft interrupts is being changed; hard ones come with interrupts off.
 */
struct nest {
	u32 entered; /* since ON */
	u32 depth;
	struct {
		u32 number;
		u32 count;
	} open[DEEPEST];
};

static DEFINE_PER_CPU(struct nest, hard_nest);
static DEFINE_PER_CPU(struct nest, soft_nest);

static __always_inline void write(u32 minor, u32 number, u32 count)
{
	const u32 ints[] = { number, count };

	pitrace_write_ints_here(PITRACE_BUFFER_TRACE, PITRACE_MAJOR_INTERRUPT, minor, ints,
				ARRAY_SIZE(ints));
}

static __always_inline void enter(struct nest *nest, u32 minor, u32 number)
{
	nest->entered++;
	if (likely(nest->depth < DEEPEST)) {
		nest->open[nest->depth].number = number;
		nest->open[nest->depth].count = nest->entered;
		nest->depth++;
	}
	write(minor, number, nest->entered);
}

/* The exit of one that was entered before its hook was in place is no record. */
static __always_inline void leave(struct nest *nest, u32 minor, u32 number)
{
	u32 at = nest->depth;
	u32 count;

	while (at && nest->open[at - 1].number != number)
		at--;
	if (unlikely(!at))
		return;
	count = nest->open[at - 1].count;
	nest->depth = at - 1;
	write(minor, number | PITRACE_INTERRUPT_NUMBER_EXIT, count);
}

static void on_device_entry(void *data, int irq, struct irqaction *action)
{
	enter(this_cpu_ptr(&hard_nest), PITRACE_INTERRUPT_ENTRY, irq);
}

static void on_device_exit(void *data, int irq, struct irqaction *action, int result)
{
	leave(this_cpu_ptr(&hard_nest), PITRACE_INTERRUPT_EXIT, irq);
}

static void on_vector_entry(void *data, int vector)
{
	enter(this_cpu_ptr(&hard_nest), PITRACE_INTERRUPT_ENTRY, PITRACE_INTERRUPT_VECTOR | vector);
}

static void on_vector_exit(void *data, int vector)
{
	leave(this_cpu_ptr(&hard_nest), PITRACE_INTERRUPT_EXIT, PITRACE_INTERRUPT_VECTOR | vector);
}

/* PREEMPT_RT runs soft interrupts in threads, which stay on their CPU meanwhile. */
static void on_soft_entry(void *data, unsigned int number)
{
	preempt_disable_notrace();
	enter(this_cpu_ptr(&soft_nest), PITRACE_INTERRUPT_SOFT_ENTRY, number);
	preempt_enable_notrace();
}

static void on_soft_exit(void *data, unsigned int number)
{
	preempt_disable_notrace();
	leave(this_cpu_ptr(&soft_nest), PITRACE_INTERRUPT_SOFT_EXIT, number);
	preempt_enable_notrace();
}

#define VECTOR_ENTRY(vector)                  \
	{ .name = #vector "_entry",           \
	  .type = PITRACE_HOOK_TRACEPOINT,    \
	  .probe = on_vector_entry },
#define VECTOR_EXIT(vector)                   \
	{ .name = #vector "_exit",            \
	  .type = PITRACE_HOOK_TRACEPOINT,    \
	  .probe = on_vector_exit },

/* Attached in this order and detached in the reverse one: whatever is entered has an exit. */
static struct pitrace_hook hooks[] = {
	{ .name = "irq_handler_exit", .type = PITRACE_HOOK_TRACEPOINT, .probe = on_device_exit },
	{ .name = "softirq_exit", .type = PITRACE_HOOK_TRACEPOINT, .probe = on_soft_exit },
	PITRACE_ARCH_VECTORS(VECTOR_EXIT)
	{ .name = "irq_handler_entry", .type = PITRACE_HOOK_TRACEPOINT, .probe = on_device_entry },
	{ .name = "softirq_entry", .type = PITRACE_HOOK_TRACEPOINT, .probe = on_soft_entry },
	PITRACE_ARCH_VECTORS(VECTOR_ENTRY)
};

const struct pitrace_hook_set pitrace_interrupt_hooks = { hooks, ARRAY_SIZE(hooks) };

void pitrace_interrupt_reset(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		per_cpu(hard_nest, cpu).entered = 0;
		per_cpu(soft_nest, cpu).entered = 0;
	}
}

int pitrace_interrupt_start(void)
{
	unsigned int cpu;

	/* Exits were missed while the hooks were not in place. */
	for_each_possible_cpu(cpu) {
		per_cpu(hard_nest, cpu).depth = 0;
		per_cpu(soft_nest, cpu).depth = 0;
	}
	pitrace_hooks_attach(hooks, ARRAY_SIZE(hooks));
	return 0;
}

/* Does this kernel pass what the probes take? */
static void __maybe_unused check_types(void)
{
	check_trace_callback_type_irq_handler_entry(on_device_entry);
	check_trace_callback_type_irq_handler_exit(on_device_exit);
	check_trace_callback_type_softirq_entry(on_soft_entry);
	check_trace_callback_type_softirq_exit(on_soft_exit);
}
