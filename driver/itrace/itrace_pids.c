// SPDX-License-Identifier: GPL-2.0-only
/* The processes for which ITrace is enabled: ranges of pids, read without a lock. */

#include "core/owner.h"
#include "itrace.h"

/* Changed under ITrace's lock; an entry is complete before the count includes it. */
static struct pid_range {
	u32 first;
	u32 last;
	bool lasting; /* includes processes that begin later */
} itrace_pids_ranges[PITRACE_ITRACE_RANGES];
static u32 itrace_pids_ranges_count;

/* named: a range of this pid alone is required. lasting: a range that includes new processes is required. */
static bool itrace_pids_is_in_range(u32 pid, bool named, bool lasting)
{
	const u32 count = smp_load_acquire(&itrace_pids_ranges_count);
	u32 i;

	for (i = 0; i < count; i++) {
		const u32 first = READ_ONCE(itrace_pids_ranges[i].first),
			  last = READ_ONCE(itrace_pids_ranges[i].last);

		if (pid >= first && pid <= last && (!named || first == last) &&
		    (!lasting || READ_ONCE(itrace_pids_ranges[i].lasting)))
			return true;
	}
	return false;
}

bool pitrace_it_is_enabled(u32 pid)
{
	return itrace_pids_is_in_range(pid, false, false);
}

bool pitrace_it_is_named(u32 pid)
{
	return itrace_pids_is_in_range(pid, true, false);
}

bool pitrace_it_may_spread(u32 pid)
{
	return !pitrace_owner_is(pid) ||
	       (!pitrace_it_setup.reserve && pitrace_it_is_named(pid));
}

/* The system depends on the first process: only a range of its pid alone includes it. */
bool pitrace_it_pid_selected(u32 pid, bool begins)
{
	return READ_ONCE(pitrace_it_state.on_for_all) &&
	       itrace_pids_is_in_range(pid, pid == 1, begins) && pitrace_it_may_spread(pid);
}

static bool itrace_pids_is_known(const struct pitrace_itrace_pids *pids, bool lasting)
{
	u32 i;

	for (i = 0; i < itrace_pids_ranges_count; i++) {
		if (itrace_pids_ranges[i].first == pids->first &&
		    itrace_pids_ranges[i].last == pids->last &&
		    itrace_pids_ranges[i].lasting == lasting)
			return true;
	}
	return false;
}

int pitrace_it_pids_add(const struct pitrace_itrace_pids *pids, bool owner, bool lasting)
{
	const u32 max_ranges = owner ? PITRACE_ITRACE_RANGES : PITRACE_ITRACE_RANGES_OTHERS;

	if (itrace_pids_is_known(pids, lasting))
		return 0;
	if (itrace_pids_ranges_count >= max_ranges)
		return -ENOSPC;
	itrace_pids_ranges[itrace_pids_ranges_count] =
		(struct pid_range){ pids->first, pids->last, lasting };
	smp_store_release(&itrace_pids_ranges_count, itrace_pids_ranges_count + 1);
	return 0;
}

void pitrace_it_pids_forget(void)
{
	WRITE_ONCE(itrace_pids_ranges_count, 0);
}
