// SPDX-License-Identifier: GPL-2.0-only
/*
 * All of PTT's accounts at one cut, while CPUs go on charging: a consistent cut as of Chandy and Lamport.
 *
 * Each dump begins a new epoch. A CPU enters it by a call on that CPU, or earlier, when it is about to charge an account
 * that another CPU has charged in it. On entering it copies its own accounts. Before a CPU charges an account in an epoch
 * for the first time, it copies the account as it was. So what is copied, and what has not been charged since, is the
 * sum of all charges before the cut and of none after it, exactly. No CPU waits for another.
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

#include "ptt.h"

/* As many times threads may start faster than there is memory for them; then the dump fails. */
#define TRIES_MAX 8

/* How an account was when a CPU was about to charge it in the new epoch. */
struct saved {
	u64 value[PITRACE_PTT_METRICS];
	u64 dispatches;
	u64 interrupts;
};

struct pitrace_ptt_cut {
	struct pitrace_ptt_snapshot *snapshot;
	struct saved *saved;
	u32 room; /* rows, and places in saved */
	atomic_t used; /* places; beyond room: nothing was stored */
	bool direct; /* no CPU charges: nothing is saved, all is copied from where it is */
};

/* For CPUs that enter the epoch, and that charge an account for the first time in it; RCU. */
static struct pitrace_ptt_cut *the_cut;
u32 pitrace_ptt_epoch;

static void ptt_dump_add(u64 to[], const u64 what[])
{
	u32 i;

	for (i = 0; i < PITRACE_PTT_METRICS; i++)
		to[i] += what[i];
}

/* ---- on a CPU that charges, with interrupts off ---- */

/* at: what its CPU's counters had, if it was charged just then, else NULL. */
static void ptt_dump_save(struct pitrace_ptt_cut *cut, struct pitrace_ptt_account *account,
			  u32 epoch, const u64 *at)
{
	const u32 place = cut ? (u32)atomic_inc_return(&cut->used) - 1 : U32_MAX;
	struct saved *saved;

	if (cut && place < cut->room) {
		saved = cut->saved + place;
		memcpy(saved->value, account->value, sizeof(saved->value));
		if (at)
			ptt_dump_add(saved->value, at);
		saved->dispatches = account->dispatches;
		saved->interrupts = account->interrupts;
	}
	account->saved = place;
	/* Pairs with ptt_dump_copy_account(): what was saved is seen before the epoch, and that before any later charge. */
	smp_store_release(&account->epoch, epoch);
	smp_wmb();
}

/* charging: its charge has not ended, so that what is charged is short of the counters. */
static void ptt_dump_copy_cpu(struct pitrace_ptt_snapshot *snapshot, unsigned int cpu,
			      bool charging)
{
	const struct pitrace_ptt_cpu_state *state = per_cpu_ptr(&pitrace_ptt_cpus, cpu);
	struct pitrace_ptt_without_account *without_account = snapshot->without_account + cpu;
	struct pitrace_ptt_cpu *row = snapshot->cpu + cpu;

	row->cpu = cpu;
	row->dispatches = state->dispatches;
	row->interrupts = state->interrupt.interrupts;
	row->idle_dispatches = state->idle.dispatches;
	row->idle_interrupts = state->idle.interrupts;
	row->tool = state->tool;
	memcpy(row->elapsed, state->elapsed, sizeof(row->elapsed));
	memcpy(row->interrupt, state->interrupt.value, sizeof(row->interrupt));
	memcpy(row->idle, state->idle.value, sizeof(row->idle));
	without_account->dispatches = state->without_account.dispatches;
	without_account->interrupts = state->without_account.interrupts;
	memcpy(without_account->value, state->without_account.value,
	       sizeof(without_account->value));
	if (state->open)
		ptt_dump_add(row->elapsed, state->at);
	if (!charging)
		return;
	if (state->charged == &state->interrupt)
		ptt_dump_add(row->interrupt, state->at);
	else if (state->charged == &state->idle)
		ptt_dump_add(row->idle, state->at);
	else if (state->charged == &state->without_account)
		ptt_dump_add(without_account->value, state->at);
}

static bool ptt_dump_is_in_table(const struct pitrace_ptt_cpu_state *state,
				 const struct pitrace_ptt_account *account)
{
	return account != &state->interrupt && account != &state->idle &&
	       account != &state->without_account;
}

/* This CPU's part of the cut lies here. */
static void ptt_dump_enter_epoch(struct pitrace_ptt_cpu_state *state, bool charging)
{
	/* Pairs with ptt_dump_make_cut(). */
	const u32 epoch = smp_load_acquire(&pitrace_ptt_epoch);
	struct pitrace_ptt_cut *cut = READ_ONCE(the_cut);

	if (state->epoch == epoch)
		return;
	if (cut)
		ptt_dump_copy_cpu(cut->snapshot, smp_processor_id(), charging);
	if (ptt_dump_is_in_table(state, state->thread))
		ptt_dump_save(cut, state->thread, epoch,
			      charging && state->charged == state->thread ? state->at : NULL);
	state->idle.epoch = epoch;
	state->without_account.epoch = epoch;
	state->epoch = epoch;
}

void pitrace_ptt_epochs_differ(struct pitrace_ptt_cpu_state *state,
			       struct pitrace_ptt_account *account)
{
	if (state->open)
		ptt_dump_enter_epoch(state, false);
	if (account->epoch != state->epoch)
		ptt_dump_save(READ_ONCE(the_cut), account, state->epoch, NULL);
}

static void ptt_dump_enter_epoch_here(void *unused)
{
	struct pitrace_ptt_cpu_state *state = this_cpu_ptr(&pitrace_ptt_cpus);

	if (!state->open)
		return;
	pitrace_ptt_update_counters(state);
	ptt_dump_enter_epoch(state, true);
}

/* ---- under the lock ---- */

/* False: its first charge came behind the cut. */
static bool ptt_dump_copy_account(struct pitrace_ptt_cut *cut,
				  const struct pitrace_ptt_account *account,
				  struct pitrace_ptt_thread *row)
{
	const struct saved *saved;

	row->pid = account->pid;
	row->tid = account->tid;
	row->flags = READ_ONCE(account->task) ? 0 : PITRACE_PTT_ENDED;
	row->dispatches = READ_ONCE(account->dispatches);
	row->interrupts = READ_ONCE(account->interrupts);
	memcpy(row->value, account->value, sizeof(row->value));
	memcpy(row->name, account->name, sizeof(row->name));
	/* Was it charged meanwhile? Then it was saved first. */
	smp_rmb();
	if (cut->direct || smp_load_acquire(&account->epoch) != pitrace_ptt_epoch)
		return true;
	if (account->saved == PITRACE_PTT_NOT_SAVED)
		return false;
	if (account->saved < cut->room) {
		saved = cut->saved + account->saved;
		row->dispatches = saved->dispatches;
		row->interrupts = saved->interrupts;
		memcpy(row->value, saved->value, sizeof(row->value));
	}
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
		WRITE_ONCE(the_cut, cut);
		/* Who sees the epoch sees the cut. */
		smp_store_release(&pitrace_ptt_epoch, pitrace_ptt_epoch + 1);
		on_each_cpu(ptt_dump_enter_epoch_here, NULL, true);
	}
	for_each_possible_cpu(cpu) {
		if (!per_cpu_ptr(&pitrace_ptt_cpus, cpu)->open)
			ptt_dump_copy_cpu(cut->snapshot, cpu, false);
	}
	cpus_read_unlock();
	complete = ptt_dump_copy_accounts(cut);
	if (!cut->direct) {
		WRITE_ONCE(the_cut, NULL);
		/* Interrupts that are off are read-side sections. */
		synchronize_rcu();
	}
	return complete;
}

/* Threads may have been renamed since they were first met. */
static void ptt_dump_name_thread(struct pitrace_ptt_thread *row)
{
	struct task_struct *task;

	rcu_read_lock();
	task = pid_task(find_pid_ns((int)row->tid, &init_pid_ns), PIDTYPE_PID);
	if (task && !(row->flags & PITRACE_PTT_ENDED))
		strscpy_pad(row->name, task->comm, sizeof(row->name));
	rcu_read_unlock();
}

/* Leaves out CPUs of which nothing is known. */
static void ptt_dump_pack_cpus(struct pitrace_ptt_snapshot *snapshot)
{
	struct pitrace_ptt_dump *head = &snapshot->head;
	unsigned int cpu;
	u32 count = 0;

	for_each_possible_cpu(cpu) {
		head->homeless_dispatches += snapshot->without_account[cpu].dispatches;
		head->homeless_interrupts += snapshot->without_account[cpu].interrupts;
		ptt_dump_add(head->homeless, snapshot->without_account[cpu].value);
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
	cut->direct = !pitrace_ptt_is_active();
	/* For those that start meanwhile. */
	cut->room = pitrace_ptt_threads_used() + more;
	cut->saved = kvcalloc(cut->room, sizeof(*cut->saved), GFP_KERNEL);
	refcount_set(&snapshot->users, 1);
	snapshot->thread = kvcalloc(cut->room, sizeof(*snapshot->thread), GFP_KERNEL);
	snapshot->cpu = kvcalloc(nr_cpu_ids, sizeof(*snapshot->cpu), GFP_KERNEL);
	snapshot->without_account =
		kvcalloc(nr_cpu_ids, sizeof(*snapshot->without_account), GFP_KERNEL);
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
