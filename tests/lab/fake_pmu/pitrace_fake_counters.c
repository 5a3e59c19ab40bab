// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hardware counters for lab guests, which have none: the kernel's generic events cpu-cycles, instructions and
 * branch-instructions, up to four at a time on each CPU, system-wide or for a thread. instructions is the
 * time-stamp counter, which counts instructions in the instruction-count lab; the others are multiples of it.
 * Load it once per boot: the kernel does not support re-registering the CPU's PMU.
 */

#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <asm/msr.h>
#include <asm/tsc.h>

#define COUNTERS 4

static DEFINE_PER_CPU(int, counters_used);

/* Events per tick of the time-stamp counter; 0: unsupported. */
static u64 factor_of(u64 config)
{
	switch (config) {
	case PERF_COUNT_HW_CPU_CYCLES:
		return 2;
	case PERF_COUNT_HW_INSTRUCTIONS:
		return 1;
	case PERF_COUNT_HW_BRANCH_INSTRUCTIONS:
		return 3;
	default:
		return 0;
	}
}

static u64 clock_of(struct perf_event *event)
{
	return rdtsc_ordered() * event->hw.config;
}

static int counters_init(struct perf_event *event)
{
	if (event->attr.type != PERF_TYPE_HARDWARE || !factor_of(event->attr.config))
		return -ENOENT;
	if (event->attr.sample_period)
		return -EOPNOTSUPP;
	if (event->group_leader != event && event->group_leader->nr_siblings + 2 > COUNTERS)
		return -EINVAL;
	event->hw.config = factor_of(event->attr.config);
	return 0;
}

static void counters_read(struct perf_event *event)
{
	const u64 now = clock_of(event);
	const u64 before = (u64)local64_xchg(&event->hw.prev_count, (long)now);

	if (!(event->hw.state & PERF_HES_STOPPED))
		local64_add((long)(now - before), &event->count);
}

static void counters_start(struct perf_event *event, int flags)
{
	local64_set(&event->hw.prev_count, (long)clock_of(event));
	event->hw.state = 0;
}

static void counters_stop(struct perf_event *event, int flags)
{
	counters_read(event);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int counters_add(struct perf_event *event, int flags)
{
	int *used = this_cpu_ptr(&counters_used);

	if (*used == COUNTERS)
		return -EAGAIN;
	++*used;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		counters_start(event, flags);
	return 0;
}

static void counters_del(struct perf_event *event, int flags)
{
	counters_stop(event, flags);
	--*this_cpu_ptr(&counters_used);
}

static struct pmu counters = {
	.module = THIS_MODULE,
	.task_ctx_nr = perf_hw_context,
	.capabilities = PERF_PMU_CAP_NO_INTERRUPT | PERF_PMU_CAP_NO_EXCLUDE,
	.event_init = counters_init,
	.add = counters_add,
	.del = counters_del,
	.start = counters_start,
	.stop = counters_stop,
	.read = counters_read,
};

static int __init counters_module_init(void)
{
	/* The kernel passes generic events to the PMU of this type. */
	return perf_pmu_register(&counters, "pitrace_fake_counters", PERF_TYPE_RAW);
}

static void __exit counters_module_exit(void)
{
	perf_pmu_unregister(&counters);
}

module_init(counters_module_init);
module_exit(counters_module_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Hardware counters that count the time-stamp counter, for tests of pitrace");
