/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/* What PTT tells of threads and CPUs. C, C++ and kernel. */
#ifndef PITRACE_PTT_DATA_H
#define PITRACE_PTT_DATA_H

#include <linux/types.h>

#define PITRACE_PTT_METRICS 8 /* at most, at a time */

/*
 * What the module publishes of one thread, for that thread alone to read.
 *
 * Changed only while the thread does not run in user mode, on the CPU that it comes back to. What
 * the thread has had of a metric is value + its counter on this CPU, now (modulo 2^64); that holds
 * as long as changes stands still. So a thread reads changes, value, the counter, and changes once
 * more, and begins again when it has changed; then it looks at active. As only its own CPU interrupts
 * it, no fences are needed, but the compiler must keep the order.
 *
 * The paper's reader adds the accumulated value and the difference to the counter of the last
 * change; value is the one minus the other.
 */
struct pitrace_ptt_slot {
	__u64 changes; /* dispatches of the thread, and interrupts, hard and soft, that ended in it */
	__u32 active; /* 0: nobody counts this thread any more, and value means nothing */
	__u16 last_vector; /* of the last hard interrupt that ended in it, or PITRACE_PTT_DEVICE; 0: withheld */
	__u16 last_softs; /* soft interrupts that have run on its way out */
	__u64 dispatches; /* of the thread since PTT has counted it */
	__u64 interrupts;
	__u64 value[PITRACE_PTT_METRICS];
	__u64 reserved_words[4]; /* to two cache lines */
};

/*
 * What interrupts leave on the thread that they meet: cycles before their first and after their last
 * hook. These are taken from the thread and given to its CPU's interrupts.
 */
struct pitrace_ptt_residue {
	__u16 hard[264]; /* by vector; PITRACE_PTT_DEVICE for all interrupts of devices */
	__u16 first_soft; /* more for the first soft interrupt on the way out */
	__u16 next_soft; /* and for each other */
	/* What a dispatch leaves on a thread that is made to wait and comes back: that varies, and is only
	 * told. 0: not measured.
	 */
	__u32 dispatch_least;
	__u32 dispatch_median;
	__u32 dispatch_most;
};
#define PITRACE_PTT_DEVICE 256

/* What one thread has had. */
struct pitrace_ptt_thread {
	__u32 pid; /* process, in the initial pid namespace */
	__u32 tid;
	__u32 flags; /* PITRACE_PTT_ENDED */
	__u32 reserved;
	__u64 dispatches;
	__u64 interrupts;
	__u64 value[PITRACE_PTT_METRICS];
	char name[16];
};
#define PITRACE_PTT_ENDED 1

/* Of each metric elapsed = the threads that ran here + interrupt + idle + tool. */
struct pitrace_ptt_cpu {
	__u32 cpu;
	__u32 flags; /* PITRACE_PTT_CPU_* */
	__u64 dispatches;
	__u64 interrupts;
	__u64 idle_dispatches; /* among them */
	__u64 idle_interrupts;
	__u64 tool; /* the module's own hooks, in cycles; of other metrics they are in what they lead to */
	__u64 elapsed[PITRACE_PTT_METRICS];
	__u64 interrupt[PITRACE_PTT_METRICS];
	__u64 idle[PITRACE_PTT_METRICS];
};
#define PITRACE_PTT_CPU_COUNTERS_LOST 1 /* a counter was taken away or could not be had */

#endif /* PITRACE_PTT_DATA_H */
