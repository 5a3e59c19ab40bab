// SPDX-License-Identifier: GPL-2.0-only
/* Dispatches, and what leads to them: wake-ups and migrations. */

#include <linux/mm_types.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <trace/events/sched.h>

#include "core/probes.h"
#include "core/record.h"
#include "sources.h"
#include "stack/stack.h"

/*
 * As the kernel's own trace tells it: whoever is preempted wants to go on, whatever it was about
 * to become; a thread that waits for a lock of PREEMPT_RT or is frozen waits for no signal.
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
 * All of these run under the scheduler's locks, with interrupts off: nothing on the way from here to
 * the ring may wake anybody. Waking the reader is left to an interrupt (reader.c).
 */
static void hook_dispatch_on_switch(void *data, bool preempted, struct task_struct *previous,
				    struct task_struct *next, unsigned int previous_state)
{
	struct pitrace_stack stack;
	/* previous is current still. */
	const u32 ints = pitrace_stack_collect(&stack, NULL);
	u32 *behind = NULL;
	void *place;
	u64 time;

	place = pitrace_begin(PITRACE_BUFFER_TRACE, PITRACE_DISPATCH_SIZE + 4 * ints, &time);
	if (likely(place))
		behind = pitrace_encode_dispatch(place, (u32)time, next->tgid, next->pid,
						 hook_dispatch_state_of(preempted, previous_state),
						 ints);
	pitrace_stack_finish(behind, &stack, ints);
	if (likely(place))
		pitrace_end(PITRACE_BUFFER_TRACE);
}

/*
 * sched_waking comes before the thread is put into any queue, and so before its dispatch; on this
 * CPU, where who wakes it can be told. With soft interrupts merely disabled nobody is interrupted:
 * in_task() is true then, where in_interrupt() would be as well.
 */
static void hook_dispatch_on_wakeup(void *data, struct task_struct *task)
{
	const u32 interrupt = in_task() ? 0 : PITRACE_WAKEUP_INTERRUPT;
	const u32 ints[] = { task->pid, current->pid, task_cpu(task) | interrupt };

	pitrace_write_ints_here(PITRACE_BUFFER_TRACE, PITRACE_MAJOR_DISPATCH,
				PITRACE_DISPATCH_WAKEUP, ints, ARRAY_SIZE(ints));
}

/* Some callers move a thread to where it is. */
static void hook_dispatch_on_migrate(void *data, struct task_struct *task, int cpu)
{
	const u32 ints[] = { task->pid, cpu };

	if (task_cpu(task) != cpu)
		pitrace_write_ints_here(PITRACE_BUFFER_TRACE, PITRACE_MAJOR_DISPATCH,
					PITRACE_DISPATCH_MIGRATE, ints, ARRAY_SIZE(ints));
}

/* Wake-ups first: of a dispatch that is recorded its wake-up is known. */
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
