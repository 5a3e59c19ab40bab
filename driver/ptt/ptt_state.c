// SPDX-License-Identifier: GPL-2.0-only
/* The state machine of PTT: dispatches, interrupt entries and exits move a CPU's charge. */

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

DEFINE_PER_CPU(struct pitrace_ptt_cpu_state, pitrace_ptt_cpus);
struct pitrace_ptt_setup pitrace_ptt_setup;

/* ---- one CPU's charge, on that CPU and with interrupts off ---- */

/* An event that is not on this CPU any more has what it had. */
static __always_inline u64 event_count(struct perf_event *event)
{
	if (unlikely(!event))
		return 0;
	if (likely(event->oncpu == raw_smp_processor_id()))
		event->pmu->read(event);
	return local64_read(&event->count);
}

/* The time-stamp counter begins anew when the machine has slept: that time nobody had. */
static noinline void cycles_went_back(struct pitrace_ptt_cpu_state *cpu, u64 now)
{
	const u32 metric = pitrace_ptt_setup.cycles;
	const u64 lost = cpu->at[metric] - now;

	cpu->charged->value[metric] += lost;
	cpu->elapsed[metric] += lost;
}

/* cycles: which metric they are. */
static __always_inline u64 count_now(struct pitrace_ptt_cpu_state *cpu, u32 metric, u32 cycles)
{
	u64 now;

	if (metric != cycles)
		return event_count(cpu->event[metric]);
	now = pitrace_arch_cycles();
	if (unlikely(now < cpu->at[metric]))
		cycles_went_back(cpu, now);
	return now;
}

static __always_inline void look(struct pitrace_ptt_cpu_state *cpu)
{
	const u32 metrics = pitrace_ptt_setup.metrics;
	const u32 cycles = pitrace_ptt_setup.cycles;
	u32 i;

	for (i = 0; i < metrics; i++)
		cpu->at[i] = count_now(cpu, i, cycles);
}

/* Looks, too. */
static __always_inline void end_charge(struct pitrace_ptt_cpu_state *cpu)
{
	const u32 metrics = pitrace_ptt_setup.metrics;
	const u32 cycles = pitrace_ptt_setup.cycles;
	struct pitrace_ptt_account *account = cpu->charged;
	u32 i;

	for (i = 0; i < metrics; i++) {
		cpu->at[i] = count_now(cpu, i, cycles);
		account->value[i] += cpu->at[i];
	}
}

static __always_inline void begin_charge(struct pitrace_ptt_cpu_state *cpu,
					 struct pitrace_ptt_account *account)
{
	const u32 metrics = pitrace_ptt_setup.metrics;
	u32 i;

	for (i = 0; i < metrics; i++)
		account->value[i] -= cpu->at[i];
	cpu->charged = account;
}

/* Ends the one charge and begins the other, at once. */
static __always_inline void move_charge(struct pitrace_ptt_cpu_state *cpu,
					struct pitrace_ptt_account *to)
{
	const u32 metrics = pitrace_ptt_setup.metrics;
	const u32 cycles = pitrace_ptt_setup.cycles;
	struct pitrace_ptt_account *from = cpu->charged;
	u32 i;
	u64 now;

	for (i = 0; i < metrics; i++) {
		now = count_now(cpu, i, cycles);
		from->value[i] += now;
		to->value[i] -= now;
		cpu->at[i] = now;
	}
	cpu->charged = to;
}

/*
 * What the hook itself took so far is nobody's but its own, and what an interrupt leaves on the thread is
 * the interrupts'. The last thing that looks at a counter.
 */
static __always_inline void charge_tool(struct pitrace_ptt_cpu_state *cpu, u64 residue)
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

static noinline void publish_part(const struct pitrace_ptt_cpu_state *cpu,
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
 * The thread goes on: its reader, which is this CPU's, begins again. Other threads of its address space could read the
 * slot as well, and with other credentials it is not theirs to see: so it ends with them, which exec always replaces.
 */
static __always_inline void publish(const struct pitrace_ptt_cpu_state *cpu)
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
		return publish_part(cpu, bound);
	slot = bound->slot;
	for (i = 0; i < metrics; i++)
		WRITE_ONCE(slot->value[i], account->value[i]);
	slot->dispatches = account->dispatches;
	slot->interrupts = account->interrupts;
	slot->last_vector = cpu->last_vector;
	slot->last_softs = cpu->last_softs;
	WRITE_ONCE(slot->changes, slot->changes + 1);
}

static noinline struct pitrace_ptt_account *account_otherwise(struct pitrace_ptt_cpu_state *cpu,
							      struct task_struct *task)
{
	struct pitrace_ptt_account *account;

	if (is_idle_task(task))
		return &cpu->idle;
	account = pitrace_ptt_adopt(task, cpu->epoch);
	return account ? account : &cpu->homeless;
}

/* The charge has ended, and that account's is about to begin. */
static __always_inline struct pitrace_ptt_account *account_of(struct pitrace_ptt_cpu_state *cpu,
							      struct task_struct *task)
{
	struct pitrace_ptt_account *account = pitrace_ptt_find(task->pid, task);

	if (unlikely(!account))
		account = account_otherwise(cpu, task);
	/* Before anything of it changes. */
	if (unlikely(account->epoch != cpu->epoch))
		pitrace_ptt_epochs_differ(cpu, account);
	return account;
}

/* ---- hooks ---- */

static void on_switch(void *data, bool preempted, struct task_struct *previous,
		      struct task_struct *next, unsigned int previous_state)
{
	struct pitrace_ptt_cpu_state *cpu = this_cpu_ptr(&pitrace_ptt_cpus);
	struct pitrace_ptt_account *account;

	if (unlikely(!cpu->open))
		return;
	end_charge(cpu);
	if (unlikely((previous_state & TASK_DEAD) && !preempted))
		pitrace_ptt_end(cpu->thread, previous);
	pitrace_way_out_dispatched(&cpu->out);
	account = account_of(cpu, next);
	account->dispatches++;
	cpu->dispatches++;
	cpu->thread = account;
	begin_charge(cpu, account);
	charge_tool(cpu, 0);
	publish(cpu);
}

/* One that interrupts another changes nothing. */
static __always_inline void charge_interrupt(struct pitrace_ptt_cpu_state *cpu)
{
	if (cpu->charged == &cpu->interrupt)
		return;
	move_charge(cpu, &cpu->interrupt);
	charge_tool(cpu, 0);
}

static __always_inline void charge_thread(struct pitrace_ptt_cpu_state *cpu, u64 residue)
{
	if (cpu->charged != &cpu->interrupt)
		return;
	move_charge(cpu, cpu->thread);
	charge_tool(cpu, residue);
	publish(cpu);
}

static __always_inline void enter_interrupt(void)
{
	struct pitrace_ptt_cpu_state *cpu = this_cpu_ptr(&pitrace_ptt_cpus);

	if (unlikely(!cpu->open))
		return;
	cpu->interrupt.interrupts++;
	cpu->thread->interrupts++;
	charge_interrupt(cpu);
}

static __always_inline void leave_interrupt(unsigned int vector)
{
	struct pitrace_ptt_cpu_state *cpu = this_cpu_ptr(&pitrace_ptt_cpus);

	if (unlikely(!cpu->open) || !pitrace_way_out_leave(&cpu->out))
		return;
	cpu->last_vector = vector;
	cpu->last_softs = 0;
	charge_thread(cpu, pitrace_ptt_setup.residue.hard[vector]);
}

static void on_vector_entry(void *data, int vector)
{
	enter_interrupt();
}

static void on_vector_exit(void *data, int vector)
{
	leave_interrupt(vector & 0xff);
}

static void on_device_entry(void *data, int irq, struct irqaction *action)
{
	enter_interrupt();
}

static void on_device_exit(void *data, int irq, struct irqaction *action, int result)
{
	leave_interrupt(PITRACE_PTT_DEVICE);
}

static void on_soft_entry(void *data, unsigned int number)
{
	struct pitrace_ptt_cpu_state *cpu;
	unsigned long flags;

	local_irq_save(flags);
	cpu = this_cpu_ptr(&pitrace_ptt_cpus);
	if (likely(cpu->open) && pitrace_way_out_enter_soft(&cpu->out))
		charge_interrupt(cpu);
	local_irq_restore(flags);
}

static void on_soft_exit(void *data, unsigned int number)
{
	struct pitrace_ptt_cpu_state *cpu;
	unsigned long flags;

	local_irq_save(flags);
	cpu = this_cpu_ptr(&pitrace_ptt_cpus);
	if (likely(cpu->open) && pitrace_way_out_leave_soft(&cpu->out, number))
		charge_thread(cpu, cpu->last_softs++ ? pitrace_ptt_setup.residue.next_soft :
						       pitrace_ptt_setup.residue.first_soft);
	local_irq_restore(flags);
}

static void end_slot_of(u32 tid, const struct task_struct *task)
{
	struct pitrace_ptt_account *account = pitrace_ptt_find(tid, task);

	if (account)
		pitrace_ptt_end_slot(account);
}

/*
 * The program that begins is another one, maybe another user's: slots end. A thread other than the leader that calls exec
 * has the leader's id from now on, and, as any thread with another id, another account. A dispatch in between has seen to
 * that already.
 */
static void on_exec(void *data, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm)
{
	struct pitrace_ptt_account *old;
	struct pitrace_ptt_cpu_state *cpu;
	unsigned long flags;

	local_irq_save(flags);
	cpu = this_cpu_ptr(&pitrace_ptt_cpus);
	end_slot_of(old_pid, task);
	end_slot_of(task->pid, task);
	old = pitrace_ptt_find(old_pid, task);
	if (cpu->open && old && old_pid != task->pid) {
		end_charge(cpu);
		pitrace_ptt_end(old, task);
		cpu->thread = account_of(cpu, task);
		begin_charge(cpu, cpu->thread);
	}
	local_irq_restore(flags);
}

static struct pitrace_hook thread_hooks[] = {
	PITRACE_TRACEPOINT("sched_process_exec", on_exec),
	PITRACE_TRACEPOINT("sched_switch", on_switch),
};

/* Soft interrupts last, and the first two are what is not done without. */
static struct pitrace_hook interrupt_hooks[] = {
	PITRACE_TRACEPOINT("irq_handler_entry", on_device_entry),
	PITRACE_TRACEPOINT("irq_handler_exit", on_device_exit),
	PITRACE_ARCH_VECTORS(PITRACE_VECTOR_HOOKS)
	PITRACE_TRACEPOINT("softirq_entry", on_soft_entry),
	PITRACE_TRACEPOINT("softirq_exit", on_soft_exit),
};

#define INTERRUPT_HOOKS_NEEDED 2
#define INTERRUPT_HOOKS_SOFT   2

/* On PREEMPT_RT no soft interrupt runs on the way out, but all in threads. */
static const unsigned int interrupt_hook_count =
	ARRAY_SIZE(interrupt_hooks) - (IS_ENABLED(CONFIG_PREEMPT_RT) ? INTERRUPT_HOOKS_SOFT : 0);

/* Does this kernel pass what the probes take? */
static void __maybe_unused check_types(void)
{
	check_trace_callback_type_sched_switch(on_switch);
	check_trace_callback_type_sched_process_exec(on_exec);
	check_trace_callback_type_irq_handler_entry(on_device_entry);
	check_trace_callback_type_irq_handler_exit(on_device_exit);
	PITRACE_ARCH_CHECK_VECTORS(on_vector_entry, on_vector_exit);
	check_trace_callback_type_softirq_entry(on_soft_entry);
	check_trace_callback_type_softirq_exit(on_soft_exit);
}

static bool are_in_place(const struct pitrace_hook *hooks, unsigned int count)
{
	while (count--) {
		if (!hooks[count].in_place)
			return false;
	}
	return true;
}

int pitrace_ptt_hooks_attach(void)
{
	bool good;

	pitrace_hooks_attach(thread_hooks, ARRAY_SIZE(thread_hooks));
	good = are_in_place(thread_hooks, ARRAY_SIZE(thread_hooks));
	if (pitrace_ptt_setup.ints) {
		pitrace_hooks_attach(interrupt_hooks, interrupt_hook_count);
		good &= are_in_place(interrupt_hooks, INTERRUPT_HOOKS_NEEDED);
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

/* ---- beginning and ending ---- */

void pitrace_ptt_open_cpu(void *unused)
{
	struct pitrace_ptt_cpu_state *cpu = this_cpu_ptr(&pitrace_ptt_cpus);
	const bool interrupted = pitrace_ptt_setup.ints && in_hardirq();
	u32 i;

	if (cpu->open)
		return;
	pitrace_way_out_reset(&cpu->out);
	memset(cpu->at, 0, sizeof(cpu->at));
	look(cpu);
	cpu->epoch = READ_ONCE(pitrace_ptt_epoch);
	cpu->idle.epoch = cpu->epoch;
	cpu->homeless.epoch = cpu->epoch;
	cpu->thread = account_of(cpu, current);
	begin_charge(cpu, interrupted ? &cpu->interrupt : cpu->thread);
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
	end_charge(cpu);
	for (i = 0; i < pitrace_ptt_setup.metrics; i++)
		cpu->elapsed[i] += cpu->at[i];
	cpu->open = false;
}

void pitrace_ptt_look(struct pitrace_ptt_cpu_state *cpu)
{
	look(cpu);
}

void pitrace_ptt_publish(struct pitrace_ptt_cpu_state *cpu)
{
	publish(cpu);
}

void pitrace_ptt_change_event(struct pitrace_ptt_cpu_state *cpu, u32 metric,
			      struct perf_event *event)
{
	const u64 old = event_count(cpu->event[metric]);

	cpu->event[metric] = event;
	if (!cpu->open)
		return;
	cpu->at[metric] = event_count(event);
	cpu->charged->value[metric] += old - cpu->at[metric];
	cpu->elapsed[metric] += old - cpu->at[metric];
	publish(cpu);
}
