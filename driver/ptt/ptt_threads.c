// SPDX-License-Identifier: GPL-2.0-only
/*
 * PTT's accounts of threads. A thread gets one at its first dispatch. The account remains after the thread's
 * end, until new threads need accounts and none is free; then its counts are added to the sums of forgotten threads.
 *
 * Hooks take accounts from a bitmap, without a lock. A work item frees them.
 */

#include <linux/bitmap.h>
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "core/table.h"
#include "ptt.h"

struct pitrace_ptt_table pitrace_ptt_table;

static unsigned long *in_use; /* by number; 0 is never free */
static u32 room;
static u32 next_free; /* a hint */
static bool exhausted; /* hooks do not search for a free one until some are freed */

/* List of accounts whose threads have ended: the newest, and for each its predecessor, by number; 0: none. */
static u32 ended;
static u32 *ended_before;

/* Sums of the accounts that were freed. */
static struct pitrace_ptt_dump forgotten;

static void ptt_threads_reclaim_accounts(struct work_struct *unused);
static DECLARE_WORK(reclaim_work, ptt_threads_reclaim_accounts);

static void ptt_threads_start_reclaim(struct irq_work *unused)
{
	schedule_work(&reclaim_work);
}

/* Hooks run under the scheduler's locks, so an interrupt queues the work. */
static DEFINE_IRQ_WORK(reclaim_soon, ptt_threads_start_reclaim);

/* ---- for hooks ---- */

/* Interrupts are off: reads each word of the bitmap at most twice; there are at most 16,385. */
static u32 ptt_threads_take_free(void)
{
	u32 number = READ_ONCE(next_free);
	u32 rounds = 0;

	for (;;) {
		number = find_next_zero_bit(in_use, room, number);
		if (number >= room) {
			if (rounds++)
				return 0;
			number = 0;
		} else if (!test_and_set_bit(number, in_use)) {
			WRITE_ONCE(next_free, number + 1);
			return number;
		}
	}
}

struct pitrace_ptt_account *pitrace_ptt_account_alloc(struct task_struct *task, u32 epoch)
{
	const u32 tid = task->pid;
	struct pitrace_ptt_account *account;
	u32 number;

	if (tid >= pitrace_ptt_table.tids || READ_ONCE(exhausted))
		return NULL;
	number = ptt_threads_take_free();
	if (!number) {
		WRITE_ONCE(exhausted, true);
		irq_work_queue(&reclaim_soon);
		return NULL;
	}
	account = pitrace_ptt_table.account + number;
	memset(account, 0, sizeof(*account));
	memset(pitrace_ptt_table.earlier + number, 0, sizeof(*pitrace_ptt_table.earlier));
	account->pid = task->tgid;
	memcpy(account->name, task->comm, sizeof(account->name));
	account->task = task;
	account->epoch = epoch;
	account->saved = PITRACE_PTT_NOT_SAVED;
	/* Pairs with pitrace_ptt_next_thread(): a dump that sees the tid sees the rest. */
	smp_store_release(&account->tid, tid);
	WRITE_ONCE(pitrace_ptt_table.by_tid[tid], number);
	return account;
}

/* Closing the handle does the same from another CPU: only the one that gets the slot by xchg() frees it. */
void pitrace_ptt_end_slot(struct pitrace_ptt_account *account)
{
	struct pitrace_ptt_bound *bound;

	if (likely(!READ_ONCE(account->bound)))
		return;
	bound = xchg(&account->bound, NULL);
	if (!bound)
		return;
	WRITE_ONCE(bound->slot->active, 0);
	/* After that the slot may belong to another thread. */
	llist_add(&bound->link, bound->free);
}

/* Repeats only if another CPU has added an account meanwhile. */
static void ptt_threads_add_to_ended(u32 number)
{
	u32 newest = READ_ONCE(ended);

	do
		ended_before[number] = newest;
	while (!try_cmpxchg(&ended, &newest, number));
}

void pitrace_ptt_end(struct pitrace_ptt_account *account, const struct task_struct *task)
{
	const u32 number = account - pitrace_ptt_table.account;

	if (account->task != task)
		return;
	memcpy(account->name, task->comm, sizeof(account->name));
	/* Unless another thread has the id already. */
	cmpxchg(&pitrace_ptt_table.by_tid[account->tid], number, 0);
	pitrace_ptt_end_slot(account);
	WRITE_ONCE(account->task, NULL);
	/* After that the account may belong to another thread. */
	ptt_threads_add_to_ended(number);
	if (READ_ONCE(exhausted))
		irq_work_queue(&reclaim_soon);
}

/* A CPU may charge the account meanwhile: then it is in a new epoch, and the dump does not use the result. */
void pitrace_ptt_total(const struct pitrace_ptt_account *account, struct pitrace_ptt_counts *total)
{
	const struct pitrace_ptt_counts *earlier =
		pitrace_ptt_table.earlier + (account - pitrace_ptt_table.account);
	u32 i;

	for (i = 0; i < PITRACE_PTT_METRICS; i++)
		total->value[i] = READ_ONCE(earlier->value[i]) + READ_ONCE(account->value[i]);
	total->dispatches = READ_ONCE(earlier->dispatches) + READ_ONCE(account->dispatches);
	total->interrupts = READ_ONCE(earlier->interrupts) + READ_ONCE(account->interrupts);
}

/*
 * A dump sees all of this or nothing. If this CPU is in the dump's epoch, it has saved the account before, and the dump
 * uses that copy. If not, the dump waits for this CPU to enter the epoch, by an interrupt, before it looks at accounts.
 */
void pitrace_ptt_set_aside(struct pitrace_ptt_account *account)
{
	pitrace_ptt_total(account,
			  pitrace_ptt_table.earlier + (account - pitrace_ptt_table.account));
	memset(account->value, 0, sizeof(account->value));
	account->dispatches = 0;
	account->interrupts = 0;
}

/* ---- under the lock ---- */

static void ptt_threads_forget(const struct pitrace_ptt_account *account)
{
	struct pitrace_ptt_counts total;
	u32 i;

	pitrace_ptt_total(account, &total);
	forgotten.forgotten_threads++;
	forgotten.forgotten_dispatches += total.dispatches;
	forgotten.forgotten_interrupts += total.interrupts;
	for (i = 0; i < PITRACE_PTT_METRICS; i++)
		forgotten.forgotten[i] += total.value[i];
}

static void ptt_threads_reclaim_accounts(struct work_struct *unused)
{
	struct pitrace_ptt_account *account;
	u32 first = 0, number, next;

	mutex_lock(&pitrace_ptt_lock);
	if (pitrace_ptt_instance.active)
		first = xchg(&ended, 0);
	for (number = first; number; number = next) {
		account = pitrace_ptt_table.account + number;
		next = ended_before[number];
		ptt_threads_forget(account);
		account->tid = 0;
		/* After that another thread may get it, and may end at once. */
		smp_mb__before_atomic();
		clear_bit(number, in_use);
		cond_resched();
	}
	if (first)
		WRITE_ONCE(exhausted, false);
	mutex_unlock(&pitrace_ptt_lock);
}

u32 pitrace_ptt_next_thread(u32 number)
{
	for (; (number = find_next_bit(in_use, room, number)) < room; number++) {
		/* An account that was taken but is not yet initialised has no tid. */
		if (smp_load_acquire(&pitrace_ptt_table.account[number].tid))
			return number;
	}
	return 0;
}

u32 pitrace_ptt_threads_room(void)
{
	return room;
}

u32 pitrace_ptt_threads_used(void)
{
	return room ? bitmap_weight(in_use, room) - 1 : 0;
}

void pitrace_ptt_forgotten(struct pitrace_ptt_dump *dump)
{
	dump->forgotten_threads = forgotten.forgotten_threads;
	dump->forgotten_dispatches = forgotten.forgotten_dispatches;
	dump->forgotten_interrupts = forgotten.forgotten_interrupts;
	memcpy(dump->forgotten, forgotten.forgotten, sizeof(dump->forgotten));
}

int pitrace_ptt_threads_alloc(u32 threads, u32 pids)
{
	room = threads + 1;
	pitrace_ptt_table.account = pitrace_table_alloc(room, sizeof(*pitrace_ptt_table.account));
	pitrace_ptt_table.earlier = pitrace_table_alloc(room, sizeof(*pitrace_ptt_table.earlier));
	pitrace_ptt_table.by_tid = pitrace_table_alloc(pids, sizeof(*pitrace_ptt_table.by_tid));
	ended_before = pitrace_table_alloc(room, sizeof(*ended_before));
	in_use = pitrace_table_alloc(BITS_TO_LONGS(room), sizeof(*in_use));
	if (!pitrace_ptt_table.account || !pitrace_ptt_table.earlier || !pitrace_ptt_table.by_tid ||
	    !ended_before || !in_use) {
		pitrace_ptt_threads_free();
		return -ENOMEM;
	}
	pitrace_ptt_table.tids = pids;
	/* 0 means none; its task is NULL, which equals no task. */
	set_bit(0, in_use);
	next_free = 1;
	ended = 0;
	exhausted = false;
	memset(&forgotten, 0, sizeof(forgotten));
	return 0;
}

void pitrace_ptt_threads_free(void)
{
	kvfree(pitrace_ptt_table.account);
	kvfree(pitrace_ptt_table.earlier);
	kvfree(pitrace_ptt_table.by_tid);
	kvfree(ended_before);
	kvfree(in_use);
	memset(&pitrace_ptt_table, 0, sizeof(pitrace_ptt_table));
	ended_before = NULL;
	in_use = NULL;
	room = 0;
}

void pitrace_ptt_threads_exit(void)
{
	irq_work_sync(&reclaim_soon);
	cancel_work_sync(&reclaim_work);
}
