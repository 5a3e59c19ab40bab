// SPDX-License-Identifier: GPL-2.0-only
/* Records that a reader needs before the first event: the start-up group, and all existing tasks. */

#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/mmap_lock.h>
#include <linux/rwsem.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/time.h>
#include <linux/timekeeping.h>

#include "core/plat.h"
#include "core/record.h"
#include "core/tasks.h"
#include "sources.h"

/* ---- the start-up group ---- */

static void snapshot_write_system(u32 minor, const u32 *ints, u32 count)
{
	pitrace_write_ints(PITRACE_BUFFER_MTE, PITRACE_MAJOR_SYSTEM, minor, ints, count);
}

void pitrace_snapshot_system(u32 rate, u32 interval_id)
{
	const u32 clock[] = { pitrace_arch_mhz(), sys_tz.tz_minuteswest, sys_tz.tz_dsttime,
			      (u32)ktime_get_real_seconds() };
	const u32 timebase = NSEC_PER_SEC;
	const u32 os = PITRACE_OS_LINUX;
	const u64 period = pitrace_tprof_event_period();
	const u32 time_based[] = { 0, rate, 0 };
	const u32 event_based[] = { 1, (u32)(period >> 32), (u32)period };

	snapshot_write_system(PITRACE_SYSTEM_CLOCK, clock, ARRAY_SIZE(clock));
	snapshot_write_system(PITRACE_SYSTEM_TIMEBASE, &timebase, 1);
	snapshot_write_system(PITRACE_SYSTEM_OS, &os, 1);
	snapshot_write_system(PITRACE_SYSTEM_TPROF, period ? event_based : time_based,
			      ARRAY_SIZE(time_based));
	snapshot_write_system(PITRACE_SYSTEM_INTERVAL, &interval_id, 1);
	snapshot_write_system(PITRACE_SYSTEM_END, NULL, 0);
}

/* ---- existing tasks ---- */

static void snapshot_write_mte(u32 minor, const u32 *ints, u32 count)
{
	pitrace_write_ints(PITRACE_BUFFER_MTE, PITRACE_MAJOR_MTE, minor, ints, count);
}

static void snapshot_write_task_name(u32 minor, struct task_struct *task, u32 second)
{
	const u32 ints[] = { task->tgid, second };
	char name[TASK_COMM_LEN];

	/* Without its lock: a name that changes at this moment also gets its own record. */
	strscpy(name, task->comm, sizeof(name));
	pitrace_write_string(PITRACE_BUFFER_MTE, PITRACE_MAJOR_MTE, minor, ints, 2, name,
			     strlen(name));
}

static void snapshot_write_existing_parent(struct task_struct *leader)
{
	u32 ints[] = { leader->tgid, 0, PITRACE_PARENT_EXISTING };

	rcu_read_lock();
	ints[1] = task_tgid_nr(rcu_dereference(leader->real_parent));
	rcu_read_unlock();
	snapshot_write_mte(PITRACE_MTE_PARENT, ints, ARRAY_SIZE(ints));
}

/* The leader may have exited while other threads of its process continue. */
static struct mm_struct *snapshot_get_process_mm(struct task_struct *leader)
{
	struct mm_struct *mm = get_task_mm(leader);
	struct task_struct *thread;

	if (mm)
		return mm;
	rcu_read_lock();
	for_each_thread(leader, thread) {
		mm = get_task_mm(thread);
		if (mm)
			break;
	}
	rcu_read_unlock();
	return mm;
}

/*
 * A thread may hold its process's locks for any time, while it waits for a file system, which may be a program of another
 * user. As the session lock is held here, the time to wait for them is limited, per process and in total; for a process
 * whose locks were not available in time, one lost record is counted. In jiffies.
 */
#define WAIT_FOR_ONE (HZ / 4)
#define WAIT_FOR_ALL (2 * HZ)

/* 0, -EAGAIN (a lost record is counted) or -EINTR. budget: remaining part of WAIT_FOR_ALL. */
static int snapshot_wait_for_lock(struct rw_semaphore *lock, unsigned int *budget)
{
	unsigned int left = min_t(unsigned int, WAIT_FOR_ONE, *budget);

	while (!down_read_trylock(lock)) {
		if (fatal_signal_pending(current))
			return -EINTR;
		if (!left) {
			pitrace_write_lost(PITRACE_BUFFER_MTE, PITRACE_LOST_SOURCE);
			return -EAGAIN;
		}
		schedule_timeout_killable(1);
		left--;
		--*budget;
	}
	return 0;
}

static int snapshot_describe_locked(u32 pid, struct mm_struct *mm, unsigned int *budget)
{
	int error = snapshot_wait_for_lock(&mm->mmap_lock, budget);

	if (error)
		return error;
	error = pitrace_maps_describe(pid, mm);
	mmap_read_unlock(mm);
	return error;
}

/*
 * exec holds the exec_update_lock from the moment it replaces the address space until after its
 * CREATE record: the mappings written here belong either all to the image before that or all to
 * the one after.
 */
static int snapshot_describe_mappings(struct task_struct *leader, unsigned int *budget)
{
	struct mm_struct *mm;
	int error;

	if (leader->flags & PF_KTHREAD)
		return 0;
	error = snapshot_wait_for_lock(&leader->signal->exec_update_lock, budget);
	if (error)
		return error == -EAGAIN ? 0 : error;
	mm = snapshot_get_process_mm(leader);
	if (mm) {
		error = snapshot_describe_locked(leader->tgid, mm, budget);
		/* This may be the last reference; the teardown must not wait under the lock. */
		mmput_async(mm);
	}
	up_read(&leader->signal->exec_update_lock);
	return error == -EAGAIN ? 0 : error;
}

static int snapshot_describe_process(struct task_struct *leader, unsigned int *budget)
{
	snapshot_write_existing_parent(leader);
	pitrace_mte_namespace_ids(leader);
	snapshot_write_task_name(PITRACE_MTE_NAME, leader,
				 pitrace_arch_task_is_32bit(leader) ? PITRACE_NAME_32 :
								      PITRACE_NAME_64);
	return snapshot_describe_mappings(leader, budget);
}

static void snapshot_describe_thread(struct task_struct *thread, enum pitrace_snapshot when)
{
	const u32 ints[] = { thread->tgid, thread->pid };

	if (when == PITRACE_SNAPSHOT_START)
		snapshot_write_mte(PITRACE_MTE_CREATE_THREAD, ints, ARRAY_SIZE(ints));
	pitrace_mte_namespace_ids(thread);
	snapshot_write_task_name(PITRACE_MTE_THREAD_NAME, thread, thread->pid);
}

/* Describes the tasks that are not in known. Returns their number, or -EINTR, -ENOMEM. */
static int snapshot_describe_new(const struct pitrace_tasks *tasks,
				 const struct pitrace_tasks *known, enum pitrace_snapshot when,
				 unsigned int *budget)
{
	unsigned int i;
	int described = 0;
	int error = 0;

	for (i = 0; i < tasks->count && !error; i++) {
		struct task_struct *task = tasks->task[i];

		if (pitrace_tasks_contain(known, task))
			continue;
		described++;
		if (thread_group_leader(task))
			error = snapshot_describe_process(task, budget);
		else
			snapshot_describe_thread(task, when);
		cond_resched();
	}
	return error ?: described;
}

void pitrace_snapshot_kernel(void)
{
	const struct pitrace_module kernel = {};

	pitrace_write_module(&kernel, PITRACE_KERNEL_NAME, strlen(PITRACE_KERNEL_NAME));
}

/*
 * If a child's fork was recorded before its parent was described here, it has copies of mappings that
 * a reader does not know yet. The next round finds it and describes it completely. A round finds only
 * children of tasks that the previous round described, so the rounds end; if tasks fork faster than
 * they can be described, only their fork records remain.
 */
#define ROUNDS 8

int pitrace_snapshot_tasks(enum pitrace_snapshot when)
{
	struct pitrace_tasks known = {}, tasks;
	unsigned int budget = WAIT_FOR_ALL;
	int round, found = 1;

	for (round = 0; round < ROUNDS && found > 0; round++) {
		found = pitrace_tasks_collect(&tasks);
		if (found)
			break;
		found = snapshot_describe_new(&tasks, &known, when, &budget);
		pitrace_tasks_sort(&tasks);
		/* Known tasks that are still alive are in tasks too. */
		pitrace_tasks_release(&known);
		known = tasks;
	}
	pitrace_tasks_release(&known);
	return found < 0 ? found : 0;
}
