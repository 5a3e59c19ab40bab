// SPDX-License-Identifier: GPL-2.0-only
/* The threads that ITrace follows: a fixed number of slots, found by task without a lock. */

#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/spinlock.h>

#include "itrace.h"

#define BUCKET_BITS 10

/* Adding, removing and counting; never taken in a trap. */
static DEFINE_RAW_SPINLOCK(lock);
static struct hlist_head buckets[1 << BUCKET_BITS];
static struct pitrace_it_thread *slots;
static u32 room;
static u32 next; /* where to look for a free slot first */
static u32 untraced;

int pitrace_it_threads_alloc(u32 wanted)
{
	u32 i;

	slots = kvcalloc(wanted, sizeof(*slots), GFP_KERNEL);
	if (!slots)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(buckets); i++)
		INIT_HLIST_HEAD(&buckets[i]);
	room = wanted;
	next = 0;
	untraced = 0;
	return 0;
}

void pitrace_it_threads_free(void)
{
	room = 0;
	kvfree(slots);
	slots = NULL;
}

static struct hlist_head *bucket_of(const struct task_struct *task)
{
	return &buckets[hash_ptr(task, BUCKET_BITS)];
}

struct pitrace_it_thread *pitrace_it_find(const struct task_struct *task)
{
	struct pitrace_it_thread *thread;

	hlist_for_each_entry_rcu_notrace(thread, bucket_of(task), link) {
		if (READ_ONCE(thread->task) == task)
			return thread;
	}
	return NULL;
}

/* Whoever came by it on his way through a list has gone on. */
static bool is_free(const struct pitrace_it_thread *thread)
{
	return !thread->task && !READ_ONCE(thread->attaching) && !READ_ONCE(thread->holding) &&
	       (!thread->gone || poll_state_synchronize_rcu(thread->gone));
}

/* Under the lock. */
static struct pitrace_it_thread *free_slot(void)
{
	u32 tries;

	for (tries = 0; tries < room; tries++) {
		struct pitrace_it_thread *thread = &slots[next];

		next = next + 1 < room ? next + 1 : 0;
		if (is_free(thread))
			return thread;
	}
	untraced++;
	return NULL;
}

struct pitrace_it_thread *pitrace_it_add(struct task_struct *task, bool *known,
					 void (*set_up)(struct pitrace_it_thread *thread,
							struct task_struct *task))
{
	struct pitrace_it_thread *thread = NULL;
	unsigned long flags;

	raw_spin_lock_irqsave(&lock, flags);
	*known = pitrace_it_find(task);
	/* Its end comes after this flag, and removes it if it was added before. */
	if (!*known && !(READ_ONCE(task->flags) & PF_EXITING))
		thread = free_slot();
	if (thread) {
		memset(thread, 0, sizeof(*thread));
		thread->pid = task->tgid;
		thread->tid = task->pid;
		set_up(thread, task);
		WRITE_ONCE(thread->task, task);
		hlist_add_head_rcu(&thread->link, bucket_of(task));
	}
	raw_spin_unlock_irqrestore(&lock, flags);
	return thread;
}

/* Under the lock. */
static void take_out(struct pitrace_it_thread *thread)
{
	if (!thread->task)
		return;
	hlist_del_rcu(&thread->link);
	WRITE_ONCE(thread->task, NULL);
	thread->gone = get_state_synchronize_rcu();
}

void pitrace_it_remove(struct pitrace_it_thread *thread)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&lock, flags);
	take_out(thread);
	raw_spin_unlock_irqrestore(&lock, flags);
}

void pitrace_it_remove_all(void)
{
	unsigned long flags;
	u32 i;

	raw_spin_lock_irqsave(&lock, flags);
	for (i = 0; i < room; i++)
		take_out(&slots[i]);
	raw_spin_unlock_irqrestore(&lock, flags);
}

void pitrace_it_end_all(void)
{
	unsigned long flags;
	u32 i;

	raw_spin_lock_irqsave(&lock, flags);
	for (i = 0; i < room; i++)
		WRITE_ONCE(slots[i].over, true);
	raw_spin_unlock_irqrestore(&lock, flags);
}

/* A thread that was parked is clean: with ITrace stopped nobody sets the flag again. */
static bool is_dirty(const struct pitrace_it_thread *thread)
{
	if (READ_ONCE(thread->attaching) || READ_ONCE(thread->holding))
		return true;
	return thread->task && (READ_ONCE(thread->in_user) || READ_ONCE(thread->live));
}

void pitrace_it_threads_count(u32 *threads, u32 *not_traced, u32 *dirty)
{
	unsigned long flags;
	u32 i;

	*threads = 0;
	*dirty = 0;
	raw_spin_lock_irqsave(&lock, flags);
	for (i = 0; i < room; i++) {
		*threads += slots[i].task && !READ_ONCE(slots[i].over);
		*dirty += is_dirty(&slots[i]);
	}
	*not_traced = untraced;
	raw_spin_unlock_irqrestore(&lock, flags);
}
