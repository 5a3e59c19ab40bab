/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PTT, what each thread costs: what its files share.
 *
 * A CPU charges one account at a time. Charging begins by taking the counters' values from the account and
 * ends by adding them: in between, account + counter is what it has had, which is what a thread's
 * reader computes as well. So no moment belongs to two accounts or to none.
 *
 * What a CPU charges is changed on that CPU only, with interrupts off. The PTT lock is held over
 * everything else: starting and stopping, dumping, slots; with the session lock and the AboveIdle lock
 * it has nothing to do, and nothing is copied from or to user space under it.
 */
#ifndef PITRACE_PTT_H
#define PITRACE_PTT_H

#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/types.h>

#include <pitrace/ptt_abi.h>

#include "core/irq_exit.h"

/* A slot that shows a thread's account, or is in its area's list of free ones. */
struct pitrace_ptt_bound {
	struct pitrace_ptt_slot *slot;
	struct pitrace_ptt_account *account; /* under the PTT lock */
	struct llist_node link; /* while it is free */
	struct llist_head *free; /* where it goes then; the area is there as long as hooks can find this */
	u32 number; /* in its area */
	u32 shown; /* metrics, a bit each */
	bool in_part; /* of the values, or of the interrupts, something is not for the thread */
	bool vectors; /* the interrupts are */
	const struct cred *cred; /* a reference, of the thread when it got the slot; to compare with */
};

/* What a user may see of threads of its own, beside cycles. */
enum pitrace_ptt_sees {
	PITRACE_PTT_SEES_CYCLES,
	PITRACE_PTT_SEES_USER, /* counters that leave out the kernel */
	PITRACE_PTT_SEES_KERNEL,
};

/* Of a thread. Two cache lines; the first is all that an interrupt changes, but for its count. */
struct pitrace_ptt_account {
	u64 value[PITRACE_PTT_METRICS];
	struct task_struct *task; /* to compare with only; NULL: ended */
	u32 pid;
	u32 tid;
	u64 dispatches;
	u64 interrupts;
	struct pitrace_ptt_bound *bound; /* or NULL; RCU */
	u32 epoch; /* in which it was charged last (ptt_dump.c) */
	u32 saved; /* where what it had before that is; PITRACE_PTT_NOT_SAVED: it is new */
	char name[TASK_COMM_LEN]; /* when it was first met, then when it ended */
} __aligned(64);

struct pitrace_ptt_cpu_state {
	bool open; /* this CPU charges */
	u32 epoch; /* that of every account that it charges */
	struct pitrace_ptt_account *thread; /* of who runs; never NULL while open */
	struct pitrace_ptt_account *charged; /* thread, or interrupt */
	u64 at[PITRACE_PTT_METRICS]; /* the counters at the last change */
	u64 tool;
	struct pitrace_irq_exit irq_exit;
	u16 last_vector; /* of the last hard interrupt that ended */
	u16 last_softs; /* on its way out */
	struct perf_event *event[PITRACE_PTT_METRICS]; /* NULL: counts nothing */
	u64 dispatches;
	struct pitrace_ptt_account interrupt;
	struct pitrace_ptt_account idle;
	struct pitrace_ptt_account without_account; /* of threads that found no account */
	u64 elapsed[PITRACE_PTT_METRICS]; /* charged from open to close, as accounts are */
	/* What is not for the hooks. */
	bool counters_lost;
	bool counters_stale;
} ____cacheline_aligned;

/* ---- ptt_instance.c: what all other files use; it uses none of them ---- */

extern struct mutex pitrace_ptt_lock;

/* Under the PTT lock. */
struct pitrace_ptt_instance {
	bool active;
	u32 number;
	struct file *owner; /* NULL: it lasts until TERM */
	pid_t owner_pid;
	struct pitrace_ptt_snapshot *last; /* final counts of the instance that has ended, or NULL */
	bool ints; /* whether the next instance separates interrupts */
};

extern struct pitrace_ptt_instance pitrace_ptt_instance;

/* Setup of the instance; changed under the PTT lock while no CPU charges. */
struct pitrace_ptt_setup {
	u32 metrics;
	u32 cycles; /* which metric; PITRACE_PTT_METRICS: none */
	bool ints;
	struct pitrace_ptt_residue residue; /* changed while CPUs charge */
	struct pitrace_ptt_metric metric[PITRACE_PTT_METRICS];
};

extern struct pitrace_ptt_setup pitrace_ptt_setup;

DECLARE_PER_CPU(struct pitrace_ptt_cpu_state, pitrace_ptt_cpus);

/* ---- ptt_threads.c: accounts of threads ---- */

/* Accounts by number; by_tid has the number of a thread's account, 0: none, so that one is never used. */
struct pitrace_ptt_table {
	struct pitrace_ptt_account *account;
	u32 *by_tid;
	u32 tids; /* by_tid has so many */
};

extern struct pitrace_ptt_table pitrace_ptt_table;

/* NULL: it has none. A thread may be gone but for its last dispatch when another gets its id. */
static __always_inline struct pitrace_ptt_account *pitrace_ptt_find(u32 tid,
								    const struct task_struct *task)
{
	struct pitrace_ptt_account *account;

	if (unlikely(tid >= pitrace_ptt_table.tids))
		return NULL;
	account = pitrace_ptt_table.account + READ_ONCE(pitrace_ptt_table.by_tid[tid]);
	return likely(account->task == task) ? account : NULL;
}

/* Under the PTT lock, while no CPU charges. 0 or -ENOMEM. */
int pitrace_ptt_threads_alloc(u32 threads, u32 pids);
void pitrace_ptt_threads_free(void);
/* Recording paths, with interrupts off. adopt: NULL: no account is free; epoch: this CPU's. end: the task is current. */
struct pitrace_ptt_account *pitrace_ptt_account_alloc(struct task_struct *task, u32 epoch);
void pitrace_ptt_end(struct pitrace_ptt_account *account, const struct task_struct *task);
/* The account goes on without the slot that it has, if any. On its CPU, with interrupts off. */
void pitrace_ptt_end_slot(struct pitrace_ptt_account *account);
/* Under the PTT lock. next: the number of the first account from there on that is in use; 0: none is. */
u32 pitrace_ptt_threads_room(void);
u32 pitrace_ptt_threads_used(void);
u32 pitrace_ptt_next_thread(u32 number);
/* Adds what was forgotten to make room. */
void pitrace_ptt_forgotten(struct pitrace_ptt_dump *dump);
void pitrace_ptt_threads_exit(void);

/* ---- ptt_epoch.c: CPUs save accounts for a dump ---- */

/* Sums of the threads without an account, for one CPU. */
struct pitrace_ptt_without_account {
	u64 dispatches;
	u64 interrupts;
	u64 value[PITRACE_PTT_METRICS];
};

struct pitrace_ptt_snapshot {
	refcount_t users;
	struct pitrace_ptt_dump head;
	struct pitrace_ptt_thread *thread;
	struct pitrace_ptt_cpu *cpu;
	struct pitrace_ptt_without_account *without_account;
};

/* Copy of an account, made when a CPU was about to charge it in the new epoch. */
struct pitrace_ptt_saved {
	u64 value[PITRACE_PTT_METRICS];
	u64 dispatches;
	u64 interrupts;
};

struct pitrace_ptt_cut {
	struct pitrace_ptt_snapshot *snapshot;
	struct pitrace_ptt_saved *saved;
	u32 room; /* rows of the snapshot, and entries of saved */
	atomic_t used; /* entries; those beyond room were not stored */
	bool direct; /* no CPU charges: nothing is saved, accounts are copied directly */
};

#define PITRACE_PTT_NOT_SAVED 0xfffffffeu

/* Changed by dumps, under the PTT lock. */
extern u32 pitrace_ptt_epoch;
/* Recording path: this CPU, which has ended its charge, will charge an account of another epoch. Interrupts are off. */
void pitrace_ptt_epochs_differ(struct pitrace_ptt_cpu_state *cpu,
			       struct pitrace_ptt_account *account);
/* On the CPU itself with interrupts off, after pitrace_ptt_update_counters(). */
void pitrace_ptt_enter_epoch(struct pitrace_ptt_cpu_state *state);
/* For a dump, under the PTT lock. end: may sleep; on return no CPU uses the cut. */
void pitrace_ptt_epoch_begin(struct pitrace_ptt_cut *cut);
void pitrace_ptt_epoch_end(void);
/* charging: the CPU's charge has not ended, so the account that it charges lacks the counters' values (state->at). */
void pitrace_ptt_copy_cpu(struct pitrace_ptt_snapshot *snapshot, unsigned int cpu, bool charging);
/* Adds PITRACE_PTT_METRICS values. */
void pitrace_ptt_add(u64 to[], const u64 what[]);

/* ---- ptt_state.c: the state machine ---- */

/* 0 or -EOPNOTSUPP. CPUs do not charge yet; on return of detach no hook runs any more. */
int pitrace_ptt_hooks_attach(void);
void pitrace_ptt_hooks_detach(void);
/* On the CPU itself, with interrupts off. */
void pitrace_ptt_open_cpu(void *unused);
void pitrace_ptt_close_cpu(void *unused);
/* Brings cpu->at up to date, so that what is charged, and it, are what it has had until now. */
void pitrace_ptt_update_counters(struct pitrace_ptt_cpu_state *cpu);
/* Another event, or NULL, for one metric; nobody is charged for the difference. */
void pitrace_ptt_change_event(struct pitrace_ptt_cpu_state *cpu, u32 metric,
			      struct perf_event *event);

/* The slot of the thread that runs on this CPU, if any, gets what its account has. */
void pitrace_ptt_publish(struct pitrace_ptt_cpu_state *cpu);

/* ---- ptt_current.c ---- */

/*
 * For current. bind: has the slot tell of it from now on. -ENXIO: this CPU does not charge; -ENOSPC: it has
 * no account; -EALREADY: another slot does; -EACCES: no metric is for it; unbind: -EINVAL: none does.
 */
int pitrace_ptt_bind(struct pitrace_ptt_bound *bound, enum pitrace_ptt_sees sees);
int pitrace_ptt_unbind(void);
int pitrace_ptt_read(struct pitrace_ptt_read *read, enum pitrace_ptt_sees sees);

/* ---- ptt_rights.c ---- */

/* Of the caller. May sleep. */
enum pitrace_ptt_sees pitrace_ptt_rights(void);
/* Metrics of this instance, a bit each. */
u32 pitrace_ptt_shown(enum pitrace_ptt_sees sees);

/* ---- ptt_counters.c: perf counters, one a metric and CPU ---- */

/* All under the PTT lock, and may sleep. start: 0, or what the kernel says of a metric. */
int pitrace_ptt_counters_start(void);
void pitrace_ptt_counters_stop(void);
/* After CPUs came or went. */
void pitrace_ptt_counters_adjust(void);
/* Was one of this CPU's taken away, or not to be had? */
bool pitrace_ptt_counters_lost(unsigned int cpu);
/* From a hot-plug callback: whatever counts on that CPU does so no more. */
void pitrace_ptt_counters_invalidate(unsigned int cpu);

/* ---- ptt_dump.c: all accounts at one cut ---- */

/* Under the PTT lock, of the instance, whether CPUs still charge or not. NULL: no memory. May sleep. */
struct pitrace_ptt_snapshot *pitrace_ptt_snapshot_take(void);
void pitrace_ptt_snapshot_put(struct pitrace_ptt_snapshot *snapshot);

/* ---- ptt_area.c: slots, and the device whose users have them ---- */

/* All under the PTT lock. Slots say that they tell of nobody; hooks may write to them still. */
void pitrace_ptt_areas_deactivate(void);
/* No hook runs any more. */
void pitrace_ptt_areas_release_slots(void);
int pitrace_ptt_area_init(void);
void pitrace_ptt_area_exit(void);

#endif /* PITRACE_PTT_H */
