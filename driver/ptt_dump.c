// SPDX-License-Identifier: GPL-2.0-only
/*
 * All of PTT's accounts at one moment. All CPUs stand still meanwhile, each with its counters read,
 * so that the sums are as exact as after the end. That takes as long as copying the accounts.
 */

#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/stop_machine.h>
#include <linux/string.h>

#include "ptt.h"

/* What a CPU charged when it stood still, and its counters. */
struct standing {
	struct pitrace_ptt_account *charged; /* NULL: nothing */
	u64 at[PITRACE_PTT_METRICS];
};

struct copying {
	struct pitrace_ptt_snapshot *snapshot;
	struct standing *standing; /* by CPU */
	u32 *number; /* of the account of each row */
	u32 room; /* rows */
	unsigned int copier; /* which CPU does it */
};

static void add(u64 to[], const u64 what[])
{
	u32 i;

	for (i = 0; i < PITRACE_PTT_METRICS; i++)
		to[i] += what[i];
}

static void copy_cpu(struct pitrace_ptt_snapshot *snapshot, unsigned int cpu)
{
	const struct pitrace_ptt_cpu_state *state = per_cpu_ptr(&pitrace_ptt_cpus, cpu);
	struct pitrace_ptt_dump *head = &snapshot->head;
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
	head->homeless_dispatches += state->homeless.dispatches;
	head->homeless_interrupts += state->homeless.interrupts;
	add(head->homeless, state->homeless.value);
}

static void copy_row(struct pitrace_ptt_thread *row, const struct pitrace_ptt_account *account)
{
	row->pid = account->pid;
	row->tid = account->tid;
	row->flags = account->task ? 0 : PITRACE_PTT_ENDED;
	row->dispatches = account->dispatches;
	row->interrupts = account->interrupts;
	memcpy(row->value, account->value, sizeof(row->value));
	memcpy(row->name, account->name, sizeof(row->name));
}

/* While nobody charges. More accounts than rows: only their number is told. */
static void copy_all(struct copying *copying)
{
	struct pitrace_ptt_dump *head = &copying->snapshot->head;
	const struct pitrace_ptt_account *account;
	unsigned int cpu;
	u32 i;

	for_each_possible_cpu(cpu)
		copy_cpu(copying->snapshot, cpu);
	for (i = 1; i < pitrace_ptt_threads_room(); i++) {
		account = pitrace_ptt_thread(i);
		if (!account)
			continue;
		if (head->threads < copying->room) {
			copying->number[head->threads] = i;
			copy_row(copying->snapshot->thread + head->threads, account);
		}
		head->threads++;
	}
	pitrace_ptt_forgotten(head);
}

/* On every CPU, at the same time, with interrupts off. */
static int stand_still(void *data)
{
	struct pitrace_ptt_cpu_state *state = this_cpu_ptr(&pitrace_ptt_cpus);
	struct copying *copying = data;
	struct standing *standing = copying->standing + smp_processor_id();

	if (state->open) {
		pitrace_ptt_look(state);
		standing->charged = state->charged;
		memcpy(standing->at, state->at, sizeof(standing->at));
	}
	if (smp_processor_id() == copying->copier)
		copy_all(copying);
	return 0;
}

/* What was charged when it was copied is short of the counters. */
static void complete_cpu(struct copying *copying, unsigned int cpu)
{
	const struct pitrace_ptt_cpu_state *state = per_cpu_ptr(&pitrace_ptt_cpus, cpu);
	const struct standing *standing = copying->standing + cpu;
	struct pitrace_ptt_snapshot *snapshot = copying->snapshot;
	u32 i, number;

	if (!standing->charged)
		return;
	add(snapshot->cpu[cpu].elapsed, standing->at);
	if (standing->charged == &state->interrupt) {
		add(snapshot->cpu[cpu].interrupt, standing->at);
	} else if (standing->charged == &state->idle) {
		add(snapshot->cpu[cpu].idle, standing->at);
	} else if (standing->charged == &state->homeless) {
		add(snapshot->head.homeless, standing->at);
	} else {
		number = standing->charged - pitrace_ptt_table.account;
		for (i = 0; i < snapshot->head.threads; i++) {
			if (copying->number[i] == number)
				add(snapshot->thread[i].value, standing->at);
		}
	}
}

/* Threads may have been renamed since they were first met. */
static void name_thread(struct pitrace_ptt_thread *row)
{
	struct task_struct *task;

	rcu_read_lock();
	task = pid_task(find_pid_ns((int)row->tid, &init_pid_ns), PIDTYPE_PID);
	if (task && !(row->flags & PITRACE_PTT_ENDED))
		strscpy_pad(row->name, task->comm, sizeof(row->name));
	rcu_read_unlock();
}

/* Leaves out CPUs of which nothing is known. */
static void pack_cpus(struct pitrace_ptt_snapshot *snapshot)
{
	unsigned int cpu;
	u32 count = 0;

	for_each_possible_cpu(cpu) {
		if (!snapshot->cpu[cpu].elapsed[0] && !snapshot->cpu[cpu].dispatches)
			continue;
		if (pitrace_ptt_counters_lost(cpu))
			snapshot->cpu[cpu].flags |= PITRACE_PTT_CPU_COUNTERS_LOST;
		snapshot->cpu[count++] = snapshot->cpu[cpu];
	}
	snapshot->head.cpus = count;
}

static void finish(struct copying *copying)
{
	struct pitrace_ptt_snapshot *snapshot = copying->snapshot;
	unsigned int cpu;
	u32 i;

	for_each_possible_cpu(cpu)
		complete_cpu(copying, cpu);
	pack_cpus(snapshot);
	for (i = 0; i < snapshot->head.threads; i++)
		name_thread(snapshot->thread + i);
}

static bool allocate(struct copying *copying)
{
	struct pitrace_ptt_snapshot *snapshot;

	/* For those that start meanwhile. */
	copying->room = pitrace_ptt_threads_used() + 256;
	copying->standing = kvcalloc(nr_cpu_ids, sizeof(*copying->standing), GFP_KERNEL);
	copying->number = kvcalloc(copying->room, sizeof(*copying->number), GFP_KERNEL);
	snapshot = kzalloc(sizeof(*snapshot), GFP_KERNEL);
	copying->snapshot = snapshot;
	if (!snapshot)
		return false;
	refcount_set(&snapshot->users, 1);
	snapshot->thread = kvcalloc(copying->room, sizeof(*snapshot->thread), GFP_KERNEL);
	snapshot->cpu = kvcalloc(nr_cpu_ids, sizeof(*snapshot->cpu), GFP_KERNEL);
	return copying->standing && copying->number && snapshot->thread && snapshot->cpu;
}

static void free_helpers(struct copying *copying)
{
	kvfree(copying->standing);
	kvfree(copying->number);
}

struct pitrace_ptt_snapshot *pitrace_ptt_snapshot_take(void)
{
	struct copying copying;

	for (;;) {
		memset(&copying, 0, sizeof(copying));
		if (!allocate(&copying))
			break;
		if (pitrace_ptt_is_active()) {
			copying.copier = cpumask_any(cpu_online_mask);
			stop_machine(stand_still, &copying, cpu_online_mask);
		} else {
			copy_all(&copying);
		}
		if (copying.snapshot->head.threads && copying.snapshot->head.threads <= copying.room) {
			finish(&copying);
			free_helpers(&copying);
			return copying.snapshot;
		}
		/* Too many have started, or the CPU that was to copy went away. */
		free_helpers(&copying);
		pitrace_ptt_snapshot_put(copying.snapshot);
	}
	free_helpers(&copying);
	pitrace_ptt_snapshot_put(copying.snapshot);
	return NULL;
}

void pitrace_ptt_snapshot_put(struct pitrace_ptt_snapshot *snapshot)
{
	if (!snapshot || !refcount_dec_and_test(&snapshot->users))
		return;
	kvfree(snapshot->thread);
	kvfree(snapshot->cpu);
	kfree(snapshot);
}
