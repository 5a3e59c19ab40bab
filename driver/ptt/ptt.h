/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PTT, per-thread counters: declarations that its files share.
 *
 * A CPU charges one account at a time. Charging begins by subtracting the counters' values from the
 * account and ends by adding them: in between, account + counter is the count until now, which a
 * thread's reader computes in the same way. So each moment belongs to exactly one account.
 *
 * The account that a CPU charges is changed on that CPU only, with interrupts off. The PTT lock protects
 * everything else: starting and stopping, dumping, slots. It is never held together with the session
 * lock or the AboveIdle lock, and nothing is copied from or to user space under it.
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

/* A slot: bound to a thread's account, or in its area's list of free slots. */
struct pitrace_ptt_bound {
	struct pitrace_ptt_slot *slot;
	struct pitrace_ptt_account *account; /* under the PTT lock */
	struct llist_node link; /* while it is free */
	struct llist_head *free; /* its area's list; the area exists as long as hooks can find this */
	u32 number; /* index in its area */
	u32 shown; /* metrics that the thread may read, one bit each */
	bool in_part; /* some values, or the interrupts' vectors, are withheld from the thread */
	bool vectors; /* the vectors are not withheld */
	const struct cred *cred; /* the thread's when it got the slot, with a reference; only compared */
};

/* What a user may read about its own threads, besides cycles. */
enum pitrace_ptt_sees {
	PITRACE_PTT_SEES_CYCLES,
	PITRACE_PTT_SEES_USER, /* counters that exclude the kernel */
	PITRACE_PTT_SEES_KERNEL,
};

/* Counts of an account: before its thread's last exec, or when a CPU was about to charge it in a new epoch. */
struct pitrace_ptt_counts {
	u64 value[PITRACE_PTT_METRICS];
	u64 dispatches;
	u64 interrupts;
};

/*
 * Account of a thread. Two cache lines; an interrupt changes only the first, except for its count. The counts are those
 * since the thread's last exec; the table has the earlier ones.
 */
struct pitrace_ptt_account {
	u64 value[PITRACE_PTT_METRICS];
	struct task_struct *task; /* without a reference; NULL: ended */
	u32 pid;
	u32 tid;
	u64 dispatches;
	u64 interrupts;
	struct pitrace_ptt_bound *bound; /* or NULL; RCU */
	u32 epoch; /* of its last charge (ptt_dump.c) */
	u32 saved; /* index of its copy from before that epoch; PITRACE_PTT_NOT_SAVED: it is new */
	char name[TASK_COMM_LEN]; /* at its first dispatch; once it has ended, at its end */
} __aligned(64);

struct pitrace_ptt_cpu_state {
	bool open; /* this CPU charges */
	u32 epoch; /* every account that it charges has the same */
	struct pitrace_ptt_account *thread; /* account of the running thread; never NULL while open */
	struct pitrace_ptt_account *charged; /* the same, or &interrupt */
	u64 at[PITRACE_PTT_METRICS]; /* the counters at the last change of account */
	u64 tool;
	struct pitrace_irq_exit irq_exit;
	u16 last_vector; /* of the last hard IRQ that ended */
	u16 last_softs; /* softirqs in its irq_exit() */
	struct perf_event *event[PITRACE_PTT_METRICS]; /* NULL: not counted */
	u64 dispatches;
	struct pitrace_ptt_account interrupt;
	struct pitrace_ptt_account idle;
	struct pitrace_ptt_account without_account; /* of threads for which the table had no free account */
	u64 elapsed[PITRACE_PTT_METRICS]; /* charged from open to close, as accounts are */
	/* Not used by the hooks. */
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
	u32 cycles; /* index of that metric; PITRACE_PTT_METRICS: none */
	bool ints;
	struct pitrace_ptt_residue residue; /* changed while CPUs charge */
	struct pitrace_ptt_metric metric[PITRACE_PTT_METRICS];
};

extern struct pitrace_ptt_setup pitrace_ptt_setup;

DECLARE_PER_CPU(struct pitrace_ptt_cpu_state, pitrace_ptt_cpus);

/* ---- ptt_threads.c: accounts of threads ---- */

/* Accounts by number; by_tid has the number of a thread's account. 0 means none, so account 0 is never used. */
struct pitrace_ptt_table {
	struct pitrace_ptt_account *account;
	struct pitrace_ptt_counts *earlier; /* by number: counts before the last exec, for dumps only */
	u32 *by_tid;
	u32 tids; /* entries of by_tid */
};

extern struct pitrace_ptt_table pitrace_ptt_table;

/* NULL: it has no account. Another thread can get its id before its last switch-out, so the task is compared. */
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
/* Recording paths, with interrupts off. alloc: NULL: no account is free; epoch: this CPU's. end: the task is current. */
struct pitrace_ptt_account *pitrace_ptt_account_alloc(struct task_struct *task, u32 epoch);
void pitrace_ptt_end(struct pitrace_ptt_account *account, const struct task_struct *task);
/*
 * Moves the account's counts to the earlier ones. On the CPU that charges it, between two charges, when the account has
 * that CPU's epoch.
 */
void pitrace_ptt_set_aside(struct pitrace_ptt_account *account);
/* All counts of an account in the table, without those of a charge that has not ended. */
void pitrace_ptt_total(const struct pitrace_ptt_account *account, struct pitrace_ptt_counts *total);
/* Unbinds the account's slot, if it has one. On its CPU, with interrupts off. */
void pitrace_ptt_end_slot(struct pitrace_ptt_account *account);
/* Under the PTT lock. next: the first account from number on that is in use; 0: there is none. */
u32 pitrace_ptt_threads_room(void);
u32 pitrace_ptt_threads_used(void);
u32 pitrace_ptt_next_thread(u32 number);
/* Copies the sums of the ended threads whose accounts were reused. */
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

struct pitrace_ptt_cut {
	struct pitrace_ptt_snapshot *snapshot;
	struct pitrace_ptt_counts *saved;
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

/* attach: 0 or -EOPNOTSUPP; no CPU charges yet. detach: on return no hook runs any more. */
int pitrace_ptt_hooks_attach(void);
void pitrace_ptt_hooks_detach(void);
/* On the CPU itself, with interrupts off. */
void pitrace_ptt_open_cpu(void *unused);
void pitrace_ptt_close_cpu(void *unused);
/* Updates cpu->at, so that the charged account + cpu->at is its count until now. */
void pitrace_ptt_update_counters(struct pitrace_ptt_cpu_state *cpu);
/* Sets another event, or NULL, for one metric; the difference is charged to no account. */
void pitrace_ptt_change_event(struct pitrace_ptt_cpu_state *cpu, u32 metric,
			      struct perf_event *event);

/* Copies the account of the thread that runs on this CPU to its slot, if it has one. */
void pitrace_ptt_publish(struct pitrace_ptt_cpu_state *cpu);

/* ---- ptt_current.c ---- */

/*
 * For current. bind: publishes its account in the slot from now on. -ENXIO: this CPU does not charge; -ENOSPC:
 * it has no account; -EALREADY: it has a slot; -EACCES: all metrics are withheld; unbind: -EINVAL: it has no slot.
 */
int pitrace_ptt_bind(struct pitrace_ptt_bound *bound, enum pitrace_ptt_sees sees);
int pitrace_ptt_unbind(void);
int pitrace_ptt_read(struct pitrace_ptt_read *read, enum pitrace_ptt_sees sees);

/* ---- ptt_rights.c ---- */

/* The caller's. May sleep. */
enum pitrace_ptt_sees pitrace_ptt_rights(void);
/* The metrics of this instance that may be read, one bit each. */
u32 pitrace_ptt_shown(enum pitrace_ptt_sees sees);

/* ---- ptt_counters.c: perf counters, one per metric and CPU ---- */

/* All under the PTT lock, and may sleep. start: 0, or the kernel's error for a metric. */
int pitrace_ptt_counters_start(void);
void pitrace_ptt_counters_stop(void);
/* After CPU hotplug. */
void pitrace_ptt_counters_adjust(void);
/* Was one of this CPU's counters displaced, or could not be created? */
bool pitrace_ptt_counters_lost(unsigned int cpu);
/* From a hotplug callback: the counters of that CPU no longer count. */
void pitrace_ptt_counters_invalidate(unsigned int cpu);

/* ---- ptt_dump.c: all accounts at one cut ---- */

/* Under the PTT lock, whether CPUs still charge or not. NULL: no memory. May sleep. */
struct pitrace_ptt_snapshot *pitrace_ptt_snapshot_take(void);
void pitrace_ptt_snapshot_put(struct pitrace_ptt_snapshot *snapshot);

/* ---- ptt_area.c: slots, and the device whose users have them ---- */

/* All under the PTT lock. deactivate: marks all slots as not active; hooks may still write to them. */
void pitrace_ptt_areas_deactivate(void);
/* Makes all slots free; no hook runs any more. */
void pitrace_ptt_areas_release_slots(void);
int pitrace_ptt_area_init(void);
void pitrace_ptt_area_exit(void);

#endif /* PITRACE_PTT_H */
