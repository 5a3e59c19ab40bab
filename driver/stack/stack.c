// SPDX-License-Identifier: GPL-2.0-only
/* Which stacks are added to records, and the memory in which their frames are gathered. */

#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/tracepoint.h>

#include "core/compat.h"
#include "core/owner.h"
#include "copy.h"
#include "stack.h"

u32 pitrace_stacks_wanted __read_mostly;

/* Each level can interrupt those before it, and not itself. */
enum level {
	LEVEL_TASK,
	LEVEL_SOFT_INTERRUPT,
	LEVEL_INTERRUPT,
	LEVEL_NMI,
	LEVELS,
};

struct gathering {
	struct pitrace_frames of[LEVELS];
};

/* Changed while no source runs. Allocated, as a module's static per-CPU memory is scarce. */
static struct gathering __percpu *stack_gathering;
static u32 stack_depth;
static unsigned long stack_iterator; /* function that calls the probes of sched_switch when there are several */

static enum level stack_level_here(void)
{
	if (in_nmi())
		return LEVEL_NMI;
	if (in_hardirq())
		return LEVEL_INTERRUPT;
	return in_serving_softirq() ? LEVEL_SOFT_INTERRUPT : LEVEL_TASK;
}

bool pitrace_stack_is_gathered(void)
{
	return READ_ONCE(pitrace_stacks_wanted) &&
	       this_cpu_ptr(stack_gathering)->of[stack_level_here()].taken;
}

/* Kernel threads have no user stack, but some that serve a process borrow or share its memory. */
static struct pt_regs *stack_user_registers(struct pt_regs *regs)
{
	struct pt_regs *user = regs && user_mode(regs) ? regs : task_pt_regs(current);

	if (!current->mm || pitrace_task_is_kernel_only(current) || !user_mode(user))
		return NULL;
	return user;
}

static void stack_take_user(struct pitrace_stack *stack, struct pt_regs *regs)
{
	struct pt_regs *user = stack_user_registers(regs);
	u64 *frames = stack->frames->user;
	u32 count = 0;
	bool may_read;

	if (!user)
		return;
	if (!pitrace_arch_registers_are_whole(user, regs)) {
		stack->flags |= PITRACE_STACK_USER_BROKEN;
		return;
	}
	/* The record has no user address yet: the first frame is where the thread entered the kernel. */
	if (user != regs)
		frames[count++] = instruction_pointer(user);
	may_read = pitrace_opener_may_read_current();
	stack->id = pitrace_copy_take(user, may_read);
	if (stack->id)
		stack->flags |= PITRACE_STACK_USER_ID;
	else
		count += pitrace_arch_user_frames(user, frames + count, stack_depth - count,
						  !may_read, &stack->flags);
	stack->user_frames = count;
}

/*
 * An event that occurs while frames are gathered (a tracepoint) can itself be recorded with a stack. It gets an empty one
 * that is marked as broken.
 */
u32 pitrace_stack_take(struct pitrace_stack *stack, struct pt_regs *regs)
{
	struct pitrace_frames *frames = &this_cpu_ptr(stack_gathering)->of[stack_level_here()];
	const u32 wanted = READ_ONCE(pitrace_stacks_wanted);

	*stack = (struct pitrace_stack){};
	if (unlikely(frames->taken)) {
		stack->flags = PITRACE_STACK_KERNEL_BROKEN | PITRACE_STACK_USER_BROKEN;
		return pitrace_stack_ints(0, 0, 0);
	}
	frames->taken = true;
	barrier();
	stack->frames = frames;
	if ((wanted & PITRACE_STACKS_KERNEL) && !(regs && user_mode(regs)))
		stack->kernel_frames = pitrace_arch_kernel_frames(
			regs, stack_iterator, frames->kernel, stack_depth, &stack->flags);
	if (wanted & PITRACE_STACKS_USER)
		stack_take_user(stack, regs);
	return pitrace_stack_ints(stack->flags, stack->kernel_frames, stack->user_frames);
}

void pitrace_stack_give(u32 *data, struct pitrace_stack *stack)
{
	struct pitrace_frames *frames = stack->frames;

	if (data)
		pitrace_put_stack(data, stack->flags, frames ? frames->kernel : NULL,
				  stack->kernel_frames, frames ? frames->user : NULL,
				  stack->user_frames, stack->id);
	barrier();
	if (frames)
		frames->taken = false;
}

int pitrace_stacks_set(const struct pitrace_stacks *stacks)
{
	struct tracepoint *dispatch;

	if ((stacks->which & ~(PITRACE_STACKS_KERNEL | PITRACE_STACKS_USER)) || !stacks->depth ||
	    stacks->depth > PITRACE_STACK_DEPTH_MAX)
		return -EINVAL;
	if (!stacks->which) {
		pitrace_stacks_reset();
		return 0;
	}
	if (!stack_gathering)
		stack_gathering = alloc_percpu(struct gathering);
	if (!stack_gathering)
		return -ENOMEM;
	dispatch = pitrace_find_tracepoint("sched_switch");
	stack_iterator = dispatch ? (unsigned long)dispatch->iterator : 0;
	stack_depth = stacks->depth;
	WRITE_ONCE(pitrace_stacks_wanted, stacks->which);
	return 0;
}

void pitrace_stacks_reset(void)
{
	WRITE_ONCE(pitrace_stacks_wanted, 0);
	free_percpu(stack_gathering);
	stack_gathering = NULL;
}
