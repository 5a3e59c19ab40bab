// SPDX-License-Identifier: GPL-2.0-only
/* Sets of tasks: all that exist at one time, and whether one is among them. */

#include <linux/bsearch.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "pitrace.h"

/* 0, or how many there are when there is no room for all. */
static unsigned int fill(struct pitrace_tasks *tasks, unsigned int room)
{
	struct task_struct *process, *task;
	unsigned int found = 0;

	rcu_read_lock();
	for_each_process_thread(process, task) {
		if (found++ < room)
			tasks->task[tasks->count++] = get_task_struct(task);
	}
	rcu_read_unlock();
	return found > room ? found : 0;
}

int pitrace_tasks_collect(struct pitrace_tasks *tasks)
{
	unsigned int room = 1024;

	for (;;) {
		tasks->count = 0;
		tasks->task = kvmalloc_array(room, sizeof(*tasks->task), GFP_KERNEL);
		if (!tasks->task)
			return -ENOMEM;
		room = fill(tasks, room);
		if (!room)
			return 0;
		pitrace_tasks_release(tasks);
		if (fatal_signal_pending(current))
			return -EINTR;
		/* For those that start meanwhile. */
		room += room / 4;
	}
}

static int compare(const void *a, const void *b)
{
	const struct task_struct *first = *(struct task_struct *const *)a;
	const struct task_struct *second = *(struct task_struct *const *)b;

	return first < second ? -1 : first > second;
}

void pitrace_tasks_sort(struct pitrace_tasks *tasks)
{
	sort(tasks->task, tasks->count, sizeof(*tasks->task), compare, NULL);
}

/* The reference keeps a task's address from being another's. */
bool pitrace_tasks_contain(const struct pitrace_tasks *tasks, const struct task_struct *task)
{
	return tasks->count &&
	       bsearch(&task, tasks->task, tasks->count, sizeof(*tasks->task), compare);
}

void pitrace_tasks_release(struct pitrace_tasks *tasks)
{
	while (tasks->count)
		put_task_struct(tasks->task[--tasks->count]);
	kvfree(tasks->task);
	tasks->task = NULL;
}
