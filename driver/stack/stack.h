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

/* Memory for frames until the size of the record is known. */
struct pitrace_frames {
	u64 kernel[PITRACE_STACK_DEPTH_MAX];
	u64 user[PITRACE_STACK_DEPTH_MAX];
	bool taken;
};

struct pitrace_stack {
	struct pitrace_frames *frames; /* NULL: they were in use */
	u32 flags; /* PITRACE_STACK_*_BROKEN, _CUT and _USER_ID */
	u32 kernel_frames;
	u32 user_frames;
	u32 id; /* of the copy, or 0 */
};

/*
 * Which stacks are requested, PITRACE_STACKS_*; 0: none. A plain variable costs each record one load and one branch. A
 * static key would save them, and patch code on all CPUs at each change.
 */
extern u32 pitrace_stacks_wanted;

/* Out-of-line parts of the two inline functions; the first one returns ints as pitrace_stack_collect(). */
u32 pitrace_stack_take(struct pitrace_stack *stack, struct pt_regs *regs);
void pitrace_stack_give(u32 *data, struct pitrace_stack *stack);

/*
 * regs: of the code that an interrupt or event interrupted; NULL: the stack of current from here on, without the frames
 * of this module and of the tracepoint that called it. Returns the number of ints that it adds to the record; 0 when no
 * stacks are requested. In any context; never sleeps, faults or allocates.
 */
static __always_inline u32 pitrace_stack_collect(struct pitrace_stack *stack, struct pt_regs *regs)
{
	if (likely(!READ_ONCE(pitrace_stacks_wanted)))
		return 0;
	return pitrace_stack_take(stack, regs);
}

/* data: where the stack is written in the record, or NULL when there was no space for the record. */
static __always_inline void pitrace_stack_finish(u32 *data, struct pitrace_stack *stack, u32 ints)
{
	if (unlikely(ints))
		pitrace_stack_give(data, stack);
}

/* Is a stack being gathered on this CPU, at the context level of the caller? Preemption is off. */
bool pitrace_stack_is_gathered(void);

/* ---- the architecture's part: returns the number of frames, at most depth, and sets bits of *flags ---- */

/*
 * As pitrace_stack_collect(); not for regs of user mode. iterator: address of the function that calls a tracepoint's
 * probes, whose frame is left out like those of this module; 0: none.
 */
u32 pitrace_arch_kernel_frames(struct pt_regs *regs, unsigned long iterator, u64 *frames, u32 depth,
			       u32 *flags);
/*
 * The callers of the user code that regs belong to: those with which current runs or has entered the kernel. A frame pointer can
 * lead to any word of the process; with code_only, one that is no address of executable memory is left out and ends the stack.
 */
u32 pitrace_arch_user_frames(struct pt_regs *regs, u64 *frames, u32 depth, bool code_only,
			     u32 *flags);

/* Are the user's registers on the kernel's stack, and not still to be stored there by code that was interrupted (regs)? */
bool pitrace_arch_registers_are_whole(struct pt_regs *user, struct pt_regs *regs);

/* For pitrace_copy_take(). Are they those of a program whose stack can be unwound from a copy: of 64 bits? */
bool pitrace_arch_has_copy(const struct pt_regs *user);
/* PITRACE_STACK_REGISTERS of them, in the order of PITRACE_MAJOR_STACK_COPY. */
void pitrace_arch_user_registers(const struct pt_regs *user, u64 *registers);
/*
 * The bytes from the stack pointer on, up to the first page that is not in memory; on a signal stack up to its end, then those
 * of the stack that was interrupted. *copied: how many, multiples of 8, together at most bytes.
 */
void pitrace_arch_copy_stack(const struct pt_regs *user, u8 *to, u32 bytes,
			     struct pitrace_copied *copied);

/* Both under the session lock, while no source runs. 0, -EINVAL or -ENOMEM. */
int pitrace_stacks_set(const struct pitrace_stacks *stacks);
void pitrace_stacks_reset(void);

#endif /* PITRACE_STACK_H */
