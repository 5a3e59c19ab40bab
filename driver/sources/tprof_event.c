// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ticks (samples) of an event: one of the kernel's perf counters on every CPU; each overflow records
 * the interrupted code.
 *
 * The kernel stops a counter that overflows too often until its next timer tick. Each time one record
 * is counted as lost by its source, as the real number is unknown. Overflows that the processor loses
 * or shifts (skid, an overflow while another is handled) cannot be detected here.
 */

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/random.h>
#include <linux/workqueue.h>

#include "sources.h"
#include "tick.h"

struct counter {
	struct perf_event *event; /* NULL: there is none */
	u32 random; /* never 0 */
	bool stale; /* the CPU went offline or came online: the event does not count any more */
};

static DEFINE_PER_CPU(struct counter, counters);

/* Protects all counters, and counting. */
static DEFINE_MUTEX(counters_lock);
static bool counting;

/* Under the session lock; changed while no counter runs. */
static struct pitrace_event wanted = { .type = PITRACE_EVENT_TIME };

/* Value of hw.interrupts of a throttled counter (the kernel's MAX_INTERRUPTS, which no header defines). */
#define THROTTLED (~0ull)

/* Minimum period of the kernel's clock events, in nanoseconds. */
#define CLOCK_PERIOD_MIN 10000

/* Uniform from 0.75 to 1.25 periods. */
static u64 tprof_event_draw_period(struct counter *counter)
{
	return wanted.period - wanted.period / 4 +
	       mul_u64_u32_shr(wanted.period / 2, pitrace_draw(&counter->random), 32);
}

/* In any context, NMIs included, with preemption off. */
static void tprof_event_on_overflow(struct perf_event *event, struct perf_sample_data *data,
				    struct pt_regs *regs)
{
	pitrace_record_tick(regs);
	if (wanted.flags & PITRACE_EVENT_RANDOM)
		event->hw.sample_period = tprof_event_draw_period(this_cpu_ptr(&counters));
	if (unlikely(event->hw.interrupts == THROTTLED))
		pitrace_write_lost(PITRACE_BUFFER_TRACE, PITRACE_LOST_SOURCE);
}

/*
 * It counts at once. Pinned: it either counts all the time or not at all; then its state is
 * PERF_EVENT_STATE_ERROR.
 */
static struct perf_event *tprof_event_create(const struct pitrace_event *like, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = like->type,
		.size = sizeof(attr),
		.config = like->config,
		.config1 = like->config1,
		.config2 = like->config2,
		.sample_period = like->period,
		.pinned = 1,
		.exclude_kernel = !!(like->flags & PITRACE_EVENT_NO_KERNEL),
		.exclude_user = !!(like->flags & PITRACE_EVENT_NO_USER),
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, (int)cpu, NULL, tprof_event_on_overflow,
						 NULL);
	if (!IS_ERR(event) && READ_ONCE(event->state) == PERF_EVENT_STATE_ERROR) {
		perf_event_release_kernel(event);
		return ERR_PTR(-ENOSPC);
	}
	return event;
}

/* ---- the counters of all CPUs, under their lock ---- */

static void tprof_event_release(struct counter *counter)
{
	if (!counter->event)
		return;
	/* Another pinned counter displaced it. */
	if (READ_ONCE(counter->event->state) == PERF_EVENT_STATE_ERROR)
		pitrace_write_lost(PITRACE_BUFFER_TRACE, PITRACE_LOST_SOURCE);
	perf_event_release_kernel(counter->event);
	counter->event = NULL;
}

/* 0 also when the CPU is offline; if it comes online, pitrace_tprof_event_cpu_changed() is called. */
static int tprof_event_start_on(unsigned int cpu)
{
	struct counter *counter = per_cpu_ptr(&counters, cpu);
	struct perf_event *event;

	WRITE_ONCE(counter->stale, false);
	counter->random = get_random_u32() | 1;
	event = tprof_event_create(&wanted, cpu);
	if (!IS_ERR(event))
		counter->event = event;
	else if (PTR_ERR(event) != -ENODEV)
		return (int)PTR_ERR(event);
	return 0;
}

static void tprof_event_stop_all(void)
{
	unsigned int cpu;

	counting = false;
	for_each_possible_cpu(cpu)
		tprof_event_release(per_cpu_ptr(&counters, cpu));
	/* Handlers of software events, which run with preemption off, may still be running. */
	synchronize_rcu();
}

static int tprof_event_start_all(void)
{
	unsigned int cpu;
	int error = 0;

	counting = true;
	for_each_online_cpu(cpu) {
		error = tprof_event_start_on(cpu);
		if (error)
			break;
	}
	if (error)
		tprof_event_stop_all();
	return error;
}

/* After CPU hotplug. The kernel has removed the counters of a CPU that went offline. */
static void tprof_event_adjust(struct work_struct *unused)
{
	struct counter *counter;
	unsigned int cpu;

	mutex_lock(&counters_lock);
	for_each_possible_cpu(cpu) {
		counter = per_cpu_ptr(&counters, cpu);
		if (!counting)
			break;
		if (READ_ONCE(counter->stale))
			tprof_event_release(counter);
		if (!counter->event && cpu_online(cpu) && tprof_event_start_on(cpu))
			pitrace_write_lost(PITRACE_BUFFER_TRACE, PITRACE_LOST_SOURCE);
	}
	mutex_unlock(&counters_lock);
}

static DECLARE_WORK(adjust_work, tprof_event_adjust);

/* To create a counter takes locks for which a hotplug callback must not wait. */
void pitrace_tprof_event_cpu_changed(unsigned int cpu)
{
	WRITE_ONCE(per_cpu(counters, cpu).stale, true);
	if (READ_ONCE(counting))
		schedule_work(&adjust_work);
}

/* ---- for the session ---- */

int pitrace_tprof_event_start(void)
{
	int error;

	mutex_lock(&counters_lock);
	error = tprof_event_start_all();
	mutex_unlock(&counters_lock);
	return error;
}

void pitrace_tprof_event_stop(void)
{
	mutex_lock(&counters_lock);
	if (counting)
		tprof_event_stop_all();
	mutex_unlock(&counters_lock);
}

static bool tprof_event_is_clock(const struct pitrace_event *event)
{
	return event->type == PERF_TYPE_SOFTWARE && (event->config == PERF_COUNT_SW_CPU_CLOCK ||
						     event->config == PERF_COUNT_SW_TASK_CLOCK);
}

static bool tprof_event_is_good(const struct pitrace_event *event)
{
	const u32 excluding = PITRACE_EVENT_NO_KERNEL | PITRACE_EVENT_NO_USER;
	u64 shortest = event->period;

	if (event->flags & ~(excluding | PITRACE_EVENT_RANDOM))
		return false;
	if ((event->flags & excluding) == excluding)
		return false;
	if (event->flags & PITRACE_EVENT_RANDOM)
		shortest -= shortest / 4;
	/* The kernel adds to periods, in signed arithmetic. */
	return event->period && !(event->period >> 62) &&
	       (!tprof_event_is_clock(event) || shortest >= CLOCK_PERIOD_MIN);
}

/* Creates a counter to find out whether the event can be counted; while the trace is off it records nothing. */
int pitrace_tprof_event_set(const struct pitrace_event *event)
{
	struct perf_event *trial;

	if (event->type == PITRACE_EVENT_TIME) {
		pitrace_tprof_event_reset();
		return 0;
	}
	if (!tprof_event_is_good(event))
		return -EINVAL;
	trial = tprof_event_create(event, raw_smp_processor_id());
	if (IS_ERR(trial))
		return (int)PTR_ERR(trial);
	perf_event_release_kernel(trial);
	synchronize_rcu();
	wanted = *event;
	return 0;
}

void pitrace_tprof_event_reset(void)
{
	wanted = (struct pitrace_event){ .type = PITRACE_EVENT_TIME };
}

u64 pitrace_tprof_event_period(void)
{
	return wanted.type == PITRACE_EVENT_TIME ? 0 : wanted.period;
}

void pitrace_tprof_event_exit(void)
{
	cancel_work_sync(&adjust_work);
}
