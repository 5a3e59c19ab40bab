/* SPDX-License-Identifier: GPL-2.0-only */
/* Sets of tasks. */
#ifndef PITRACE_CORE_TASKS_H
#define PITRACE_CORE_TASKS_H

#include <linux/sched.h>
#include <linux/types.h>

struct pitrace_tasks {
	struct task_struct **task; /* one reference each */
	unsigned int count;
	unsigned int space;
};

/*
 * Collects at least all tasks that exist during the whole call, leaders before other threads. A thread that becomes a
 * leader meanwhile may be collected twice. 0, -ENOMEM or -EINTR.
 */
int pitrace_tasks_collect(struct pitrace_tasks *tasks);
/* Required before pitrace_tasks_contain(); changes the order. */
void pitrace_tasks_sort(struct pitrace_tasks *tasks);
bool pitrace_tasks_contain(const struct pitrace_tasks *tasks, const struct task_struct *task);
void pitrace_tasks_release(struct pitrace_tasks *tasks);

#endif /* PITRACE_CORE_TASKS_H */
