// SPDX-License-Identifier: GPL-2.0-only
/* The state machine of PTT: dispatches, interrupt entries and exits change the account that a CPU charges. */

#include <linux/binfmts.h>
#include <linux/interrupt.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <trace/events/irq.h>
#include <trace/events/sched.h>

#include "core/irq_vectors.h"
#include "core/plat.h"
#include "core/probes.h"
#include "ptt.h"

/* ---- one CPU's charge, on that CPU and with interrupts off ---- */

/* An event that is no longer on this CPU keeps its last count. */
static __always_inline u64 ptt_state_event_count(struct perf_event *event)
{
	if (unlikely(!event))
		return 0;
	if (likely(event->oncpu == raw_smp_processor_id()))
		event->pmu->read(event);
	return local64_read(&event->count);
}

/* The TSC restarts after suspend: compensate, so that account + counter stays continuous. */
static noinline void ptt_state_cycles_went_back(struct pitrace_ptt_cpu_state *cpu, u64 now)
{
	const u32 metric = pitrace_ptt_setup.cycles;
	const u64 lost = cpu->at[metric] - now;

	cpu->charged->value[metric] += lost;
	cpu->elapsed[metric] += lost;
}

/* cycles: index of the metric that counts them. */
static __always_inline u64 ptt_state_count_now(struct pitrace_ptt_cpu_state *cpu, u32 metric,
					       u32 cycles)
{
	u64 now;

	if (metric != cycles)
		return ptt_state_event_count(cpu->event[metric]);
	now = pitrace_arch_cycles();
	if (unlikely(now < cpu->at[metric]))
		ptt_state_cycles_went_back(cpu, now);
	return now;
}

static __always_inline void ptt_state_update_counters(struct pitrace_ptt_cpu_state *cpu)
{
	const u32 metrics = pitrace_ptt_setup.metrics;
	const u32 cycles = pitrace_ptt_setup.cycles;
	u32 i;

	for (i = 0; i < metrics; i++)
		cpu->at[i] = ptt_state_count_now(cpu, i, cycles);
}

/* Also updates cpu->at. */
static __always_inline void ptt_state_end_charge(struct pitrace_ptt_cpu_state *cpu)
{
	const u32 metrics = pitrace_ptt_setup.metrics;
	const u32 cycles = pitrace_ptt_setup.cycles;
	struct pitrace_ptt_account *account = cpu->charged;
	u32 i;

	for (i = 0; i < metrics; i++) {
		cpu->at[i] = ptt_state_count_now(cpu, i, cycles);
		account->value[i] += cpu->at[i];
	}
}

static __always_inline void ptt_state_begin_charge(struct pitrace_ptt_cpu_state *cpu,
						   struct pitrace_ptt_account *account)
{
	const u32 metrics = pitrace_ptt_setup.metrics;
	u32 i;

	for (i = 0; i < metrics; i++)
		account->value[i] -= cpu->at[i];
	cpu->charged = account;
}

/* Ends one charge and begins the other with the same counter values. */
static __always_inline void ptt_state_move_charge(struct pitrace_ptt_cpu_state *cpu,
						  struct pitrace_ptt_account *to)
{
	const u32 metrics = pitrace_ptt_setup.metrics;
	const u32 cycles = pitrace_ptt_setup.cycles;
	struct pitrace_ptt_account *from = cpu->charged;
	u32 i;
	u64 now;

	for (i = 0; i < metrics; i++) {
		now = ptt_state_count_now(cpu, i, cycles);
		from->value[i] += now;
		to->value[i] -= now;
		cpu->at[i] = now;
	}
	cpu->charged = to;
}

/*
 * Charges the hook's own cycles so far to cpu->tool, and the residue that an interrupt leaves on the thread
 * to the interrupts. Must be the last to read a counter.
 */
static __always_inline void ptt_state_charge_tool(struct pitrace_ptt_cpu_state *cpu, u64 residue)
{
	const u32 cycles = pitrace_ptt_setup.cycles;
	u64 spent;

	if (cycles < PITRACE_PTT_METRICS) {
		spent = pitrace_arch_cycles() - cpu->at[cycles];
		cpu->tool += spent;
		cpu->charged->value[cycles] -= spent + residue;
		cpu->interrupt.value[cycles] += residue;
	}
}

static noinline void ptt_state_publish_part(const struct pitrace_ptt_cpu_state *cpu,
					    const struct pitrace_ptt_bound *bound)
{
	const struct pitrace_ptt_account *account = cpu->thread;
	struct pitrace_ptt_slot *slot = bound->slot;
	u32 i;

	for (i = 0; i < pitrace_ptt_setup.metrics; i++)
		WRITE_ONCE(slot->value[i], bound->shown >> i & 1 ? account->value[i] : 0);
	slot->dispatches = account->dispatches;
	slot->interrupts = account->interrupts;
	slot->last_vector = bound->vectors ? cpu->last_vector : 0;
	slot->last_softs = bound->vectors ? cpu->last_softs : 0;
	WRITE_ONCE(slot->changes, slot->changes + 1);
}

/*
 * The thread continues: its reader, which runs on this CPU, starts again when changes has changed. Other threads of its
 * address space can read the slot too, and must not once the thread has other credentials: so a change of credentials,
 * which includes exec, unbinds the slot.
 */
static __always_inline void ptt_state_publish(const struct pitrace_ptt_cpu_state *cpu)
{
	const u32 metrics = pitrace_ptt_setup.metrics;
	struct pitrace_ptt_account *account = cpu->thread;
	const struct pitrace_ptt_bound *bound = READ_ONCE(account->bound);
	struct pitrace_ptt_slot *slot;
	u32 i;

	if (!bound)
		return;
	if (unlikely(rcu_access_pointer(account->task->real_cred) != bound->cred))
		return pitrace_ptt_end_slot(account);
	if (unlikely(bound->in_part))
		return ptt_state_publish_part(cpu, bound);
	slot = bound->slot;
	for (i = 0; i < metrics; i++)
		WRITE_ONCE(slot->value[i], account->value[i]);
	slot->dispatches = account->dispatches;
	slot->interrupts = account->interrupts;
	slot->last_vector = cpu->last_vector;
	slot->last_softs = cpu->last_softs;
	WRITE_ONCE(slot->changes, slot->changes + 1);
}

static noinline struct pitrace_ptt_account *
ptt_state_account_idle_or_new(struct pitrace_ptt_cpu_state *cpu, struct task_struct *task)
{
	struct pitrace_ptt_account *account;

	if (is_idle_task(task))
		return &cpu->idle;
	account = pitrace_ptt_account_alloc(task, cpu->epoch);
	return account ? account : &cpu->without_account;
}

/* Returns the account to charge next; the previous charge has ended. */
static __always_inline struct pitrace_ptt_account *
ptt_state_account_of(struct pitrace_ptt_cpu_state *cpu, struct task_struct *task)
{
	struct pitrace_ptt_account *account = pitrace_ptt_find(task->pid, task);

	if (unlikely(!account))
		account = ptt_state_account_idle_or_new(cpu, task);
	/* Before the account is changed. */
	if (unlikely(account->epoch != cpu->epoch))
		pitrace_ptt_epochs_differ(cpu, account);
	return account;
}

/* ---- hooks ---- */

static void ptt_state_on_switch(void *data, bool preempted, struct task_struct *previous,
				struct task_struct *next, unsigned int previous_state)
{
	struct pitrace_ptt_cpu_state *cpu = this_cpu_ptr(&pitrace_ptt_cpus);
	struct pitrace_ptt_account *account;

	if (unlikely(!cpu->open))
		return;
	ptt_state_end_charge(cpu);
	if (unlikely((previous_state & TASK_DEAD) && !preempted))
		pitrace_ptt_end(cpu->thread, previous);
	pitrace_irq_exit_switched(&cpu->irq_exit);
	account = ptt_state_account_of(cpu, next);
	account->dispatches++;
	cpu->dispatches++;
	cpu->thread = account;
	ptt_state_begin_charge(cpu, account);
	ptt_state_charge_tool(cpu, 0);
	ptt_state_publish(cpu);
}

/* A nested interrupt changes nothing. */
static __always_inline void ptt_state_charge_interrupt(struct pitrace_ptt_cpu_state *cpu)
{
	if (cpu->charged == &cpu->interrupt)
		return;
	ptt_state_move_charge(cpu, &cpu->interrupt);
	ptt_state_charge_tool(cpu, 0);
}

static __always_inline void ptt_state_charge_thread(struct pitrace_ptt_cpu_state *cpu, u64 residue)
{
	if (cpu->charged != &cpu->interrupt)
		return;
	ptt_state_move_charge(cpu, cpu->thread);
	ptt_state_charge_tool(cpu, residue);
	ptt_state_publish(cpu);
}

static __always_inline void ptt_state_enter_interrupt(void)
{
	struct pitrace_ptt_cpu_state *cpu = this_cpu_ptr(&pitrace_ptt_cpus);

	if (unlikely(!cpu->open))
		return;
	cpu->interrupt.interrupts++;
	cpu->thread->interrupts++;
	ptt_state_charge_interrupt(cpu);
}

static __always_inline void ptt_state_leave_interrupt(unsigned int vector)
{
	struct pitrace_ptt_cpu_state *cpu = this_cpu_ptr(&pitrace_ptt_cpus);

	if (unlikely(!cpu->open) || !pitrace_irq_exit_hardirq_done(&cpu->irq_exit))
		return;
	cpu->last_vector = vector;
	cpu->last_softs = 0;
	ptt_state_charge_thread(cpu, pitrace_ptt_setup.residue.hard[vector]);
}

static void ptt_state_on_vector_entry(void *data, int vector)
{
	ptt_state_enter_interrupt();
}

static void ptt_state_on_vector_exit(void *data, int vector)
{
	ptt_state_leave_interrupt(vector & 0xff);
}

static void ptt_state_on_device_entry(void *data, int irq, struct irqaction *action)
{
	ptt_state_enter_interrupt();
}

static void ptt_state_on_device_exit(void *data, int irq, struct irqaction *action, int result)
{
	ptt_state_leave_interrupt(PITRACE_PTT_DEVICE);
}

static void ptt_state_on_softirq_entry(void *data, unsigned int number)
{
	struct pitrace_ptt_cpu_state *cpu;
	unsigned long flags;

	local_irq_save(flags);
	cpu = this_cpu_ptr(&pitrace_ptt_cpus);
	if (likely(cpu->open) && pitrace_irq_exit_softirq_begins(&cpu->irq_exit))
		ptt_state_charge_interrupt(cpu);
	local_irq_restore(flags);
}

static void ptt_state_on_softirq_exit(void *data, unsigned int number)
{
	struct pitrace_ptt_cpu_state *cpu;
	unsigned long flags;

	local_irq_save(flags);
	cpu = this_cpu_ptr(&pitrace_ptt_cpus);
	if (likely(cpu->open) && pitrace_irq_exit_softirq_done(&cpu->irq_exit, number))
		ptt_state_charge_thread(cpu, cpu->last_softs++ ?
						     pitrace_ptt_setup.residue.next_soft :
						     pitrace_ptt_setup.residue.first_soft);
	local_irq_restore(flags);
}

static void ptt_state_end_account_of(u32 tid, const struct task_struct *task)
{
	struct pitrace_ptt_account *account = pitrace_ptt_find(tid, task);

	if (account)
		pitrace_ptt_end(account, task);
}

/*
 * Ends the thread's slot, and sets its counts aside: one of the two programs may run as another user, and the new one
 * must not read what the old one counted. A program that has given up its user's rights itself cannot be told from one
 * that never had them, so every exec does that.
 *
 * If a thread other than the leader calls exec, it gets the leader's id, and, as any thread with another id, another
 * account. A dispatch in between may have done that already. A CPU that does not charge is in no epoch, so it must not
 * change counts: there the account ends, and the next dispatch begins another one.
 */
static void ptt_state_on_exec(void *data, struct task_struct *task, pid_t old_pid,
			      struct linux_binprm *bprm)
{
	struct pitrace_ptt_cpu_state *cpu;
	unsigned long flags;

	local_irq_save(flags);
	cpu = this_cpu_ptr(&pitrace_ptt_cpus);
	if (cpu->open)
		ptt_state_end_charge(cpu);
	if (old_pid != task->pid)
		ptt_state_end_account_of(old_pid, task);
	if (cpu->open) {
		cpu->thread = ptt_state_account_of(cpu, task);
		if (cpu->thread->task == task) {
			pitrace_ptt_end_slot(cpu->thread);
			pitrace_ptt_set_aside(cpu->thread);
		}
		ptt_state_begin_charge(cpu, cpu->thread);
	} else {
		ptt_state_end_account_of(task->pid, task);
	}
	local_irq_restore(flags);
}

static struct pitrace_hook thread_hooks[] = {
	PITRACE_TRACEPOINT("sched_process_exec", ptt_state_on_exec),
	PITRACE_TRACEPOINT("sched_switch", ptt_state_on_switch),
};

#define VECTOR_HOOKS(vector)                                             \
	PITRACE_TRACEPOINT(#vector "_entry", ptt_state_on_vector_entry), \
	PITRACE_TRACEPOINT(#vector "_exit", ptt_state_on_vector_exit),

/* The first INTERRUPT_HOOKS_NEEDED hooks are required; softirq hooks last. */
static struct pitrace_hook interrupt_hooks[] = {
	PITRACE_TRACEPOINT("irq_handler_entry", ptt_state_on_device_entry),
	PITRACE_TRACEPOINT("irq_handler_exit", ptt_state_on_device_exit),
	PITRACE_ARCH_VECTORS(VECTOR_HOOKS)
	PITRACE_TRACEPOINT("softirq_entry", ptt_state_on_softirq_entry),
	PITRACE_TRACEPOINT("softirq_exit", ptt_state_on_softirq_exit),
};

#define INTERRUPT_HOOKS_NEEDED  2
#define INTERRUPT_HOOKS_SOFTIRQ 2

/* On PREEMPT_RT softirqs run in threads, none in irq_exit(). */
static const unsigned int interrupt_hook_count =
	ARRAY_SIZE(interrupt_hooks) - (IS_ENABLED(CONFIG_PREEMPT_RT) ? INTERRUPT_HOOKS_SOFTIRQ : 0);

/* Does this kernel pass what the probes take? */
static void __maybe_unused ptt_state_check_types(void)
{
	check_trace_callback_type_sched_switch(ptt_state_on_switch);
	check_trace_callback_type_sched_process_exec(ptt_state_on_exec);
	check_trace_callback_type_irq_handler_entry(ptt_state_on_device_entry);
	check_trace_callback_type_irq_handler_exit(ptt_state_on_device_exit);
	PITRACE_ARCH_CHECK_VECTORS(ptt_state_on_vector_entry, ptt_state_on_vector_exit);
	check_trace_callback_type_softirq_entry(ptt_state_on_softirq_entry);
	check_trace_callback_type_softirq_exit(ptt_state_on_softirq_exit);
}

static bool ptt_state_are_attached(const struct pitrace_hook *hooks, unsigned int count)
{
	while (count--) {
		if (!hooks[count].attached)
			return false;
	}
	return true;
}

int pitrace_ptt_hooks_attach(void)
{
	bool good;

	pitrace_hooks_attach(thread_hooks, ARRAY_SIZE(thread_hooks));
	good = ptt_state_are_attached(thread_hooks, ARRAY_SIZE(thread_hooks));
	if (pitrace_ptt_setup.ints) {
		pitrace_hooks_attach(interrupt_hooks, interrupt_hook_count);
		good &= ptt_state_are_attached(interrupt_hooks, INTERRUPT_HOOKS_NEEDED);
	}
	if (good)
		return 0;
	pitrace_ptt_hooks_detach();
	return -EOPNOTSUPP;
}

void pitrace_ptt_hooks_detach(void)
{
	pitrace_hooks_detach(interrupt_hooks, interrupt_hook_count);
	pitrace_hooks_detach(thread_hooks, ARRAY_SIZE(thread_hooks));
}

/* ---- starting and stopping ---- */

void pitrace_ptt_open_cpu(void *unused)
{
	struct pitrace_ptt_cpu_state *cpu = this_cpu_ptr(&pitrace_ptt_cpus);
	const bool interrupted = pitrace_ptt_setup.ints && in_hardirq();
	u32 i;

	if (cpu->open)
		return;
	pitrace_irq_exit_reset(&cpu->irq_exit);
	memset(cpu->at, 0, sizeof(cpu->at));
	ptt_state_update_counters(cpu);
	cpu->epoch = READ_ONCE(pitrace_ptt_epoch);
	cpu->idle.epoch = cpu->epoch;
	cpu->without_account.epoch = cpu->epoch;
	cpu->thread = ptt_state_account_of(cpu, current);
	ptt_state_begin_charge(cpu, interrupted ? &cpu->interrupt : cpu->thread);
	for (i = 0; i < pitrace_ptt_setup.metrics; i++)
		cpu->elapsed[i] -= cpu->at[i];
	cpu->open = true;
}

void pitrace_ptt_close_cpu(void *unused)
{
	struct pitrace_ptt_cpu_state *cpu = this_cpu_ptr(&pitrace_ptt_cpus);
	u32 i;

	if (!cpu->open)
		return;
	ptt_state_end_charge(cpu);
	for (i = 0; i < pitrace_ptt_setup.metrics; i++)
		cpu->elapsed[i] += cpu->at[i];
	cpu->open = false;
}

void pitrace_ptt_update_counters(struct pitrace_ptt_cpu_state *cpu)
{
	ptt_state_update_counters(cpu);
}

void pitrace_ptt_publish(struct pitrace_ptt_cpu_state *cpu)
{
	ptt_state_publish(cpu);
}

void pitrace_ptt_change_event(struct pitrace_ptt_cpu_state *cpu, u32 metric,
			      struct perf_event *event)
{
	const u64 old = ptt_state_event_count(cpu->event[metric]);

	cpu->event[metric] = event;
	if (!cpu->open)
		return;
	cpu->at[metric] = ptt_state_event_count(event);
	cpu->charged->value[metric] += old - cpu->at[metric];
	cpu->elapsed[metric] += old - cpu->at[metric];
	ptt_state_publish(cpu);
}
