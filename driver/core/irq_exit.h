/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decides which account is charged after a hard IRQ and during a softirq.
 *
 * A softirq that runs in irq_exit() is charged to the hard IRQ; one that runs in ksoftirqd, or at the
 * end of a section with softirqs disabled, to the task. No hook reports which of them it is. A softirq
 * is assumed to run in irq_exit() if it was pending at the end of the hard IRQ, if that had not
 * interrupted a softirq, and if the preemption count is the same as then: at the end of a section with
 * softirqs disabled it is higher by one. In the idle task softirqs run only in irq_exit().
 *
 * Entries and exits are not counted; each function reads the kernel's own state, so that a hook which a
 * kernel lacks cannot make the state wrong. All functions run on the CPU itself with interrupts off.
 */
#ifndef PITRACE_IRQ_EXIT_H
#define PITRACE_IRQ_EXIT_H

#include <linux/bits.h>
#include <linux/interrupt.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>

struct pitrace_irq_exit {
	bool in_softirq; /* in a softirq that runs in irq_exit() */
	u32 pending; /* softirqs that have still to run in irq_exit() */
	u32 preempt_count; /* of the interrupted context */
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

/* At the exit of a hard IRQ handler: is the interrupt's time over, except for softirqs in irq_exit()? */
static __always_inline bool pitrace_irq_exit_hardirq_done(struct pitrace_irq_exit *state)
{
	if (hardirq_count() > HARDIRQ_OFFSET || state->in_softirq)
		return false;
	if (!in_serving_softirq()) {
		/* If softirqs are disabled, they run at the end of that section, not in irq_exit(). */
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

/* At the entry of a softirq: does it run in irq_exit()? */
static __always_inline bool pitrace_irq_exit_softirq_begins(struct pitrace_irq_exit *state)
{
	state->in_softirq =
		is_idle_task(current) ||
		(state->pending && state->preempt_count == (preempt_count() & PREEMPT_MASK) &&
		 !pitrace_is_ksoftirqd(current));
	return state->in_softirq;
}

/* At the exit of a softirq: did it run in irq_exit()? */
static __always_inline bool pitrace_irq_exit_softirq_done(struct pitrace_irq_exit *state,
							  unsigned int number)
{
	if (!state->in_softirq)
		return false;
	state->in_softirq = false;
	state->pending &= ~BIT(number);
	/* Those raised meanwhile run before irq_exit() ends. */
	state->pending |= local_softirq_pending();
	return true;
}

#endif /* PITRACE_IRQ_EXIT_H */
