// SPDX-License-Identifier: GPL-2.0-only
/* PTT's calls for the current thread: binds and unbinds a slot, and reads its account. */

#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/sched.h>

#include "ptt.h"

/* Under local_irq_save(). */
static int ptt_current_account_of_current(struct pitrace_ptt_cpu_state *cpu,
					  struct pitrace_ptt_account **account)
{
	if (!cpu->open)
		return -ENXIO;
	if (cpu->thread->task != current)
		return -ENOSPC;
	*account = cpu->thread;
	return 0;
}

int pitrace_ptt_bind(struct pitrace_ptt_bound *bound, enum pitrace_ptt_sees sees)
{
	struct pitrace_ptt_cpu_state *cpu;
	struct pitrace_ptt_account *account;
	unsigned long flags;
	int error;

	local_irq_save(flags);
	cpu = this_cpu_ptr(&pitrace_ptt_cpus);
	error = ptt_current_account_of_current(cpu, &account);
	if (!error && account->bound)
		error = -EALREADY;
	bound->shown = pitrace_ptt_shown(sees);
	bound->vectors = sees == PITRACE_PTT_SEES_KERNEL;
	bound->in_part = !bound->vectors;
	if (!error && !bound->shown)
		error = -EACCES;
	if (!error) {
		bound->account = account;
		bound->slot->changes = 0;
		bound->slot->active = 1;
		account->bound = bound;
		pitrace_ptt_publish(cpu);
	}
	local_irq_restore(flags);
	return error;
}

int pitrace_ptt_unbind(void)
{
	struct pitrace_ptt_account *account;
	unsigned long flags;
	int error;

	local_irq_save(flags);
	error = ptt_current_account_of_current(this_cpu_ptr(&pitrace_ptt_cpus), &account);
	if (!error && !account->bound)
		error = -EINVAL;
	if (!error) {
		account->bound->account = NULL;
		pitrace_ptt_end_slot(account);
	}
	local_irq_restore(flags);
	return error;
}

int pitrace_ptt_read(struct pitrace_ptt_read *read, enum pitrace_ptt_sees sees)
{
	struct pitrace_ptt_cpu_state *cpu;
	struct pitrace_ptt_account *account;
	unsigned long flags;
	u32 i, shown;
	int error;

	local_irq_save(flags);
	cpu = this_cpu_ptr(&pitrace_ptt_cpus);
	error = ptt_current_account_of_current(cpu, &account);
	/*
	 * Not before this CPU was found open with interrupts off: another instance, whose metrics have another order, can
	 * begin only after this CPU was closed, by an interrupt. So the bits are those of the metrics that are read.
	 */
	shown = pitrace_ptt_shown(sees);
	if (!error && !shown)
		error = -EACCES;
	if (!error) {
		pitrace_ptt_update_counters(cpu);
		for (i = 0; i < pitrace_ptt_setup.metrics; i++)
			read->value[i] = shown >> i & 1 ? account->value[i] + cpu->at[i] : 0;
		read->dispatches = account->dispatches;
		read->interrupts = account->interrupts;
	}
	local_irq_restore(flags);
	return error;
}
