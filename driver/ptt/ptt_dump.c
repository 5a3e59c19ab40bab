// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dumps all of PTT's accounts at one consistent cut (Chandy and Lamport), while CPUs continue to charge.
 *
 * Each dump begins a new epoch. A CPU enters it by a call on that CPU, or earlier, when it will charge an account that
 * another CPU has already charged in the new epoch. When it enters, it copies its own accounts. Before a CPU charges an
 * account for the first time in an epoch, it copies the account. So the copies, together with the accounts that have not
 * been charged since, contain exactly the charges before the cut, and none after it. No CPU waits for another.
 */

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "core/table.h"
#include "ptt.h"

/* A dump is repeated if threads started faster than rows were allocated; after this number of tries it fails. */
#define TRIES_MAX 8

static void ptt_dump_enter_epoch_here(void *unused)
{
	struct pitrace_ptt_cpu_state *state = this_cpu_ptr(&pitrace_ptt_cpus);

	if (!state->open)
		return;
	pitrace_ptt_update_counters(state);
	pitrace_ptt_enter_epoch(state);
}

/* ---- under the lock ---- */

/* False: its first charge was after the cut. */
static bool ptt_dump_copy_account(struct pitrace_ptt_cut *cut,
				  const struct pitrace_ptt_account *account,
				  struct pitrace_ptt_thread *row)
{
	struct pitrace_ptt_counts counts;

	row->pid = account->pid;
	row->tid = account->tid;
	row->flags = READ_ONCE(account->task) ? 0 : PITRACE_PTT_ENDED;
	pitrace_ptt_total(account, &counts);
	memcpy(row->name, account->name, sizeof(row->name));
	/* If it was charged meanwhile, it was saved before. */
	smp_rmb();
	if (!cut->direct && smp_load_acquire(&account->epoch) == pitrace_ptt_epoch) {
		if (account->saved == PITRACE_PTT_NOT_SAVED)
			return false;
		if (account->saved < cut->room)
			counts = cut->saved[account->saved];
	}
	row->dispatches = counts.dispatches;
	row->interrupts = counts.interrupts;
	memcpy(row->value, counts.value, sizeof(row->value));
	return true;
}

/* False: there are more accounts than rows. */
static bool ptt_dump_copy_accounts(struct pitrace_ptt_cut *cut)
{
	struct pitrace_ptt_dump *head = &cut->snapshot->head;
	const struct pitrace_ptt_account *account;
	u32 number = 0;

	while ((number = pitrace_ptt_next_thread(number + 1))) {
		account = pitrace_ptt_table.account + number;
		if (head->threads == cut->room)
			return false;
		head->threads +=
			ptt_dump_copy_account(cut, account, cut->snapshot->thread + head->threads);
		cond_resched();
	}
	pitrace_ptt_forgotten(head);
	return (u32)atomic_read(&cut->used) <= cut->room;
}

/* False: there was not enough memory for all threads. */
static bool ptt_dump_make_cut(struct pitrace_ptt_cut *cut)
{
	unsigned int cpu;
	bool complete;

	cpus_read_lock();
	if (!cut->direct) {
		pitrace_ptt_epoch_begin(cut);
		on_each_cpu(ptt_dump_enter_epoch_here, NULL, true);
	}
	for_each_possible_cpu(cpu) {
		if (!per_cpu_ptr(&pitrace_ptt_cpus, cpu)->open)
			pitrace_ptt_copy_cpu(cut->snapshot, cpu, false);
	}
	cpus_read_unlock();
	complete = ptt_dump_copy_accounts(cut);
	if (!cut->direct)
		pitrace_ptt_epoch_end();
	return complete;
}

/* Threads may have been renamed since their first dispatch. */
static void ptt_dump_name_thread(struct pitrace_ptt_thread *row)
{
	struct task_struct *task;

	rcu_read_lock();
	task = pid_task(find_pid_ns((int)row->tid, &init_pid_ns), PIDTYPE_PID);
	if (task && !(row->flags & PITRACE_PTT_ENDED))
		strscpy_pad(row->name, task->comm, sizeof(row->name));
	rcu_read_unlock();
}

/* Removes the rows of CPUs without counts. */
static void ptt_dump_pack_cpus(struct pitrace_ptt_snapshot *snapshot)
{
	struct pitrace_ptt_dump *head = &snapshot->head;
	unsigned int cpu;
	u32 count = 0;

	for_each_possible_cpu(cpu) {
		head->without_account_dispatches += snapshot->without_account[cpu].dispatches;
		head->without_account_interrupts += snapshot->without_account[cpu].interrupts;
		pitrace_ptt_add(head->without_account, snapshot->without_account[cpu].value);
		if (!snapshot->cpu[cpu].elapsed[0] && !snapshot->cpu[cpu].dispatches)
			continue;
		if (pitrace_ptt_counters_lost(cpu))
			snapshot->cpu[cpu].flags |= PITRACE_PTT_CPU_COUNTERS_LOST;
		snapshot->cpu[count++] = snapshot->cpu[cpu];
	}
	head->cpus = count;
}

static void ptt_dump_finish(struct pitrace_ptt_snapshot *snapshot)
{
	u32 i;

	ptt_dump_pack_cpus(snapshot);
	for (i = 0; i < snapshot->head.threads; i++) {
		ptt_dump_name_thread(snapshot->thread + i);
		cond_resched();
	}
}

static bool ptt_dump_allocate(struct pitrace_ptt_cut *cut, u32 more)
{
	struct pitrace_ptt_snapshot *snapshot = kzalloc(sizeof(*snapshot), GFP_KERNEL);

	memset(cut, 0, sizeof(*cut));
	cut->snapshot = snapshot;
	if (!snapshot)
		return false;
	cut->direct = !pitrace_ptt_instance.active;
	/* more: for threads that start meanwhile. */
	cut->room = pitrace_ptt_threads_used() + more;
	cut->saved = pitrace_table_alloc(cut->room, sizeof(*cut->saved));
	refcount_set(&snapshot->users, 1);
	snapshot->thread = pitrace_table_alloc(cut->room, sizeof(*snapshot->thread));
	snapshot->cpu = pitrace_table_alloc(nr_cpu_ids, sizeof(*snapshot->cpu));
	snapshot->without_account =
		pitrace_table_alloc(nr_cpu_ids, sizeof(*snapshot->without_account));
	return cut->saved && snapshot->thread && snapshot->cpu && snapshot->without_account;
}

struct pitrace_ptt_snapshot *pitrace_ptt_snapshot_take(void)
{
	struct pitrace_ptt_cut cut;
	u32 tries;
	bool good;

	for (tries = 0; tries < TRIES_MAX; tries++) {
		good = ptt_dump_allocate(&cut, 256u << 2 * tries);
		if (good && ptt_dump_make_cut(&cut)) {
			ptt_dump_finish(cut.snapshot);
			kvfree(cut.saved);
			return cut.snapshot;
		}
		kvfree(cut.saved);
		pitrace_ptt_snapshot_put(cut.snapshot);
		if (!good)
			break;
	}
	return NULL;
}

void pitrace_ptt_snapshot_put(struct pitrace_ptt_snapshot *snapshot)
{
	if (!snapshot || !refcount_dec_and_test(&snapshot->users))
		return;
	kvfree(snapshot->thread);
	kvfree(snapshot->cpu);
	kvfree(snapshot->without_account);
	kfree(snapshot);
}
