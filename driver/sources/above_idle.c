// SPDX-License-Identifier: GPL-2.0-only
/*
 * AboveIdle: how long each CPU was idle, busy and in interrupts.
 *
 * A CPU's account is changed on that CPU only, with interrupts off. Whose time soft interrupts are is
 * told in way_out.h.
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
#include "core/way_out.h"
#include "sources.h"

enum state {
	STATE_IDLE,
	STATE_BUSY,
	STATE_INTERRUPT,
	STATES,
};

struct account {
	seqcount_t sequence;
	bool open; /* counted, and its CPU online */
	struct pitrace_way_out out;
	enum state state;
	u64 since; /* the last change */
	u64 spent[STATES]; /* nanoseconds until then */
	u64 dispatches;
	u64 interrupts;
};

static DEFINE_PER_CPU_ALIGNED(struct account, accounts);

/* Over users, and over starting and stopping. */
static DEFINE_MUTEX(ai_lock);
static unsigned int users;

/* Changed under cpus_read_lock(), and read by the hot-plug callbacks, which exclude that. */
static bool counting;

static enum cpuhp_state hotplug_state;

/* ---- one account, on its CPU and with interrupts off ---- */

static __always_inline enum state state_of(const struct task_struct *task)
{
	return is_idle_task(task) ? STATE_IDLE : STATE_BUSY;
}

static __always_inline void begin_change(struct account *account)
{
	const u64 now = pitrace_clock();

	raw_write_seqcount_begin(&account->sequence);
	/* The clock may be set back by a few nanoseconds where it is read without its lock. */
	if (likely(now > account->since)) {
		account->spent[account->state] += now - account->since;
		account->since = now;
	}
}

static __always_inline void end_change(struct account *account, enum state state)
{
	account->state = state;
	raw_write_seqcount_end(&account->sequence);
}

static __always_inline void change(struct account *account, enum state state)
{
	begin_change(account);
	end_change(account, state);
}

/* ---- hooks ---- */

static void on_switch(void *data, bool preempt, struct task_struct *previous,
		      struct task_struct *next, unsigned int previous_state)
{
	struct account *account = this_cpu_ptr(&accounts);

	if (unlikely(!account->open))
		return;
	pitrace_way_out_dispatched(&account->out);
	begin_change(account);
	account->dispatches++;
	end_change(account, state_of(next));
}

static __always_inline void enter_interrupt(void)
{
	struct account *account = this_cpu_ptr(&accounts);

	if (unlikely(!account->open))
		return;
	begin_change(account);
	account->interrupts++;
	end_change(account, STATE_INTERRUPT);
}

static __always_inline void leave_interrupt(void)
{
	struct account *account = this_cpu_ptr(&accounts);

	if (likely(account->open) && pitrace_way_out_leave(&account->out))
		change(account, state_of(current));
}

static void on_vector_entry(void *data, int vector)
{
	enter_interrupt();
}

static void on_vector_exit(void *data, int vector)
{
	leave_interrupt();
}

static void on_device_entry(void *data, int irq, struct irqaction *action)
{
	enter_interrupt();
}

static void on_device_exit(void *data, int irq, struct irqaction *action, int result)
{
	leave_interrupt();
}

static void on_soft_entry(void *data, unsigned int number)
{
	struct account *account = this_cpu_ptr(&accounts);
	unsigned long flags;

	local_irq_save(flags);
	if (account->open && pitrace_way_out_enter_soft(&account->out))
		change(account, STATE_INTERRUPT);
	local_irq_restore(flags);
}

static void on_soft_exit(void *data, unsigned int number)
{
	struct account *account = this_cpu_ptr(&accounts);
	unsigned long flags;

	local_irq_save(flags);
	if (account->open && pitrace_way_out_leave_soft(&account->out, number))
		change(account, state_of(current));
	local_irq_restore(flags);
}

/* Soft interrupts last, and the first ones are what is not done without. */
static struct pitrace_hook hooks[] = {
	PITRACE_TRACEPOINT("sched_switch", on_switch),
	PITRACE_TRACEPOINT("irq_handler_entry", on_device_entry),
	PITRACE_TRACEPOINT("irq_handler_exit", on_device_exit),
	PITRACE_ARCH_VECTORS(PITRACE_VECTOR_HOOKS)
	PITRACE_TRACEPOINT("softirq_entry", on_soft_entry),
	PITRACE_TRACEPOINT("softirq_exit", on_soft_exit),
};

#define HOOKS_NEEDED 5
#define HOOKS_SOFT   2

/* On PREEMPT_RT no soft interrupt runs on the way out, but all in threads. */
static const unsigned int hook_count =
	ARRAY_SIZE(hooks) - (IS_ENABLED(CONFIG_PREEMPT_RT) ? HOOKS_SOFT : 0);

/* Does this kernel pass what the probes take? */
static void __maybe_unused check_types(void)
{
	check_trace_callback_type_sched_switch(on_switch);
	check_trace_callback_type_irq_handler_entry(on_device_entry);
	check_trace_callback_type_irq_handler_exit(on_device_exit);
	PITRACE_ARCH_CHECK_VECTORS(on_vector_entry, on_vector_exit);
	check_trace_callback_type_softirq_entry(on_soft_entry);
	check_trace_callback_type_softirq_exit(on_soft_exit);
}

/* ---- starting and stopping, under the lock ---- */

/* On the CPU itself, with interrupts off. */
static void open_account(void *unused)
{
	struct account *account = this_cpu_ptr(&accounts);

	raw_write_seqcount_begin(&account->sequence);
	memset(account->spent, 0, sizeof(account->spent));
	account->dispatches = 0;
	account->interrupts = 0;
	pitrace_way_out_reset(&account->out);
	account->since = pitrace_clock();
	account->state = in_hardirq() ? STATE_INTERRUPT : state_of(current);
	raw_write_seqcount_end(&account->sequence);
	account->open = true;
}

static bool hooks_are_in_place(void)
{
	unsigned int i;

	for (i = 0; i < HOOKS_NEEDED; i++) {
		if (!hooks[i].in_place)
			return false;
	}
	return true;
}

static int start(void)
{
	pitrace_hooks_attach(hooks, hook_count);
	if (!hooks_are_in_place()) {
		pitrace_hooks_detach(hooks, hook_count);
		return -EOPNOTSUPP;
	}
	cpus_read_lock();
	counting = true;
	on_each_cpu(open_account, NULL, 1);
	cpus_read_unlock();
	return 0;
}

static void stop(void)
{
	unsigned int cpu;

	pitrace_hooks_detach(hooks, hook_count);
	cpus_read_lock();
	counting = false;
	for_each_possible_cpu(cpu)
		per_cpu(accounts, cpu).open = false;
	cpus_read_unlock();
}

static void give_back(struct file *file)
{
	file->private_data = NULL;
	if (!--users)
		stop();
}

/* ---- CPUs that come and go: the time in between is in no account ---- */

static int cpu_online_now(unsigned int cpu)
{
	unsigned long flags;

	local_irq_save(flags);
	if (counting)
		open_account(NULL);
	local_irq_restore(flags);
	return 0;
}

static int cpu_offline_soon(unsigned int cpu)
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
	state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "pitrace:ai", cpu_online_now,
					  cpu_offline_soon);
	if (state < 0)
		return state;
	hotplug_state = state;
	return 0;
}

void pitrace_ai_exit(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
}

/* ---- ioctls; an open file that uses it is marked by its private_data ---- */

int pitrace_ai_on(struct file *file)
{
	int error = 0;

	if (mutex_lock_killable(&ai_lock))
		return -EINTR;
	if (file->private_data)
		error = -EALREADY;
	else if (!users)
		error = start();
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
		give_back(file);
	else
		error = -EINVAL;
	mutex_unlock(&ai_lock);
	return error;
}

void pitrace_ai_release(struct file *file)
{
	mutex_lock(&ai_lock);
	if (file->private_data)
		give_back(file);
	mutex_unlock(&ai_lock);
}

/* With what the CPU does at this moment. It is not disturbed: one that sleeps goes on sleeping. */
static void read_account(const struct account *account, struct pitrace_ai *ai)
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
	read_account(account, ai);
	return 0;
}
