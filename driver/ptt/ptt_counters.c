// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters of PTT's metrics: the kernel's perf counters, one per metric and CPU. Pinned: each
 * counts all the time, or was displaced by another pinned one, which DUMP reports.
 */

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/smp.h>

#include "ptt.h"

struct change {
	u32 metric;
	struct perf_event *event;
};

/* On the CPU itself, with interrupts off. */
static void ptt_counters_change_here(void *data)
{
	const struct change *change = data;

	pitrace_ptt_change_event(this_cpu_ptr(&pitrace_ptt_cpus), change->metric, change->event);
}

/* On a CPU that is offline no hook reads the events. */
static void ptt_counters_change_on(unsigned int cpu, u32 metric, struct perf_event *event)
{
	struct change change = { .metric = metric, .event = event };

	/* Prevents hotplug of the CPU meanwhile. */
	cpus_read_lock();
	if (smp_call_function_single((int)cpu, ptt_counters_change_here, &change, 1))
		per_cpu(pitrace_ptt_cpus, cpu).event[metric] = event;
	cpus_read_unlock();
}

static struct perf_event *ptt_counters_create(const struct pitrace_ptt_metric *metric,
					      unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = metric->type,
		.size = sizeof(attr),
		.config = metric->config,
		.config1 = metric->config1,
		.config2 = metric->config2,
		.pinned = 1,
		.exclude_kernel = !!(metric->flags & PITRACE_PTT_NO_KERNEL),
		.exclude_user = !!(metric->flags & PITRACE_PTT_NO_USER),
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, (int)cpu, NULL, NULL, NULL);
	if (!IS_ERR(event) && READ_ONCE(event->state) == PERF_EVENT_STATE_ERROR) {
		perf_event_release_kernel(event);
		return ERR_PTR(-ENOSPC);
	}
	return event;
}

static void ptt_counters_release_on(unsigned int cpu)
{
	struct pitrace_ptt_cpu_state *state = per_cpu_ptr(&pitrace_ptt_cpus, cpu);
	struct perf_event *event;
	u32 i;

	for (i = 0; i < PITRACE_PTT_METRICS; i++) {
		event = state->event[i];
		if (!event)
			continue;
		ptt_counters_change_on(cpu, i, NULL);
		perf_event_release_kernel(event);
	}
}

/* 0 also when the CPU is offline; if it comes online, its counters are adjusted again. */
static int ptt_counters_start_on(unsigned int cpu)
{
	struct perf_event *event;
	u32 i;

	for (i = 0; i < pitrace_ptt_setup.metrics; i++) {
		if (pitrace_ptt_setup.metric[i].kind != PITRACE_PTT_COUNTER)
			continue;
		event = ptt_counters_create(&pitrace_ptt_setup.metric[i], cpu);
		if (!IS_ERR(event))
			ptt_counters_change_on(cpu, i, event);
		else if (PTR_ERR(event) != -ENODEV)
			return (int)PTR_ERR(event);
	}
	return 0;
}

int pitrace_ptt_counters_start(void)
{
	unsigned int cpu;
	int error;

	for_each_possible_cpu(cpu) {
		per_cpu(pitrace_ptt_cpus, cpu).counters_stale = false;
		per_cpu(pitrace_ptt_cpus, cpu).counters_lost = false;
	}
	for_each_online_cpu(cpu) {
		error = ptt_counters_start_on(cpu);
		if (error) {
			pitrace_ptt_counters_stop();
			return error;
		}
	}
	return 0;
}

void pitrace_ptt_counters_stop(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		ptt_counters_release_on(cpu);
}

void pitrace_ptt_counters_adjust(void)
{
	struct pitrace_ptt_cpu_state *state;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		state = per_cpu_ptr(&pitrace_ptt_cpus, cpu);
		if (!READ_ONCE(state->counters_stale))
			continue;
		WRITE_ONCE(state->counters_stale, false);
		ptt_counters_release_on(cpu);
		if (cpu_online(cpu) && ptt_counters_start_on(cpu))
			state->counters_lost = true;
	}
}

void pitrace_ptt_counters_invalidate(unsigned int cpu)
{
	WRITE_ONCE(per_cpu(pitrace_ptt_cpus, cpu).counters_stale, true);
}

bool pitrace_ptt_counters_lost(unsigned int cpu)
{
	struct pitrace_ptt_cpu_state *state = per_cpu_ptr(&pitrace_ptt_cpus, cpu);
	u32 i;

	for (i = 0; i < pitrace_ptt_setup.metrics; i++) {
		if (state->event[i] && READ_ONCE(state->event[i]->state) == PERF_EVENT_STATE_ERROR)
			state->counters_lost = true;
	}
	return state->counters_lost;
}
