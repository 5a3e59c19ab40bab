/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Call stacks at the end of records (PITRACE_STACK_* in pitrace/abi.h). For a source, in this order
 * and with preemption off from the first to the last:
 *	ints = pitrace_stack_collect(&stack, regs);
 *	(reserves 4 * ints bytes more than without, encodes with that many extra ints)
 *	pitrace_stack_finish(data, &stack, ints);
 */
#ifndef PITRACE_STACK_H
#define PITRACE_STACK_H

#include <linux/compiler.h>
#include <linux/types.h>

#include <pitrace/encode.h>

struct pt_regs;

/* Where frames are gathered before it is known how large the record becomes. */
struct pitrace_frames {
	u64 kernel[PITRACE_STACK_DEPTH_MAX];
	u64 user[PITRACE_STACK_DEPTH_MAX];
	bool taken;
};

struct pitrace_stack {
	struct pitrace_frames *frames; /* NULL: they were taken */
	u32 flags; /* PITRACE_STACK_*_BROKEN and _CUT */
	u32 kernel_frames;
	u32 user_frames;
};

/*
 * Which stacks are wanted, PITRACE_STACKS_*; 0: none. A plain flag: that is one load and one branch
 * of what a record costs. A static key would save them, and patch code on all processors at each
 * change.
 */
extern u32 pitrace_stacks_wanted;

/* The two that do the work; returns ints as pitrace_stack_collect(). */
u32 pitrace_stack_take(struct pitrace_stack *stack, struct pt_regs *regs);
void pitrace_stack_give(u32 *data, struct pitrace_stack *stack);

/*
 * regs: of what an interrupt or event met; NULL: current's own stack from here on, without the frames of
 * this module and of the tracepoint that called it. Returns the ints that it adds to the record; 0
 * when no stacks are wanted. In any context; never sleeps, faults or allocates.
 */
static __always_inline u32 pitrace_stack_collect(struct pitrace_stack *stack, struct pt_regs *regs)
{
	if (likely(!READ_ONCE(pitrace_stacks_wanted)))
		return 0;
	return pitrace_stack_take(stack, regs);
}

/* data: the place in the record, or NULL when there was none for it. */
static __always_inline void pitrace_stack_finish(u32 *data, struct pitrace_stack *stack, u32 ints)
{
	if (unlikely(ints))
		pitrace_stack_give(data, stack);
}

/* Is a stack being gathered where this is called, by whoever was met here? Preemption is off. */
bool pitrace_stack_is_gathered(void);

/* ---- the architecture's part: return how many frames, at most depth, and add to *flags ---- */

/*
 * As pitrace_stack_collect(); not for regs of user mode. iterator: address of the function that calls a tracepoint's
 * probes, whose frame is left out like those of this module; 0: none.
 */
u32 pitrace_arch_kernel_frames(struct pt_regs *regs, unsigned long iterator, u64 *frames, u32 depth,
			       u32 *flags);
/* The frames behind the registers with which current runs, or has entered the kernel. */
u32 pitrace_arch_user_frames(struct pt_regs *regs, u64 *frames, u32 depth, u32 *flags);

/* Both under the session lock, while no source runs. 0, -EINVAL or -ENOMEM. */
int pitrace_stacks_set(const struct pitrace_stacks *stacks);
void pitrace_stacks_reset(void);

#endif /* PITRACE_STACK_H */
