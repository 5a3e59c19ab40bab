/* SPDX-License-Identifier: GPL-2.0-only */
/* The record of a tick (sample), of the timer or of a counter. */
#ifndef PITRACE_TICK_H
#define PITRACE_TICK_H

#include <linux/ptrace.h>
#include <linux/sched.h>

#include "core/record.h"
#include "stack/stack.h"

/*
 * In any context, NMIs included, with preemption off. Returns the time of the tick. Without the
 * interrupted registers there is nothing to record; the tick is counted as lost by its source.
 */
static __always_inline u64 pitrace_record_tick(struct pt_regs *regs)
{
	struct pitrace_stack stack;
	u32 *data = NULL;
	void *place;
	u64 time;
	u32 ints;

	if (unlikely(!regs)) {
		pitrace_write_lost(PITRACE_BUFFER_TRACE, PITRACE_LOST_SOURCE);
		return pitrace_clock();
	}
	ints = pitrace_stack_collect(&stack, regs);
	place = pitrace_begin(PITRACE_BUFFER_TRACE, PITRACE_TPROF_SIZE + 4 * ints, &time);
	if (likely(place))
		data = pitrace_encode_tprof(place, (u32)time, user_mode(regs), current->tgid,
					    current->pid, instruction_pointer(regs), ints);
	else
		time = pitrace_clock();
	pitrace_stack_finish(data, &stack, ints);
	if (likely(place))
		pitrace_end(PITRACE_BUFFER_TRACE);
	return time;
}

/* xorshift32 (Marsaglia). state: never 0. */
static __always_inline u32 pitrace_draw(u32 *state)
{
	u32 random = *state;

	random ^= random << 13;
	random ^= random >> 17;
	random ^= random << 5;
	*state = random;
	return random;
}

#endif /* PITRACE_TICK_H */
