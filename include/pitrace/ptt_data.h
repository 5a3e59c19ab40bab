/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/* PTT's data of threads and CPUs. C, C++ and kernel. */
#ifndef PITRACE_PTT_DATA_H
#define PITRACE_PTT_DATA_H

#include <linux/types.h>

#define PITRACE_PTT_METRICS 8 /* maximum of an instance */

/*
 * What the module publishes about one thread, for that thread alone to read.
 *
 * It changes only while the thread does not run in user mode, on the CPU that it returns to. The
 * thread's count of a metric is value + the counter of this CPU, now (modulo 2^64), as long as changes
 * does not change. So the thread reads changes, value, the counter, and changes once more, and starts
 * again if it has changed; then it checks active. As only its own CPU interrupts it, no fences are
 * needed, but the compiler must keep the order.
 *
 * The reader in the Symposium paper adds two numbers, the accumulated count and the counter's
 * increase since the last change; value is the accumulated count minus the counter at that change.
 */
struct pitrace_ptt_slot {
	__u64 changes; /* dispatches of the thread, and hard IRQs and softirqs that ended in it */
	__u32 active; /* 0: the thread is not counted any more, and value is invalid */
	__u16 last_vector; /* of the last hard IRQ that ended in it, or PITRACE_PTT_DEVICE; 0: withheld */
	__u16 last_softs; /* softirqs that ran in its irq_exit() */
	__u64 dispatches; /* of the thread since PTT began to count it, or since its last exec */
	__u64 interrupts;
	__u64 value[PITRACE_PTT_METRICS];
	__u64 reserved_words[4]; /* to two cache lines */
};

/*
 * Residue, the residual overhead that interrupts leave on the interrupted thread: cycles before their
 * first and after their last hook. They are subtracted from the thread and charged to its CPU's interrupts.
 */
struct pitrace_ptt_residue {
	__u16 hard[264]; /* by vector; PITRACE_PTT_DEVICE for all interrupts of devices */
	__u16 first_soft; /* additional for the first softirq in irq_exit() */
	__u16 next_soft; /* and for each further one */
	/* Residue of a dispatch on a thread that waits and runs again: it varies, so it is only
	 * reported, not subtracted. 0: not measured.
	 */
	__u32 dispatch_least;
	__u32 dispatch_median;
	__u32 dispatch_most;
};
#define PITRACE_PTT_DEVICE 256

/* Counts of one thread. */
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

/* For each metric: elapsed = the threads that ran here + interrupt + idle + tool. */
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
