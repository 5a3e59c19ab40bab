// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recording half of PTT's dumps: CPUs enter an epoch and save accounts as they were before it. How a dump uses that
 * is explained in ptt_dump.c.
 */

#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "ptt.h"

/* For CPUs that enter the epoch, or charge an account for the first time in it; protected by RCU. */
static struct pitrace_ptt_cut *current_cut;
u32 pitrace_ptt_epoch;

void pitrace_ptt_add(u64 to[], const u64 what[])
{
	u32 i;

	for (i = 0; i < PITRACE_PTT_METRICS; i++)
		to[i] += what[i];
}

/* ---- on a CPU that charges, with interrupts off ---- */

/* at: the CPU's counters, if the charge of this account has not ended, else NULL. */
static void ptt_epoch_save(struct pitrace_ptt_cut *cut, struct pitrace_ptt_account *account,
			   u32 epoch, const u64 *at)
{
	const u32 place = cut ? (u32)atomic_inc_return(&cut->used) - 1 : U32_MAX;
	struct pitrace_ptt_counts *saved;

	if (cut && place < cut->room) {
		saved = cut->saved + place;
		pitrace_ptt_total(account, saved);
		if (at)
			pitrace_ptt_add(saved->value, at);
	}
	account->saved = place;
	/* Pairs with ptt_dump_copy_account(): orders the saved copy before the epoch, and that before any later charge. */
	smp_store_release(&account->epoch, epoch);
	smp_wmb();
}

void pitrace_ptt_copy_cpu(struct pitrace_ptt_snapshot *snapshot, unsigned int cpu, bool charging)
{
	const struct pitrace_ptt_cpu_state *state = per_cpu_ptr(&pitrace_ptt_cpus, cpu);
	struct pitrace_ptt_without_account *without_account = snapshot->without_account + cpu;
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
	without_account->dispatches = state->without_account.dispatches;
	without_account->interrupts = state->without_account.interrupts;
	memcpy(without_account->value, state->without_account.value,
	       sizeof(without_account->value));
	if (state->open)
		pitrace_ptt_add(row->elapsed, state->at);
	if (!charging)
		return;
	if (state->charged == &state->interrupt)
		pitrace_ptt_add(row->interrupt, state->at);
	else if (state->charged == &state->idle)
		pitrace_ptt_add(row->idle, state->at);
	else if (state->charged == &state->without_account)
		pitrace_ptt_add(without_account->value, state->at);
}

static bool ptt_epoch_is_in_table(const struct pitrace_ptt_cpu_state *state,
				  const struct pitrace_ptt_account *account)
{
	return account != &state->interrupt && account != &state->idle &&
	       account != &state->without_account;
}

/* This is where the cut passes through the time of this CPU. */
static void ptt_epoch_enter(struct pitrace_ptt_cpu_state *state, bool charging)
{
	/* Pairs with pitrace_ptt_epoch_begin(). */
	const u32 epoch = smp_load_acquire(&pitrace_ptt_epoch);
	struct pitrace_ptt_cut *cut = READ_ONCE(current_cut);

	if (state->epoch == epoch)
		return;
	if (cut)
		pitrace_ptt_copy_cpu(cut->snapshot, smp_processor_id(), charging);
	if (ptt_epoch_is_in_table(state, state->thread))
		ptt_epoch_save(cut, state->thread, epoch,
			       charging && state->charged == state->thread ? state->at : NULL);
	state->idle.epoch = epoch;
	state->without_account.epoch = epoch;
	state->epoch = epoch;
}

void pitrace_ptt_epochs_differ(struct pitrace_ptt_cpu_state *state,
			       struct pitrace_ptt_account *account)
{
	if (state->open)
		ptt_epoch_enter(state, false);
	if (account->epoch != state->epoch)
		ptt_epoch_save(READ_ONCE(current_cut), account, state->epoch, NULL);
}

void pitrace_ptt_enter_epoch(struct pitrace_ptt_cpu_state *state)
{
	ptt_epoch_enter(state, true);
}

void pitrace_ptt_epoch_begin(struct pitrace_ptt_cut *cut)
{
	WRITE_ONCE(current_cut, cut);
	/* A CPU that sees the new epoch sees the cut. Pairs with ptt_epoch_enter(). */
	smp_store_release(&pitrace_ptt_epoch, pitrace_ptt_epoch + 1);
}

void pitrace_ptt_epoch_end(void)
{
	WRITE_ONCE(current_cut, NULL);
	/* Sections with interrupts off are RCU read-side sections. */
	synchronize_rcu();
}
