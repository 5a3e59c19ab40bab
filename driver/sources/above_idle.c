// SPDX-License-Identifier: GPL-2.0-only
/*
 * AboveIdle, CPU use: how long each CPU was idle, busy and in interrupts.
 *
 * A CPU's account is changed on that CPU only, with interrupts off. irq_exit.h defines which softirqs
 * count as interrupts.
 */

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/interrupt.h>
#include <linux/irqflags.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/seqlock.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <trace/events/irq.h>
#include <trace/events/sched.h>

#include <pitrace/ring_ops.h>

#include "core/irq_vectors.h"
#include "core/probes.h"
#include "core/irq_exit.h"
#include "sources.h"

enum state {
	STATE_IDLE,
	STATE_BUSY,
	STATE_INTERRUPT,
	STATES,
};

struct account {
	seqcount_t sequence;
	bool open; /* AboveIdle is on, and the CPU online */
	struct pitrace_irq_exit irq_exit;
	enum state state;
	u64 since; /* time of the last change */
	u64 spent[STATES]; /* nanoseconds, until since */
	u64 dispatches;
	u64 interrupts;
};

static DEFINE_PER_CPU_ALIGNED(struct account, accounts);

/* Protects users; held while starting and stopping. */
static DEFINE_MUTEX(ai_lock);
static unsigned int users;

/* Changed under cpus_read_lock(), and read by the hot-plug callbacks, which exclude that. */
static bool counting;

static enum cpuhp_state hotplug_state;

/* ---- one account, on its CPU and with interrupts off ---- */

static __always_inline enum state above_idle_state_of(const struct task_struct *task)
{
	return is_idle_task(task) ? STATE_IDLE : STATE_BUSY;
}

static __always_inline void above_idle_begin_change(struct account *account)
{
	const u64 now = pitrace_clock();

	raw_write_seqcount_begin(&account->sequence);
	/* pitrace_clock() reads without a lock, and may go back by a few nanoseconds. */
	if (likely(now > account->since)) {
		account->spent[account->state] += now - account->since;
		account->since = now;
	}
}

static __always_inline void above_idle_end_change(struct account *account, enum state state)
{
	account->state = state;
	raw_write_seqcount_end(&account->sequence);
}

static __always_inline void above_idle_change(struct account *account, enum state state)
{
	above_idle_begin_change(account);
	above_idle_end_change(account, state);
}

/* ---- hooks ---- */

static void above_idle_on_switch(void *data, bool preempt, struct task_struct *previous,
				 struct task_struct *next, unsigned int previous_state)
{
	struct account *account = this_cpu_ptr(&accounts);

	if (unlikely(!account->open))
		return;
	pitrace_irq_exit_switched(&account->irq_exit);
	above_idle_begin_change(account);
	account->dispatches++;
	above_idle_end_change(account, above_idle_state_of(next));
}

static __always_inline void above_idle_enter_interrupt(void)
{
	struct account *account = this_cpu_ptr(&accounts);

	if (unlikely(!account->open))
		return;
	above_idle_begin_change(account);
	account->interrupts++;
	above_idle_end_change(account, STATE_INTERRUPT);
}

static __always_inline void above_idle_leave_interrupt(void)
{
	struct account *account = this_cpu_ptr(&accounts);

	if (likely(account->open) && pitrace_irq_exit_hardirq_done(&account->irq_exit))
		above_idle_change(account, above_idle_state_of(current));
}

static void above_idle_on_vector_entry(void *data, int vector)
{
	above_idle_enter_interrupt();
}

static void above_idle_on_vector_exit(void *data, int vector)
{
	above_idle_leave_interrupt();
}

static void above_idle_on_device_entry(void *data, int irq, struct irqaction *action)
{
	above_idle_enter_interrupt();
}

static void above_idle_on_device_exit(void *data, int irq, struct irqaction *action, int result)
{
	above_idle_leave_interrupt();
}

static void above_idle_on_softirq_entry(void *data, unsigned int number)
{
	struct account *account = this_cpu_ptr(&accounts);
	unsigned long flags;

	local_irq_save(flags);
	if (account->open && pitrace_irq_exit_softirq_begins(&account->irq_exit))
		above_idle_change(account, STATE_INTERRUPT);
	local_irq_restore(flags);
}

static void above_idle_on_softirq_exit(void *data, unsigned int number)
{
	struct account *account = this_cpu_ptr(&accounts);
	unsigned long flags;

	local_irq_save(flags);
	if (account->open && pitrace_irq_exit_softirq_done(&account->irq_exit, number))
		above_idle_change(account, above_idle_state_of(current));
	local_irq_restore(flags);
}

#define VECTOR_HOOKS(vector)                                              \
	PITRACE_TRACEPOINT(#vector "_entry", above_idle_on_vector_entry), \
	PITRACE_TRACEPOINT(#vector "_exit", above_idle_on_vector_exit),

/* The first HOOKS_NEEDED hooks are required; softirq hooks last. */
static struct pitrace_hook hooks[] = {
	PITRACE_TRACEPOINT("sched_switch", above_idle_on_switch),
	PITRACE_TRACEPOINT("irq_handler_entry", above_idle_on_device_entry),
	PITRACE_TRACEPOINT("irq_handler_exit", above_idle_on_device_exit),
	PITRACE_ARCH_VECTORS(VECTOR_HOOKS)
	PITRACE_TRACEPOINT("softirq_entry", above_idle_on_softirq_entry),
	PITRACE_TRACEPOINT("softirq_exit", above_idle_on_softirq_exit),
};

#define HOOKS_NEEDED  5
#define HOOKS_SOFTIRQ 2

/* On PREEMPT_RT softirqs run in threads, none in irq_exit(). */
static const unsigned int hook_count =
	ARRAY_SIZE(hooks) - (IS_ENABLED(CONFIG_PREEMPT_RT) ? HOOKS_SOFTIRQ : 0);

/* Does this kernel pass what the probes take? */
static void __maybe_unused above_idle_check_types(void)
{
	check_trace_callback_type_sched_switch(above_idle_on_switch);
	check_trace_callback_type_irq_handler_entry(above_idle_on_device_entry);
	check_trace_callback_type_irq_handler_exit(above_idle_on_device_exit);
	PITRACE_ARCH_CHECK_VECTORS(above_idle_on_vector_entry, above_idle_on_vector_exit);
	check_trace_callback_type_softirq_entry(above_idle_on_softirq_entry);
	check_trace_callback_type_softirq_exit(above_idle_on_softirq_exit);
}

/* ---- starting and stopping, under the lock ---- */

/* On the CPU itself, with interrupts off. */
static void above_idle_open_account(void *unused)
{
	struct account *account = this_cpu_ptr(&accounts);

	raw_write_seqcount_begin(&account->sequence);
	memset(account->spent, 0, sizeof(account->spent));
	account->dispatches = 0;
	account->interrupts = 0;
	pitrace_irq_exit_reset(&account->irq_exit);
	account->since = pitrace_clock();
	account->state = in_hardirq() ? STATE_INTERRUPT : above_idle_state_of(current);
	raw_write_seqcount_end(&account->sequence);
	account->open = true;
}

static bool above_idle_hooks_are_attached(void)
{
	unsigned int i;

	for (i = 0; i < HOOKS_NEEDED; i++) {
		if (!hooks[i].attached)
			return false;
	}
	return true;
}

static int above_idle_start(void)
{
	pitrace_hooks_attach(hooks, hook_count);
	if (!above_idle_hooks_are_attached()) {
		pitrace_hooks_detach(hooks, hook_count);
		return -EOPNOTSUPP;
	}
	cpus_read_lock();
	counting = true;
	on_each_cpu(above_idle_open_account, NULL, 1);
	cpus_read_unlock();
	return 0;
}

static void above_idle_stop(void)
{
	unsigned int cpu;

	pitrace_hooks_detach(hooks, hook_count);
	cpus_read_lock();
	counting = false;
	for_each_possible_cpu(cpu)
		per_cpu(accounts, cpu).open = false;
	cpus_read_unlock();
}

static void above_idle_drop_user(struct file *file)
{
	file->private_data = NULL;
	if (!--users)
		above_idle_stop();
}

/* ---- CPU hotplug: offline time is not accounted ---- */

static int above_idle_cpu_online_now(unsigned int cpu)
{
	unsigned long flags;

	local_irq_save(flags);
	if (counting)
		above_idle_open_account(NULL);
	local_irq_restore(flags);
	return 0;
}

static int above_idle_cpu_offline_soon(unsigned int cpu)
{
	unsigned long flags;

	local_irq_save(flags);
	this_cpu_ptr(&accounts)->open = false;
	local_irq_restore(flags);
	return 0;
}

int pitrace_ai_init(void)
{
	unsigned int cpu;
	int state;

	for_each_possible_cpu(cpu)
		seqcount_init(&per_cpu(accounts, cpu).sequence);
	state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "pitrace:ai",
					  above_idle_cpu_online_now, above_idle_cpu_offline_soon);
	if (state < 0)
		return state;
	hotplug_state = state;
	return 0;
}

void pitrace_ai_exit(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
}

/* ---- ioctls; private_data marks an open file that uses AboveIdle ---- */

int pitrace_ai_on(struct file *file)
{
	int error = 0;

	if (mutex_lock_killable(&ai_lock))
		return -EINTR;
	if (file->private_data)
		error = -EALREADY;
	else if (!users)
		error = above_idle_start();
	if (!error) {
		file->private_data = &users;
		users++;
	}
	mutex_unlock(&ai_lock);
	return error;
}

int pitrace_ai_off(struct file *file)
{
	int error = 0;

	if (mutex_lock_killable(&ai_lock))
		return -EINTR;
	if (file->private_data)
		above_idle_drop_user(file);
	else
		error = -EINVAL;
	mutex_unlock(&ai_lock);
	return error;
}

void pitrace_ai_release(struct file *file)
{
	mutex_lock(&ai_lock);
	if (file->private_data)
		above_idle_drop_user(file);
	mutex_unlock(&ai_lock);
}

/* Includes the CPU's current state until now. Does not interrupt the CPU: one that sleeps continues to sleep. */
static void above_idle_read_account(const struct account *account, struct pitrace_ai *ai)
{
	u64 spent[STATES];
	unsigned int sequence;
	u64 now;

	do {
		sequence = read_seqcount_begin(&account->sequence);
		memcpy(spent, account->spent, sizeof(spent));
		now = pitrace_clock();
		if (now > account->since)
			spent[account->state] += now - account->since;
		ai->dispatches = account->dispatches;
		ai->interrupts = account->interrupts;
	} while (read_seqcount_retry(&account->sequence, sequence));
	ai->idle = spent[STATE_IDLE];
	ai->busy = spent[STATE_BUSY];
	ai->interrupt = spent[STATE_INTERRUPT];
	ai->now = ai->idle + ai->busy + ai->interrupt;
}

int pitrace_ai_read(struct file *file, struct pitrace_ai *ai)
{
	const struct account *account;

	if (!READ_ONCE(file->private_data))
		return -EINVAL;
	if (ai->cpu >= nr_cpu_ids || !cpu_online(array_index_nospec(ai->cpu, nr_cpu_ids)))
		return -ENXIO;
	account = per_cpu_ptr(&accounts, array_index_nospec(ai->cpu, nr_cpu_ids));
	if (!READ_ONCE(account->open))
		return -ENXIO;
	above_idle_read_account(account, ai);
	return 0;
}
