// SPDX-License-Identifier: GPL-2.0-only
/* The table of sources: each runs only while its major is recorded, and costs nothing otherwise. */

#include <linux/bitops.h>
#include <linux/nospec.h>
#include <linux/string.h>

#include "core/probes.h"
#include "core/record.h"
#include "device.h"
#include "sources/sources.h"

struct source {
	u32 major;
	const struct pitrace_hook_set *hooks; /* NULL: none */
	int (*start)(u32 flags, u32 rate); /* NULL: only attach the hooks */
	void (*stop)(void); /* NULL: only detach the hooks */
	void (*final_records)(void); /* NULL, or writes records before an orderly stop */
	bool runs;
};

static void sources_stop_mte(void)
{
	pitrace_mte_stop();
	pitrace_maps_stop();
}

/* Hooks first, then existing tasks: events in between are recorded twice, never missed. */
static int sources_start_mte(u32 flags, u32 rate)
{
	int error;

	pitrace_maps_start(flags & PITRACE_ALLOC_ANON);
	pitrace_mte_start();
	pitrace_snapshot_kernel();
	error = pitrace_snapshot_tasks(PITRACE_SNAPSHOT_START);
	if (error)
		sources_stop_mte();
	return error;
}

/*
 * Records live tasks again. On failure (no memory, killed) counts one lost record, as the real number
 * is unknown.
 */
static void sources_final_records_of_mte(void)
{
	if (pitrace_snapshot_tasks(PITRACE_SNAPSHOT_END))
		pitrace_write_lost(PITRACE_BUFFER_MTE, PITRACE_LOST_SOURCE);
}

static int sources_start_interrupt(u32 flags, u32 rate)
{
	return pitrace_interrupt_start();
}

static int sources_start_tprof(u32 flags, u32 rate)
{
	return pitrace_tprof_start(rate);
}

/* Started in this order and stopped in the reverse one: MTE first, as its records name the others'. */
static struct source sources[] = {
	{ .major = PITRACE_MAJOR_MTE,
	  .hooks = &pitrace_mte_hooks,
	  .start = sources_start_mte,
	  .stop = sources_stop_mte,
	  .final_records = sources_final_records_of_mte },
	{ .major = PITRACE_MAJOR_DISPATCH, .hooks = &pitrace_dispatch_hooks },
	{ .major = PITRACE_MAJOR_SWITCH, .hooks = &pitrace_switch_hooks },
	{ .major = PITRACE_MAJOR_INTERRUPT,
	  .hooks = &pitrace_interrupt_hooks,
	  .start = sources_start_interrupt },
	{ .major = PITRACE_MAJOR_SYSCALL, .hooks = &pitrace_syscall_hooks },
	{ .major = PITRACE_MAJOR_EXCEPTION, .hooks = &pitrace_exception_hooks },
	{ .major = PITRACE_MAJOR_TPROF, .start = sources_start_tprof, .stop = pitrace_tprof_stop },
};

static int sources_start_one(struct source *source, u32 flags, u32 rate)
{
	int error = 0;

	if (source->start)
		error = source->start(flags, rate);
	else
		pitrace_hooks_attach(source->hooks->hooks, source->hooks->count);
	source->runs = !error;
	return error;
}

static void sources_stop_one(struct source *source)
{
	if (source->stop)
		source->stop();
	else
		pitrace_hooks_detach(source->hooks->hooks, source->hooks->count);
	source->runs = false;
}

int pitrace_sources_apply(const unsigned long *wanted, u32 flags, u32 rate)
{
	u32 i = ARRAY_SIZE(sources);
	int error = 0;

	while (i--) {
		if (!sources[i].runs || test_bit(sources[i].major, wanted))
			continue;
		if (sources[i].final_records)
			sources[i].final_records();
		sources_stop_one(&sources[i]);
	}
	for (i = 0; i < ARRAY_SIZE(sources) && !error; i++) {
		if (!sources[i].runs && test_bit(sources[i].major, wanted))
			error = sources_start_one(&sources[i], flags, rate);
	}
	return error;
}

void pitrace_sources_stop(void)
{
	u32 i = ARRAY_SIZE(sources);

	while (i--) {
		if (sources[i].runs)
			sources_stop_one(&sources[i]);
	}
}

void pitrace_sources_init(void)
{
	const struct source *source;

	for (source = sources; source < sources + ARRAY_SIZE(sources); source++) {
		if (source->hooks)
			pitrace_hooks_resolve(source->hooks->hooks, source->hooks->count);
	}
}

static void sources_describe_hook(const struct pitrace_hook_set *set, u32 index,
				  struct pitrace_probe *probe)
{
	const struct pitrace_hook *hook = &set->hooks[array_index_nospec(index, set->count)];

	pitrace_hooks_refresh(set->hooks, set->count);
	probe->attached = hook->attached;
	probe->missed = hook->missed;
	strscpy_pad(probe->name, hook->name, sizeof(probe->name));
}

int pitrace_sources_probe(struct pitrace_probe *probe)
{
	const struct source *source;
	u32 index = probe->index;

	for (source = sources; source < sources + ARRAY_SIZE(sources); source++) {
		const struct pitrace_hook_set *set = source->hooks;

		if (!set)
			continue;
		if (index < set->count) {
			sources_describe_hook(set, index, probe);
			return 0;
		}
		index -= set->count;
	}
	return -ENOENT;
}
