// SPDX-License-Identifier: GPL-2.0-only
/* The threads that ITrace follows: a fixed number of slots, found by task without a lock. */

#include <linux/cred.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/spinlock.h>

#include "core/table.h"
#include "itrace.h"

/* A quarter of PITRACE_ITRACE_THREADS_MAX: four threads in a bucket when all slots are used. */
#define BUCKET_BITS 14

/* Slots that are visited with interrupts off and the lock held, before both are released for a moment. */
#define SLOTS_AT_ONCE 256u

/* Slots with pending task work that are skipped at most to find a free one, with interrupts off. */
#define SPARE_TRIES 8

/* Protects the table while threads are added, removed and counted; never taken in a trap. */
static DEFINE_RAW_SPINLOCK(itrace_threads_lock);
static struct hlist_head itrace_threads_buckets[1 << BUCKET_BITS];
static struct pitrace_it_thread *itrace_threads_slots;
static u32 itrace_threads_capacity;
static u32 itrace_threads_used; /* slots with a lower number have been used at least once */
static u32 itrace_threads_untraced;

/* Slots of removed threads, the longest removed one first. */
static LIST_HEAD(itrace_threads_spare);

int pitrace_it_threads_alloc(u32 wanted)
{
	u32 i;

	itrace_threads_slots = pitrace_table_alloc(wanted, sizeof(*itrace_threads_slots));
	if (!itrace_threads_slots)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(itrace_threads_buckets); i++)
		INIT_HLIST_HEAD(&itrace_threads_buckets[i]);
	INIT_LIST_HEAD(&itrace_threads_spare);
	itrace_threads_capacity = wanted;
	itrace_threads_used = 0;
	itrace_threads_untraced = 0;
	return 0;
}

void pitrace_it_threads_free(void)
{
	u32 i;

	for (i = 0; i < itrace_threads_used; i++)
		put_cred(itrace_threads_slots[i].cred);
	itrace_threads_capacity = 0;
	itrace_threads_used = 0;
	kvfree(itrace_threads_slots);
	itrace_threads_slots = NULL;
}

static struct hlist_head *itrace_threads_bucket_of(const struct task_struct *task)
{
	return &itrace_threads_buckets[hash_ptr(task, BUCKET_BITS)];
}

struct pitrace_it_thread *pitrace_it_find(const struct task_struct *task)
{
	struct pitrace_it_thread *thread;

	hlist_for_each_entry_rcu_notrace (thread, itrace_threads_bucket_of(task), link) {
		if (READ_ONCE(thread->task) == task)
			return thread;
	}
	return NULL;
}

static bool itrace_threads_has_work(const struct pitrace_it_thread *thread)
{
	return READ_ONCE(thread->attach_due) || READ_ONCE(thread->wait_due);
}

/*
 * Under the lock. A slot is free after an RCU grace period, when no lockless walker can see it any more; it ends for the
 * first slot of the list before it does for the others.
 */
static struct pitrace_it_thread *itrace_threads_spare_slot(void)
{
	struct pitrace_it_thread *thread;
	u32 tries;

	for (tries = 0; tries < SPARE_TRIES && !list_empty(&itrace_threads_spare); tries++) {
		thread = list_first_entry(&itrace_threads_spare, struct pitrace_it_thread, spare);
		if (!poll_state_synchronize_rcu(thread->rcu_state))
			return NULL;
		if (!itrace_threads_has_work(thread)) {
			list_del(&thread->spare);
			return thread;
		}
		list_move_tail(&thread->spare, &itrace_threads_spare);
	}
	return NULL;
}

/* Under the lock. */
static struct pitrace_it_thread *itrace_threads_free_slot(void)
{
	struct pitrace_it_thread *thread = itrace_threads_spare_slot();

	if (!thread && itrace_threads_used < itrace_threads_capacity)
		thread = &itrace_threads_slots[itrace_threads_used++];
	if (!thread)
		WRITE_ONCE(itrace_threads_untraced, itrace_threads_untraced + 1);
	return thread;
}

struct pitrace_it_thread *pitrace_it_add(struct task_struct *task, bool *known,
					 void (*set_up)(struct pitrace_it_thread *thread,
							struct task_struct *task))
{
	struct pitrace_it_thread *thread = NULL;
	unsigned long flags;

	raw_spin_lock_irqsave(&itrace_threads_lock, flags);
	*known = pitrace_it_find(task);
	/* The exit hook runs after this flag is set, and removes the thread if it was added before. */
	if (!*known && !(READ_ONCE(task->flags) & PF_EXITING))
		thread = itrace_threads_free_slot();
	if (thread) {
		put_cred(thread->cred);
		memset(thread, 0, sizeof(*thread));
		thread->cred = get_task_cred(task);
		thread->pid = task->tgid;
		thread->tid = task->pid;
		set_up(thread, task);
		WRITE_ONCE(thread->task, task);
		hlist_add_head_rcu(&thread->link, itrace_threads_bucket_of(task));
	}
	raw_spin_unlock_irqrestore(&itrace_threads_lock, flags);
	return thread;
}

/* Under the lock. */
static void itrace_threads_take_out(struct pitrace_it_thread *thread)
{
	if (!thread->task)
		return;
	hlist_del_rcu(&thread->link);
	WRITE_ONCE(thread->task, NULL);
	thread->rcu_state = get_state_synchronize_rcu();
	list_add_tail(&thread->spare, &itrace_threads_spare);
}

void pitrace_it_remove(struct pitrace_it_thread *thread)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&itrace_threads_lock, flags);
	itrace_threads_take_out(thread);
	raw_spin_unlock_irqrestore(&itrace_threads_lock, flags);
}

/*
 * With the lock held, so that the task of a slot in use has not exited. A few slots at a time, as interrupts are off
 * meanwhile.
 */
void pitrace_it_for_each_slot(void (*what)(struct pitrace_it_thread *thread, void *data),
			      void *data)
{
	unsigned long flags;
	u32 i = 0, end;

	while (i < READ_ONCE(itrace_threads_used)) {
		raw_spin_lock_irqsave(&itrace_threads_lock, flags);
		for (end = min(i + SLOTS_AT_ONCE, itrace_threads_used); i < end; i++)
			what(&itrace_threads_slots[i], data);
		raw_spin_unlock_irqrestore(&itrace_threads_lock, flags);
		cond_resched();
	}
}

static void itrace_threads_take_out_slot(struct pitrace_it_thread *thread, void *unused)
{
	itrace_threads_take_out(thread);
}

void pitrace_it_remove_all(void)
{
	pitrace_it_for_each_slot(itrace_threads_take_out_slot, NULL);
}

static void itrace_threads_end_slot(struct pitrace_it_thread *thread, void *unused)
{
	WRITE_ONCE(thread->ended, true);
}

void pitrace_it_end_all(void)
{
	pitrace_it_for_each_slot(itrace_threads_end_slot, NULL);
}

/* A parked thread has no TF: when ITrace has stopped, its dispatch does not set it. */
static bool itrace_threads_may_have_tf(const struct pitrace_it_thread *thread)
{
	if (itrace_threads_has_work(thread))
		return true;
	return thread->task && (READ_ONCE(thread->tf) & (ITRACE_TF_IN_USER | ITRACE_TF_IN_KERNEL));
}

struct counts {
	u32 threads;
	u32 may_have_tf;
};

static void itrace_threads_count_slot(struct pitrace_it_thread *thread, void *data)
{
	struct counts *counts = data;

	counts->threads += thread->task && !READ_ONCE(thread->ended);
	counts->may_have_tf += itrace_threads_may_have_tf(thread);
}

void pitrace_it_threads_count(u32 *threads, u32 *not_traced, u32 *may_have_tf)
{
	struct counts counts = {};

	pitrace_it_for_each_slot(itrace_threads_count_slot, &counts);
	*threads = counts.threads;
	*may_have_tf = counts.may_have_tf;
	*not_traced = READ_ONCE(itrace_threads_untraced);
}
