// SPDX-License-Identifier: GPL-2.0-only
/* The records of a thread's flow: the thread's ids, where the flow begins, branches, gaps, its end. */

#include <linux/cpumask.h>
#include <linux/smp.h>

#include "core/record.h"
#include "itrace.h"

/*
 * In stop-when-full mode the trace has ended, and with it the flow of every thread. With a reader there will be space
 * again, and the flow has a gap until then.
 */
static noinline void itrace_flow_no_space(struct pitrace_it_thread *thread)
{
	if (READ_ONCE(pitrace_gates[PITRACE_BUFFER_TRACE]) == PITRACE_GATE_FULL) {
		WRITE_ONCE(thread->ended, true);
		return;
	}
	if (!thread->gap)
		thread->gap_since = pitrace_clock();
	thread->gap = PITRACE_GAP_ROOM;
	thread->gap_missing += thread->count;
	thread->count = 0;
}

static noinline bool itrace_flow_write(u32 major, u32 minor, const u32 *ints, u32 count)
{
	void *place;
	u64 time;

	place = pitrace_begin(PITRACE_BUFFER_TRACE, pitrace_size_ints(count), &time);
	if (!place)
		return false;
	pitrace_encode_ints(place, (u32)time, major, minor, ints, count);
	pitrace_end(PITRACE_BUFFER_TRACE);
	return true;
}

static noinline bool itrace_flow_announce(struct pitrace_it_cpu *cpu,
					  struct pitrace_it_thread *thread)
{
	const u32 ints[] = { 0, thread->pid };

	if (!itrace_flow_write(PITRACE_MAJOR_ITRACE_THREAD, thread->tid, ints, ARRAY_SIZE(ints)))
		return false;
	cpu->announced = thread;
	cpu->announced_tid = thread->tid;
	return true;
}

static __always_inline bool itrace_flow_is_announced(struct pitrace_it_cpu *cpu,
						     struct pitrace_it_thread *thread)
{
	if (likely(cpu->announced == thread && cpu->announced_tid == thread->tid))
		return true;
	return itrace_flow_announce(cpu, thread);
}

void pitrace_it_forget(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		per_cpu(pitrace_it_cpus, cpu).announced = NULL;
		per_cpu(pitrace_it_cpus, cpu).branches_since_on = 0;
	}
}

void pitrace_it_begin_gap(struct pitrace_it_thread *thread, u8 gap)
{
	if (!thread->gap)
		thread->gap_since = pitrace_clock();
	thread->gap = gap;
}

/* False: there was no space, and the flow has not begun. */
static noinline bool itrace_flow_begin(struct pitrace_it_cpu *cpu, struct pitrace_it_thread *thread,
				       u64 ip)
{
	u32 ints[PITRACE_ITRACE_START_INTS];

	if (!itrace_flow_is_announced(cpu, thread))
		return false;
	if (thread->start_due) {
		pitrace_put_itrace_start(ints, thread->pid, thread->tid, pitrace_it_setup.flags, ip);
		if (!itrace_flow_write(PITRACE_MAJOR_ITRACE_START, 0, ints,
				       PITRACE_ITRACE_START_INTS))
			return false;
		thread->start_due = false;
	} else {
		const u64 gone = pitrace_clock() - thread->gap_since;

		pitrace_put_gap(ints, thread->count, thread->gap_missing,
				(u32)min_t(u64, gone, U32_MAX), ip);
		if (!itrace_flow_write(PITRACE_MAJOR_ITRACE_GAP, thread->gap, ints,
				       PITRACE_GAP_INTS))
			return false;
		cpu->gaps++;
	}
	thread->gap = 0;
	thread->gap_missing = 0;
	thread->count = 0;
	return true;
}

void pitrace_it_begin_block(struct pitrace_it_thread *thread, u64 ip)
{
	if (!itrace_flow_begin(this_cpu_ptr(&pitrace_it_cpus), thread, ip))
		itrace_flow_no_space(thread);
}

void pitrace_it_branch(struct pitrace_it_thread *thread, bool user, u64 from, u64 to)
{
	struct pitrace_it_cpu *cpu = this_cpu_ptr(&pitrace_it_cpus);
	const bool counted = pitrace_it_setup.counted;
	void *place;
	u64 time;

	/* A gap ends at a branch's target: the block before it is part of the gap. */
	if (unlikely(thread->gap)) {
		thread->gap_missing += thread->count;
		thread->count = 0;
		pitrace_it_begin_block(thread, to);
		return;
	}
	if (unlikely(!itrace_flow_is_announced(cpu, thread)))
		return itrace_flow_no_space(thread);
	place = pitrace_begin(PITRACE_BUFFER_TRACE, pitrace_size_branch(counted), &time);
	if (unlikely(!place))
		return itrace_flow_no_space(thread);
	pitrace_encode_branch(place, (u32)time, user, from, to, counted, thread->count);
	pitrace_end(PITRACE_BUFFER_TRACE);
	cpu->branches++;
	/* Written again now and then, for readers of a part of the stream. */
	if (unlikely(!(++cpu->branches_since_on % 256)))
		cpu->announced = NULL;
	thread->count = 0;
}

void pitrace_it_cut(struct pitrace_it_thread *thread, bool user, u32 vector, u64 from)
{
	u32 ints[PITRACE_CUT_INTS];

	if (thread->gap || thread->start_due)
		return;
	pitrace_put_cut(ints, thread->count, from);
	if (!itrace_flow_is_announced(this_cpu_ptr(&pitrace_it_cpus), thread) ||
	    !itrace_flow_write(user ? PITRACE_MAJOR_CUT_USER : PITRACE_MAJOR_CUT_KERNEL, vector,
			       ints, PITRACE_CUT_INTS))
		return itrace_flow_no_space(thread);
	thread->count = 0;
}

void pitrace_it_stop(struct pitrace_it_thread *thread, u32 reason)
{
	struct pitrace_it_cpu *cpu = this_cpu_ptr(&pitrace_it_cpus);
	u32 ints[PITRACE_ITRACE_STOP_INTS];

	WRITE_ONCE(thread->ended, true);
	/* The flow has never begun. */
	if (thread->start_due)
		return;
	/* The last instructions were not followed. */
	if (thread->gap && !itrace_flow_begin(cpu, thread, thread->ip))
		return;
	pitrace_put_itrace_stop(ints, raw_smp_processor_id(), cpu->branches_since_on, thread->tid,
				thread->count, thread->ip);
	if (itrace_flow_is_announced(cpu, thread))
		itrace_flow_write(PITRACE_MAJOR_ITRACE_STOP, reason, ints,
				  PITRACE_ITRACE_STOP_INTS);
}
