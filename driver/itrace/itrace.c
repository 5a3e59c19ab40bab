// SPDX-License-Identifier: GPL-2.0-only
/* ITrace as a whole: install and remove, on and off. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/threads.h>
#include <linux/workqueue.h>

#include "core/compat.h"
#include "core/probes.h"
#include "core/tasks.h"
#include "itrace.h"
#include "itrace_calls.h"

/* Milliseconds that ITrace off and remove wait for threads with the trap flag (TF) set ... */
#define TF_DRAIN_TIMEOUT_MS 2000
/* ... which in the first of these may stop at their next trap and record their end. */
#define TF_DRAIN_TRAPS_MS 50

/* ---- ending ---- */

static u32 itrace_may_have_tf(void)
{
	u32 threads, untraced, count;

	pitrace_it_threads_count(&threads, &untraced, &count);
	return count;
}

/* Printed here and not where it happens, as nothing may print in a trap. */
static void itrace_report_bad_changes(void)
{
	unsigned int cpu;

	for_each_possible_cpu (cpu) {
		const u32 change = READ_ONCE(per_cpu_ptr(&pitrace_it_cpus, cpu)->bad_change);

		if (change)
			pr_err("BUG: ITrace: a trap flag's state changed from %u to %u\n",
			       change >> 8, change & 0xff);
	}
}

/* No thread has TF set. */
static void itrace_detach_and_free(void)
{
	unsigned int cpu;

	pitrace_hooks_detach(pitrace_it_interrupt_hooks.hooks, pitrace_it_interrupt_hooks.count);
	pitrace_hooks_detach(pitrace_it_hooks.hooks, pitrace_it_hooks.count);
	pitrace_it_remove_all();
	pitrace_it_branches_stop();
	/* The exception source reads these in traps. */
	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu_ptr(&pitrace_it_cpus, cpu)->running, NULL);
	synchronize_rcu();
	/* Task work has run, but may not have returned from this module. */
	synchronize_rcu_tasks();
	itrace_report_bad_changes();
	pitrace_it_threads_free();
	pitrace_it_set_follower(NULL);
}

static void itrace_drain(struct work_struct *unused);
static DECLARE_DELAYED_WORK(itrace_drain_work, itrace_drain);

static void itrace_drain(struct work_struct *unused)
{
	mutex_lock(&pitrace_it_state.lock);
	if (pitrace_it_state.draining) {
		pitrace_it_clean_sleeping();
		on_each_cpu(pitrace_it_clean_here, NULL, true);
	}
	if (pitrace_it_state.draining && itrace_may_have_tf()) {
		schedule_delayed_work(&itrace_drain_work, HZ / 20);
	} else if (pitrace_it_state.draining) {
		itrace_detach_and_free();
		pitrace_it_state.draining = false;
		module_put(THIS_MODULE);
	}
	mutex_unlock(&pitrace_it_state.lock);
}

/*
 * A running thread stops at its next trap; one that sleeps in the kernel has no TF. The registers of threads that do not
 * run, because they are stopped or wait for a CPU, are cleaned in memory. Only threads that were preempted in an interrupt
 * or in a fault of the kernel can remain. True: no TF is left. A killed caller does not wait.
 */
static bool itrace_wait_for_drain(void)
{
	const unsigned long begin = jiffies;

	while (itrace_may_have_tf()) {
		if (time_after(jiffies, begin + msecs_to_jiffies(TF_DRAIN_TRAPS_MS))) {
			pitrace_it_clean_sleeping();
			on_each_cpu(pitrace_it_clean_here, NULL, true);
			if (!itrace_may_have_tf())
				break;
		}
		if (time_after(jiffies, begin + msecs_to_jiffies(TF_DRAIN_TIMEOUT_MS)) ||
		    fatal_signal_pending(current))
			return false;
		schedule_timeout_killable(1);
	}
	return true;
}

/*
 * On return no TF is set any more: hooks and traps test pitrace_it_runs and set TF with preemption off, that is in a
 * read-side section of RCU.
 */
static void itrace_stop_running(void)
{
	WRITE_ONCE(pitrace_it_runs, false);
	pitrace_it_wake_waiting();
	synchronize_rcu();
}

/* While a TF is left, the hooks stay attached and the module loaded. */
static void itrace_remove_locked(void)
{
	WRITE_ONCE(pitrace_it_state.on_for_all, false);
	itrace_stop_running();
	pitrace_it_state.installed = false;
	if (!itrace_wait_for_drain()) {
		pitrace_it_state.draining = true;
		__module_get(THIS_MODULE);
		schedule_delayed_work(&itrace_drain_work, HZ / 20);
		return;
	}
	itrace_detach_and_free();
}

/* All threads stop at their next trap; then they are removed. */
static void itrace_stop_threads(void)
{
	WRITE_ONCE(pitrace_it_state.on_for_all, false);
	itrace_stop_running();
	if (itrace_wait_for_drain())
		pitrace_it_remove_all();
	else
		pitrace_it_end_all();
}

/* ---- starting ---- */

static bool itrace_lacks_hook(void)
{
	u32 i;

	for (i = 0; i < pitrace_it_hooks.count; i++) {
		if (!pitrace_it_hooks.hooks[i].attached)
			return true;
	}
	return false;
}

static bool itrace_is_valid(const struct pitrace_itrace *wanted)
{
	const u32 known = PITRACE_ITRACE_RING | PITRACE_ITRACE_COUNT | PITRACE_ITRACE_STEP |
			  PITRACE_ITRACE_INTERRUPTS | PITRACE_ITRACE_NO_KERNEL |
			  PITRACE_ITRACE_NO_USER | PITRACE_ITRACE_CHILDREN |
			  PITRACE_ITRACE_CONTINUOUS;
	const u32 neither = PITRACE_ITRACE_NO_KERNEL | PITRACE_ITRACE_NO_USER;

	if ((wanted->flags & ~known) || (wanted->flags & neither) == neither)
		return false;
	if (wanted->threads > PITRACE_ITRACE_THREADS_MAX)
		return false;
	return wanted->flags & PITRACE_ITRACE_CONTINUOUS ? wanted->reserve > 0 : !wanted->reserve;
}

static void itrace_set_up(const struct pitrace_itrace *wanted)
{
	pitrace_it_setup.flags = wanted->flags | PITRACE_ITRACE_RING;
	pitrace_it_setup.kernel = !(wanted->flags & PITRACE_ITRACE_NO_KERNEL);
	pitrace_it_setup.user = !(wanted->flags & PITRACE_ITRACE_NO_USER);
	pitrace_it_setup.counted = wanted->flags & PITRACE_ITRACE_COUNT;
	pitrace_it_setup.reserve = wanted->reserve;
}

static void itrace_reset_counts(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&pitrace_it_cpus, cpu), 0, sizeof(struct pitrace_it_cpu));
}

static int itrace_install_locked(const struct pitrace_itrace *wanted)
{
	int error;

	if (pitrace_it_state.installed || pitrace_it_state.draining)
		return -EBUSY;
	if (!pitrace_it_cpu_supported())
		return -EPROTONOSUPPORT;
	error = pitrace_it_threads_alloc(wanted->threads ? wanted->threads :
							   PITRACE_ITRACE_THREADS_DEFAULT);
	if (error)
		return error;
	itrace_set_up(wanted);
	pitrace_it_set_follower(get_current_cred());
	pitrace_it_hold_reset();
	itrace_reset_counts();
	pitrace_it_pids_forget();
	pitrace_hooks_attach(pitrace_it_hooks.hooks, pitrace_it_hooks.count);
	/* Some kernels lack some of these: they are not required. */
	if (wanted->flags & PITRACE_ITRACE_INTERRUPTS)
		pitrace_hooks_attach(pitrace_it_interrupt_hooks.hooks,
				     pitrace_it_interrupt_hooks.count);
	if (itrace_lacks_hook()) {
		itrace_detach_and_free();
		return -EOPNOTSUPP;
	}
	/* Instructions can be counted only where each one traps. */
	if (pitrace_it_setup.user && !(wanted->flags & (PITRACE_ITRACE_STEP | PITRACE_ITRACE_COUNT)))
		pitrace_it_branches_start();
	pitrace_it_state.installed = true;
	WRITE_ONCE(pitrace_it_runs,
		   pitrace_it_state.tracing && !READ_ONCE(pitrace_it_state.shut_down));
	return 0;
}

int pitrace_itrace_install(const struct pitrace_itrace *wanted)
{
	int error;

	if (!itrace_is_valid(wanted))
		return -EINVAL;
	if (!(wanted->flags & PITRACE_ITRACE_NO_KERNEL) && !perfmon_capable())
		return -EACCES;
	if (mutex_lock_killable(&pitrace_it_state.lock))
		return -EINTR;
	error = itrace_install_locked(wanted);
	mutex_unlock(&pitrace_it_state.lock);
	return error;
}

int pitrace_itrace_remove(void)
{
	int error = -EALREADY;

	mutex_lock(&pitrace_it_state.lock);
	if (pitrace_it_state.installed) {
		itrace_remove_locked();
		error = 0;
	}
	mutex_unlock(&pitrace_it_state.lock);
	return error;
}

/* ---- on and off ---- */

static void itrace_set_up_thread(struct pitrace_it_thread *thread, struct task_struct *task)
{
	thread->tf = ITRACE_TF_NEW;
}

/* A stopped task gets no task work, which would keep this module loaded until the task continues. */
static void itrace_begin_following(struct pitrace_it_thread *thread, struct task_struct *task)
{
	const unsigned int state = READ_ONCE(task->__state);

	/* A thread that sleeps in a system call begins in the sys_exit hook. */
	if (task == current || state == TASK_RUNNING)
		pitrace_it_attach(thread, task);
	else if (state & (__TASK_STOPPED | __TASK_TRACED))
		pitrace_it_attach_when_woken(thread);
}

static int itrace_add_thread(struct task_struct *task)
{
	struct pitrace_it_thread *thread;
	bool known;

	thread = pitrace_it_add(task, &known, itrace_set_up_thread);
	if (!thread)
		return known ? -EALREADY : -ENOSPC;
	itrace_begin_following(thread, task);
	return 0;
}

/* The pid may have been reused since it was enabled, and credentials may change during the check: compare them. */
static void itrace_add_if_allowed(struct task_struct *task)
{
	const struct cred *before = get_task_cred(task);
	struct pitrace_it_thread *thread;

	if (!pitrace_it_caller_may_follow(task_tgid_nr(task)) && !itrace_add_thread(task)) {
		preempt_disable();
		thread = pitrace_it_find(task);
		if (thread && thread->cred != before)
			WRITE_ONCE(thread->ended, true);
		preempt_enable();
	}
	put_cred(before);
}

static int itrace_add_all(void)
{
	struct pitrace_tasks tasks;
	unsigned int i;
	int error;

	error = pitrace_tasks_collect(&tasks);
	if (error)
		return error;
	for (i = 0; i < tasks.count; i++) {
		struct task_struct *task = tasks.task[i];

		if (!pitrace_task_is_kernel_only(task) &&
		    pitrace_it_pid_selected(task_tgid_nr(task), false))
			itrace_add_if_allowed(task);
		cond_resched();
	}
	pitrace_tasks_release(&tasks);
	return 0;
}

/* The fork hook adds threads that are created meanwhile. */
static int itrace_on_for_all_locked(void)
{
	int error;

	if (pitrace_it_state.on_for_all)
		return -EALREADY;
	WRITE_ONCE(pitrace_it_state.on_for_all, true);
	error = itrace_add_all();
	if (error) {
		itrace_stop_threads();
		WRITE_ONCE(pitrace_it_runs,
			   pitrace_it_state.tracing && !READ_ONCE(pitrace_it_state.shut_down));
		return error;
	}
	/* In a program that streams its own trace, only the calling thread is followed. */
	if (!pitrace_it_may_spread(task_tgid_nr(current)) &&
	    pitrace_it_is_named(task_tgid_nr(current)))
		itrace_add_thread(current);
	return 0;
}

static int itrace_off_for_self(void)
{
	struct pitrace_it_thread *thread;

	preempt_disable();
	thread = pitrace_it_find(current);
	if (thread)
		pitrace_it_end_self(thread, PITRACE_STOP_OFF);
	preempt_enable();
	return thread ? 0 : -EALREADY;
}

/* Without the lock the slots may be freed meanwhile: threads stop at their next trap, without a wait for them. */
bool pitrace_it_shut_down(bool for_good)
{
	const unsigned long end = jiffies + msecs_to_jiffies(TF_DRAIN_TIMEOUT_MS);
	bool locked = mutex_trylock(&pitrace_it_state.lock);

	if (for_good)
		WRITE_ONCE(pitrace_it_state.shut_down, true);
	for (; !locked && time_before(jiffies, end); locked = mutex_trylock(&pitrace_it_state.lock))
		schedule_timeout_uninterruptible(1);
	if (!locked) {
		itrace_stop_running();
	} else if (pitrace_it_state.installed) {
		itrace_stop_threads();
		if (!for_good)
			WRITE_ONCE(pitrace_it_runs, pitrace_it_state.tracing);
	}
	pitrace_it_clear_here();
	if (locked)
		mutex_unlock(&pitrace_it_state.lock);
	return locked;
}

int pitrace_itrace_on(u32 what)
{
	int error;

	if (mutex_lock_killable(&pitrace_it_state.lock))
		return -EINTR;
	if (READ_ONCE(pitrace_it_state.shut_down))
		error = -ESHUTDOWN;
	else if (!pitrace_it_state.installed || !pitrace_it_state.tracing)
		error = -EINVAL;
	else if (what == PITRACE_ITRACE_ALL)
		error = itrace_on_for_all_locked();
	else
		error = pitrace_it_is_enabled(task_tgid_nr(current)) ? itrace_add_thread(current) :
								       -EINVAL;
	mutex_unlock(&pitrace_it_state.lock);
	return error;
}

int pitrace_itrace_off(u32 what)
{
	int error = 0;

	/* Before anything else, so that little of this call is in the trace. */
	if (what == PITRACE_ITRACE_SELF)
		return itrace_off_for_self();
	if (mutex_lock_killable(&pitrace_it_state.lock))
		return -EINTR;
	if (!pitrace_it_state.installed) {
		error = -EINVAL;
	} else if (!pitrace_it_state.on_for_all) {
		error = -EALREADY;
	} else {
		itrace_stop_threads();
		WRITE_ONCE(pitrace_it_runs,
			   pitrace_it_state.tracing && !READ_ONCE(pitrace_it_state.shut_down));
	}
	mutex_unlock(&pitrace_it_state.lock);
	return error;
}

void pitrace_itrace_trace_begins(void)
{
	mutex_lock(&pitrace_it_state.lock);
	pitrace_it_forget();
	pitrace_it_state.tracing = true;
	WRITE_ONCE(pitrace_it_runs,
		   pitrace_it_state.installed && !READ_ONCE(pitrace_it_state.shut_down));
	mutex_unlock(&pitrace_it_state.lock);
}

void pitrace_itrace_trace_ends(void)
{
	mutex_lock(&pitrace_it_state.lock);
	pitrace_it_state.tracing = false;
	if (pitrace_it_state.installed)
		itrace_stop_threads();
	mutex_unlock(&pitrace_it_state.lock);
}

void pitrace_itrace_trace_forgets(void)
{
	pitrace_it_forget();
}

void pitrace_it_stop_work(void)
{
	/* While a drain is not done, it holds a reference to the module. */
	cancel_delayed_work_sync(&itrace_drain_work);
}

int pitrace_itrace_enable(const struct pitrace_itrace_pids *pids, bool owner, bool lasting)
{
	int error = -EINVAL;

	if (pids->first > pids->last)
		return -EINVAL;
	if (mutex_lock_killable(&pitrace_it_state.lock))
		return -EINTR;
	if (pitrace_it_state.installed)
		error = pitrace_it_pids_add(pids, owner, lasting);
	mutex_unlock(&pitrace_it_state.lock);
	return error;
}

int pitrace_itrace_disable(void)
{
	if (mutex_lock_killable(&pitrace_it_state.lock))
		return -EINTR;
	pitrace_it_pids_forget();
	mutex_unlock(&pitrace_it_state.lock);
	return 0;
}

int pitrace_itrace_info(struct pitrace_itrace_info *info)
{
	unsigned int cpu;

	if (mutex_lock_killable(&pitrace_it_state.lock))
		return -EINTR;
	memset(info, 0, sizeof(*info));
	info->installed = pitrace_it_state.installed;
	info->flags = pitrace_it_setup.flags;
	info->on = pitrace_it_state.on_for_all;
	info->branch_trap = pitrace_it_setup.branch_traps;
	pitrace_it_threads_count(&info->threads, &info->untraced, &info->dirty);
	for_each_possible_cpu(cpu) {
		const struct pitrace_it_cpu *counts = per_cpu_ptr(&pitrace_it_cpus, cpu);

		info->steps += READ_ONCE(counts->steps);
		info->branches += READ_ONCE(counts->branches);
		info->gaps += READ_ONCE(counts->gaps);
	}
	mutex_unlock(&pitrace_it_state.lock);
	return 0;
}
