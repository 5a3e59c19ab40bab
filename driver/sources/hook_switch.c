// SPDX-License-Identifier: GPL-2.0-only
/* Context switches, with both threads and their user stack pointers. */

#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <trace/events/sched.h>

#include "core/probes.h"
#include "core/record.h"
#include "sources.h"

/* As saved when the thread entered the kernel; both threads are in the kernel here. */
static __always_inline u64 hook_switch_user_stack_of(struct task_struct *task)
{
	if (task->flags & PF_KTHREAD)
		return 0;
	return user_stack_pointer(task_pt_regs(task));
}

/* Under the scheduler's locks, as those of hook_dispatch.c. */
static void hook_switch_on_switch(void *data, bool preempted, struct task_struct *previous,
				  struct task_struct *next, unsigned int previous_state)
{
	const u64 from = hook_switch_user_stack_of(previous);
	const u64 to = hook_switch_user_stack_of(next);
	const u32 ints[] = { previous->tgid, previous->pid, (u32)(from >> 32), (u32)from,
			     next->tgid, next->pid, (u32)(to >> 32), (u32)to };

	pitrace_write_ints_here(PITRACE_BUFFER_TRACE, PITRACE_MAJOR_SWITCH, PITRACE_SWITCH_BOTH,
				ints, ARRAY_SIZE(ints));
}

static struct pitrace_hook hooks[] = {
	{ .name = "sched_switch", .type = PITRACE_HOOK_TRACEPOINT, .probe = hook_switch_on_switch },
};

const struct pitrace_hook_set pitrace_switch_hooks = { hooks, ARRAY_SIZE(hooks) };

/* Does this kernel pass what the probe takes? */
static void __maybe_unused hook_switch_check_types(void)
{
	check_trace_callback_type_sched_switch(hook_switch_on_switch);
}
