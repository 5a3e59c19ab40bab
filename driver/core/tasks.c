// SPDX-License-Identifier: GPL-2.0-only
/* Sets of tasks: collects all existing tasks, and looks up one. */

#include <linux/bsearch.h>
#include <linux/idr.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "table.h"
#include "tasks.h"

/* Ids examined in one RCU read-side section. */
#define IDS_AT_ONCE 256

/* 0 or -ENOMEM. */
static int tasks_make_space(struct pitrace_tasks *tasks, unsigned int wanted)
{
	struct task_struct **task;
	unsigned int space;

	if (tasks->space >= wanted)
		return 0;
	space = max(wanted, tasks->space + tasks->space / 2);
	task = pitrace_table_alloc(space, sizeof(*task));
	if (!task)
		return -ENOMEM;
	if (tasks->count)
		memcpy(task, tasks->task, tasks->count * sizeof(*task));
	kvfree(tasks->task);
	tasks->task = task;
	tasks->space = space;
	return 0;
}

/*
 * Adds the tasks with the next IDS_AT_ONCE ids from *id on, for which there is space: thread group leaders, or other
 * threads. False: there are no more ids.
 */
static bool tasks_add_some(struct pitrace_tasks *tasks, int *id, bool leaders)
{
	struct task_struct *task;
	struct pid *pid = NULL;
	unsigned int i;

	rcu_read_lock();
	for (i = 0; i < IDS_AT_ONCE; i++, (*id)++) {
		pid = idr_get_next(&init_pid_ns.idr, id);
		if (!pid)
			break;
		task = pid_task(pid, PIDTYPE_PID);
		if (task && thread_group_leader(task) == leaders)
			tasks->task[tasks->count++] = get_task_struct(task);
	}
	rcu_read_unlock();
	return pid;
}

/* 0, -ENOMEM or -EINTR. */
static int tasks_add_all(struct pitrace_tasks *tasks, bool leaders)
{
	int error, id = 1;
	bool more;

	do {
		error = tasks_make_space(tasks, tasks->count + IDS_AT_ONCE);
		if (error)
			return error;
		if (fatal_signal_pending(current))
			return -EINTR;
		more = tasks_add_some(tasks, &id, leaders);
		cond_resched();
	} while (more);
	return 0;
}

static void tasks_reverse(struct task_struct **task, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count / 2; i++)
		swap(task[i], task[count - 1 - i]);
}

/* Moves the second part before the first; each keeps its order. */
static void tasks_exchange(struct pitrace_tasks *tasks, unsigned int first)
{
	const unsigned int second = tasks->count - first;

	tasks_reverse(tasks->task, tasks->count);
	tasks_reverse(tasks->task, second);
	tasks_reverse(tasks->task + second, first);
}

/* exec can make a thread a leader, but a leader never becomes another thread: so leaders are collected last. */
int pitrace_tasks_collect(struct pitrace_tasks *tasks)
{
	unsigned int others;
	int error;

	memset(tasks, 0, sizeof(*tasks));
	error = tasks_add_all(tasks, false);
	others = tasks->count;
	if (!error)
		error = tasks_add_all(tasks, true);
	if (error)
		pitrace_tasks_release(tasks);
	else
		tasks_exchange(tasks, others);
	return error;
}

static int tasks_compare(const void *a, const void *b)
{
	const struct task_struct *first = *(struct task_struct *const *)a;
	const struct task_struct *second = *(struct task_struct *const *)b;

	return first < second ? -1 : first > second;
}

void pitrace_tasks_sort(struct pitrace_tasks *tasks)
{
	sort(tasks->task, tasks->count, sizeof(*tasks->task), tasks_compare, NULL);
}

/* Each task has a reference, so its address cannot be reused for another task. */
bool pitrace_tasks_contain(const struct pitrace_tasks *tasks, const struct task_struct *task)
{
	return tasks->count &&
	       bsearch(&task, tasks->task, tasks->count, sizeof(*tasks->task), tasks_compare);
}

void pitrace_tasks_release(struct pitrace_tasks *tasks)
{
	while (tasks->count)
		put_task_struct(tasks->task[--tasks->count]);
	kvfree(tasks->task);
	tasks->task = NULL;
	tasks->space = 0;
}
