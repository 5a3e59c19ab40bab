/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose time it is at the end of a hard interrupt, and in a soft one.
 *
 * Soft interrupts belong to the interrupt on whose way out they run, and to the task that calls for
 * them (ksoftirqd, the end of a section that held them off) otherwise. Which it is no hook tells. They
 * are taken to run on the way out when they were pending at the end of the interrupt, which had not
 * interrupted one of them, and preemption is as far off as it was then: a section that ends has it
 * off once more. In the idle task nobody else calls for them.
 *
 * Nothing is kept by counting entries and exits; it is asked of the kernel at each of them, so that no hook
 * that a kernel lacks can put it out of step. All on the CPU itself and with interrupts off.
 */
#ifndef PITRACE_IRQ_EXIT_H
#define PITRACE_IRQ_EXIT_H

#include <linux/bits.h>
#include <linux/interrupt.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>

struct pitrace_irq_exit {
	bool in_softirq; /* in a soft interrupt that runs on the way out */
	u32 pending; /* soft interrupts that have still to run on the way out */
	u32 preempt_count; /* of what was interrupted */
};

static __always_inline void pitrace_irq_exit_reset(struct pitrace_irq_exit *state)
{
	state->in_softirq = false;
	state->pending = 0;
}

static __always_inline void pitrace_irq_exit_switched(struct pitrace_irq_exit *state)
{
	state->pending = 0;
}

/* At the exit of a hard interrupt: does what it has interrupted go on, be it to its way out? */
static __always_inline bool pitrace_irq_exit_hardirq_done(struct pitrace_irq_exit *state)
{
	if (hardirq_count() > HARDIRQ_OFFSET || state->in_softirq)
		return false;
	if (!in_serving_softirq()) {
		/* Where soft interrupts are held off, they wait for the end of that. */
		state->pending = softirq_count() ? 0 : local_softirq_pending();
		state->preempt_count = preempt_count() & PREEMPT_MASK;
	}
	return true;
}

static inline bool pitrace_is_ksoftirqd(const struct task_struct *task)
{
	static const char name[] = "ksoftirqd/";

	return (task->flags & PF_KTHREAD) && !strncmp(task->comm, name, sizeof(name) - 1);
}

/* At the entry of a soft interrupt: does it run on the way out of a hard one? */
static __always_inline bool pitrace_irq_exit_softirq_begins(struct pitrace_irq_exit *state)
{
	state->in_softirq =
		is_idle_task(current) ||
		(state->pending && state->preempt_count == (preempt_count() & PREEMPT_MASK) &&
		 !pitrace_is_ksoftirqd(current));
	return state->in_softirq;
}

/* At its exit: did it? */
static __always_inline bool pitrace_irq_exit_softirq_done(struct pitrace_irq_exit *state,
							  unsigned int number)
{
	if (!state->in_softirq)
		return false;
	state->in_softirq = false;
	state->pending &= ~BIT(number);
	/* Raised meanwhile: they run before the way out ends. */
	state->pending |= local_softirq_pending();
	return true;
}

#endif /* PITRACE_IRQ_EXIT_H */
