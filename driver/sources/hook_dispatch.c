// SPDX-License-Identifier: GPL-2.0-only
/* Dispatches (context switches), wake-ups and migrations. */

#include <linux/mm_types.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <trace/events/sched.h>

#include "core/probes.h"
#include "core/record.h"
#include "sources.h"
#include "stack/stack.h"

/*
 * As in the kernel's own trace event: a preempted thread is runnable, whatever state it has set; a
 * thread that waits for a lock of PREEMPT_RT or is frozen is uninterruptible.
 */
static __always_inline u32 hook_dispatch_state_of(bool preempted, unsigned int state)
{
	if (preempted)
		return PITRACE_STATE_RUNNABLE | PITRACE_STATE_PREEMPTED;
	if (state == TASK_RUNNING)
		return PITRACE_STATE_RUNNABLE;
	if (state & TASK_INTERRUPTIBLE)
		return PITRACE_STATE_SLEEPING;
	if ((state & TASK_IDLE) == TASK_IDLE)
		return PITRACE_STATE_IDLE;
	if (state & (TASK_UNINTERRUPTIBLE | TASK_RTLOCK_WAIT | TASK_FROZEN))
		return PITRACE_STATE_UNINTERRUPTIBLE;
	if (state & (__TASK_STOPPED | __TASK_TRACED))
		return PITRACE_STATE_STOPPED;
	if (state & TASK_DEAD)
		return PITRACE_STATE_DEAD;
	if (state & TASK_PARKED)
		return PITRACE_STATE_PARKED;
	return PITRACE_STATE_OTHER;
}

/*
 * All of these run under the scheduler's locks, with interrupts off: no function called from here may
 * wake a task. An interrupt wakes the reader (reader.c).
 */
static void hook_dispatch_on_switch(void *data, bool preempted, struct task_struct *previous,
				    struct task_struct *next, unsigned int previous_state)
{
	struct pitrace_stack stack;
	/* previous is still current. */
	const u32 ints = pitrace_stack_collect(&stack, NULL);
	u32 *after = NULL;
	void *place;
	u64 time;

	place = pitrace_begin(PITRACE_BUFFER_TRACE, PITRACE_DISPATCH_SIZE + 4 * ints, &time);
	if (likely(place))
		after = pitrace_encode_dispatch(place, (u32)time, next->tgid, next->pid,
						hook_dispatch_state_of(preempted, previous_state),
						ints);
	pitrace_stack_finish(after, &stack, ints);
	if (likely(place))
		pitrace_end(PITRACE_BUFFER_TRACE);
}

/*
 * sched_waking fires before the thread is queued, so before its dispatch, and on this CPU, where the
 * waker is current. A task that has only disabled softirqs is not an interrupt: in_task() is true then,
 * but in_interrupt() would be true as well.
 */
static void hook_dispatch_on_wakeup(void *data, struct task_struct *task)
{
	const u32 interrupt = in_task() ? 0 : PITRACE_WAKEUP_INTERRUPT;
	const u32 ints[] = { task->pid, current->pid, task_cpu(task) | interrupt };

	pitrace_write_ints_here(PITRACE_BUFFER_TRACE, PITRACE_MAJOR_DISPATCH,
				PITRACE_DISPATCH_WAKEUP, ints, ARRAY_SIZE(ints));
}

/* Some callers pass the CPU on which the thread is already. */
static void hook_dispatch_on_migrate(void *data, struct task_struct *task, int cpu)
{
	const u32 ints[] = { task->pid, cpu };

	if (task_cpu(task) != cpu)
		pitrace_write_ints_here(PITRACE_BUFFER_TRACE, PITRACE_MAJOR_DISPATCH,
					PITRACE_DISPATCH_MIGRATE, ints, ARRAY_SIZE(ints));
}

/* Wake-ups first, so that each recorded dispatch has its wake-up recorded. */
static struct pitrace_hook hooks[] = {
	{ .name = "sched_waking",
	  .type = PITRACE_HOOK_TRACEPOINT,
	  .probe = hook_dispatch_on_wakeup },
	{ .name = "sched_wakeup_new",
	  .type = PITRACE_HOOK_TRACEPOINT,
	  .probe = hook_dispatch_on_wakeup },
	{ .name = "sched_migrate_task",
	  .type = PITRACE_HOOK_TRACEPOINT,
	  .probe = hook_dispatch_on_migrate },
	{ .name = "sched_switch",
	  .type = PITRACE_HOOK_TRACEPOINT,
	  .probe = hook_dispatch_on_switch },
};

const struct pitrace_hook_set pitrace_dispatch_hooks = { hooks, ARRAY_SIZE(hooks) };

/* Does this kernel pass what the probes take? */
static void __maybe_unused hook_dispatch_check_types(void)
{
	check_trace_callback_type_sched_waking(hook_dispatch_on_wakeup);
	check_trace_callback_type_sched_wakeup_new(hook_dispatch_on_wakeup);
	check_trace_callback_type_sched_migrate_task(hook_dispatch_on_migrate);
	check_trace_callback_type_sched_switch(hook_dispatch_on_switch);
}
