// SPDX-License-Identifier: GPL-2.0-only
/* Starts and stops PTT, handles CPU hotplug, and implements the ioctls. */

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/threads.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "ptt.h"
#include "ptt_calls.h"

/* Changed under cpus_read_lock(), and read by the hotplug callbacks, which exclude that. */
static bool charging;

static enum cpuhp_state hotplug_state;

/* ---- starting and stopping, under the lock ---- */

static void ptt_reset_cpu(unsigned int cpu)
{
	struct pitrace_ptt_cpu_state *state = per_cpu_ptr(&pitrace_ptt_cpus, cpu);

	memset(state, 0, sizeof(*state));
	state->thread = &state->without_account;
	state->charged = &state->without_account;
}

static void ptt_open_all(void)
{
	cpus_read_lock();
	charging = true;
	on_each_cpu(pitrace_ptt_open_cpu, NULL, 1);
	cpus_read_unlock();
}

static void ptt_close_all(void)
{
	cpus_read_lock();
	charging = false;
	on_each_cpu(pitrace_ptt_close_cpu, NULL, 1);
	cpus_read_unlock();
}

static void ptt_adjust(struct work_struct *unused)
{
	mutex_lock(&pitrace_ptt_lock);
	if (pitrace_ptt_instance.active)
		pitrace_ptt_counters_adjust();
	mutex_unlock(&pitrace_ptt_lock);
}

static DECLARE_WORK(adjust_work, ptt_adjust);

static int ptt_start(const struct pitrace_ptt_init *init)
{
	unsigned int cpu;
	int error;

	for_each_possible_cpu(cpu)
		ptt_reset_cpu(cpu);
	error = pitrace_ptt_threads_alloc(init->threads, init->pids);
	if (error)
		return error;
	error = pitrace_ptt_counters_start();
	if (error)
		goto free_threads;
	error = pitrace_ptt_hooks_attach();
	if (error)
		goto stop_counters;
	ptt_open_all();
	/* For CPUs that came online after the counters were created. */
	schedule_work(&adjust_work);
	return 0;

stop_counters:
	pitrace_ptt_counters_stop();
free_threads:
	pitrace_ptt_threads_free();
	return error;
}

/* Slots become inactive first: readers check that last, so they never use counts of a charge that has ended. */
static void ptt_stop(void)
{
	pitrace_ptt_areas_deactivate();
	ptt_close_all();
	pitrace_ptt_hooks_detach();
	pitrace_ptt_areas_release_slots();
	pitrace_ptt_instance.active = false;
	pitrace_ptt_instance.last = pitrace_ptt_snapshot_take();
	pitrace_ptt_counters_stop();
	pitrace_ptt_threads_free();
	if (!pitrace_ptt_instance.owner)
		module_put(THIS_MODULE);
	pitrace_ptt_instance.owner = NULL;
}

/* ---- CPU hotplug: offline time is not accounted ---- */

/* Before any user-space thread can run here. Its counters are created later, if that succeeds. */
static int ptt_cpu_online_now(unsigned int cpu)
{
	unsigned long flags;

	pitrace_ptt_counters_invalidate(cpu);
	if (!charging)
		return 0;
	local_irq_save(flags);
	pitrace_ptt_open_cpu(NULL);
	local_irq_restore(flags);
	schedule_work(&adjust_work);
	return 0;
}

static int ptt_cpu_offline_soon(unsigned int cpu)
{
	unsigned long flags;

	local_irq_save(flags);
	pitrace_ptt_close_cpu(NULL);
	local_irq_restore(flags);
	pitrace_ptt_counters_invalidate(cpu);
	if (charging)
		schedule_work(&adjust_work);
	return 0;
}

int pitrace_ptt_init(void)
{
	int error, state;

	state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "pitrace:ptt", ptt_cpu_online_now,
					  ptt_cpu_offline_soon);
	if (state < 0)
		return state;
	hotplug_state = state;
	error = pitrace_ptt_area_init();
	if (error)
		cpuhp_remove_state_nocalls(hotplug_state);
	return error;
}

/* The devices are not open, and an instance with KEEP holds the module: there is no instance. */
void pitrace_ptt_exit(void)
{
	pitrace_ptt_area_exit();
	cpuhp_remove_state_nocalls(hotplug_state);
	cancel_work_sync(&adjust_work);
	pitrace_ptt_threads_exit();
	pitrace_ptt_snapshot_put(pitrace_ptt_instance.last);
}

/* ---- ioctls ---- */

static bool ptt_metric_is_good(const struct pitrace_ptt_metric *metric)
{
	const u32 both = PITRACE_PTT_NO_KERNEL | PITRACE_PTT_NO_USER;

	if (strnlen(metric->name, sizeof(metric->name)) == sizeof(metric->name))
		return false;
	if (metric->kind == PITRACE_PTT_CYCLES)
		return !metric->flags;
	return metric->kind == PITRACE_PTT_COUNTER && !(metric->flags & ~both) &&
	       metric->flags != both;
}

static bool ptt_is_good(const struct pitrace_ptt_init *init)
{
	u32 cycles = 0;
	u32 i;

	if (!init->metrics || init->metrics > PITRACE_PTT_METRICS ||
	    (init->flags & ~(PITRACE_PTT_KEEP | PITRACE_PTT_FORCE)) ||
	    init->threads < PITRACE_PTT_THREADS_MIN || init->threads > PITRACE_PTT_THREADS_MAX ||
	    !init->pids || init->pids > PID_MAX_LIMIT)
		return false;
	for (i = 0; i < init->metrics; i++) {
		if (!ptt_metric_is_good(&init->metric[i]))
			return false;
		cycles += init->metric[i].kind == PITRACE_PTT_CYCLES;
	}
	return cycles <= 1;
}

static void ptt_set_up(const struct pitrace_ptt_init *init)
{
	u32 i;

	memset(&pitrace_ptt_setup, 0, sizeof(pitrace_ptt_setup));
	pitrace_ptt_setup.metrics = init->metrics;
	pitrace_ptt_setup.ints = pitrace_ptt_instance.ints;
	pitrace_ptt_setup.cycles = PITRACE_PTT_METRICS;
	memcpy(pitrace_ptt_setup.metric, init->metric, init->metrics * sizeof(*init->metric));
	for (i = 0; i < init->metrics; i++) {
		if (init->metric[i].kind == PITRACE_PTT_CYCLES)
			pitrace_ptt_setup.cycles = i;
	}
}

static int ptt_replace(struct file *file, const struct pitrace_ptt_init *init)
{
	int error;

	if (pitrace_ptt_instance.active && !(init->flags & PITRACE_PTT_FORCE))
		return -EBUSY;
	if (pitrace_ptt_instance.active)
		ptt_stop();
	pitrace_ptt_snapshot_put(pitrace_ptt_instance.last);
	pitrace_ptt_instance.last = NULL;
	ptt_set_up(init);
	error = ptt_start(init);
	if (error)
		return error;
	pitrace_ptt_instance.active = true;
	pitrace_ptt_instance.number++;
	pitrace_ptt_instance.owner_pid = task_tgid_nr(current);
	pitrace_ptt_instance.owner = file;
	if (init->flags & PITRACE_PTT_KEEP) {
		__module_get(THIS_MODULE);
		pitrace_ptt_instance.owner = NULL;
	}
	return 0;
}

int pitrace_ptt_ioctl_init(struct file *file, const struct pitrace_ptt_init *init)
{
	int error;

	if (!ptt_is_good(init))
		return -EINVAL;
	if (mutex_lock_killable(&pitrace_ptt_lock))
		return -EINTR;
	error = ptt_replace(file, init);
	mutex_unlock(&pitrace_ptt_lock);
	return error;
}

int pitrace_ptt_ioctl_term(void)
{
	int error = 0;

	if (mutex_lock_killable(&pitrace_ptt_lock))
		return -EINTR;
	if (pitrace_ptt_instance.active)
		ptt_stop();
	else
		error = -EALREADY;
	mutex_unlock(&pitrace_ptt_lock);
	return error;
}

int pitrace_ptt_ioctl_ints(u32 ints)
{
	if (ints > 1)
		return -EINVAL;
	if (mutex_lock_killable(&pitrace_ptt_lock))
		return -EINTR;
	pitrace_ptt_instance.ints = ints;
	mutex_unlock(&pitrace_ptt_lock);
	return 0;
}

int pitrace_ptt_ioctl_residue(const struct pitrace_ptt_residue *residue)
{
	int error = 0;

	if (mutex_lock_killable(&pitrace_ptt_lock))
		return -EINTR;
	if (pitrace_ptt_instance.active && pitrace_ptt_setup.ints &&
	    pitrace_ptt_setup.cycles < PITRACE_PTT_METRICS)
		pitrace_ptt_setup.residue = *residue;
	else
		error = -EINVAL;
	mutex_unlock(&pitrace_ptt_lock);
	return error;
}

/* NULL: an error. */
static struct pitrace_ptt_snapshot *ptt_get_snapshot(int *error)
{
	struct pitrace_ptt_snapshot *snapshot;

	if (mutex_lock_killable(&pitrace_ptt_lock)) {
		*error = -EINTR;
		return NULL;
	}
	if (pitrace_ptt_instance.active) {
		snapshot = pitrace_ptt_snapshot_take();
		*error = -ENOMEM;
	} else {
		snapshot = pitrace_ptt_instance.last;
		*error = -EINVAL;
		if (snapshot)
			refcount_inc(&snapshot->users);
	}
	mutex_unlock(&pitrace_ptt_lock);
	return snapshot;
}

static int ptt_copy_rows(const struct pitrace_ptt_snapshot *snapshot,
			 const struct pitrace_ptt_dump *wanted)
{
	const struct pitrace_ptt_dump *head = &snapshot->head;

	if (wanted->threads < head->threads || wanted->cpus < head->cpus)
		return -ENOSPC;
	if (copy_to_user(u64_to_user_ptr(wanted->thread_rows), snapshot->thread,
			 array_size(head->threads, sizeof(*snapshot->thread))) ||
	    copy_to_user(u64_to_user_ptr(wanted->cpu_rows), snapshot->cpu,
			 array_size(head->cpus, sizeof(*snapshot->cpu))))
		return -EFAULT;
	return 0;
}

/* The result contains the number of rows, also when the arrays are too small for them. */
long pitrace_ptt_ioctl_dump(void __user *user)
{
	struct pitrace_ptt_snapshot *snapshot;
	struct pitrace_ptt_dump wanted, head;
	int error;

	if (copy_from_user(&wanted, user, sizeof(wanted)))
		return -EFAULT;
	snapshot = ptt_get_snapshot(&error);
	if (!snapshot)
		return error;
	error = ptt_copy_rows(snapshot, &wanted);
	head = snapshot->head;
	head.thread_rows = wanted.thread_rows;
	head.cpu_rows = wanted.cpu_rows;
	if (error != -EFAULT && copy_to_user(user, &head, sizeof(head)))
		error = -EFAULT;
	pitrace_ptt_snapshot_put(snapshot);
	return error;
}

void pitrace_ptt_release(struct file *file)
{
	mutex_lock(&pitrace_ptt_lock);
	if (pitrace_ptt_instance.active && pitrace_ptt_instance.owner == file)
		ptt_stop();
	mutex_unlock(&pitrace_ptt_lock);
}
