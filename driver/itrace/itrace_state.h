/* SPDX-License-Identifier: GPL-2.0-only */
/* ITrace's lock and state. All other files here use it, and it uses none of them. */
#ifndef PITRACE_ITRACE_STATE_H
#define PITRACE_ITRACE_STATE_H

#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/types.h>

struct pitrace_it_thread;

/* Settings of the installed ITrace; changed only while no thread is traced. */
struct pitrace_it_setup {
	u32 flags; /* PITRACE_ITRACE_* */
	bool kernel;
	bool user;
	bool counted;
	bool branch_traps; /* user code traps at branches where it can */
	u64 reserve; /* bytes of a CPU's buffer that are kept free for the kernel's part; 0: no thread waits */
};
extern struct pitrace_it_setup pitrace_it_setup;

/* Does ITrace run at all? Cleared first when it ends; read in traps. */
extern bool pitrace_it_runs;

/* Changed under lock, which is taken inside the session lock. */
struct pitrace_it_state {
	struct mutex lock;
	bool installed;
	bool tracing; /* the session records */
	bool draining; /* removed, but threads may still have the trap flag */
	bool on_for_all; /* read in any context, too */
	bool shut_down; /* for good: the machine is going down. Set without the lock, too */
};
extern struct pitrace_it_state pitrace_it_state;

struct pitrace_it_cpu {
	struct pitrace_it_thread *running; /* may be stale: compare its task */
	struct pitrace_it_thread *announced; /* the thread of the last THREAD record, to which the next records belong */
	struct pitrace_it_thread *interrupted; /* the thread whose code an interrupt handler interrupts */
	u32 announced_tid;
	u32 branches_since_on;
	u32 bad_change; /* the last one that itrace_tf_next[] does not have: from << 8 | to; or 0 */
	u64 branches;
	u64 steps;
	u64 gaps;
};

DECLARE_PER_CPU(struct pitrace_it_cpu, pitrace_it_cpus);

#endif /* PITRACE_ITRACE_STATE_H */
