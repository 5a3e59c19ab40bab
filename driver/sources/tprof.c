// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ticks (samples): a timer on every CPU, idle and tickless ones included, records the interrupted code.
 *
 * Each period is random, 0.5 to 1.5 times the nominal one. A fixed period would stay in phase with
 * other periodic activity of the machine, and sample it always or never.
 */

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/hrtimer.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/smp.h>
#include <asm/irq_regs.h>

#include "core/compat.h"
#include "sources.h"
#include "tick.h"

struct ticker {
	struct hrtimer timer;
	u32 random; /* never 0 */
};

static DEFINE_PER_CPU(struct ticker, tickers);

/*
 * Nominal, in nanoseconds; 0: ticks are off. Changed under cpus_read_lock() while no timer runs, and
 * read by the hotplug callbacks, which exclude that.
 */
static u32 period;

static enum cpuhp_state hotplug_state;

/* Uniform from 0.5 to 1.5 periods, so that the mean is the nominal one. */
static __always_inline u64 tprof_draw_period(struct ticker *ticker)
{
	const u32 nominal = READ_ONCE(period);

	return nominal / 2 + (((u64)pitrace_draw(&ticker->random) * nominal) >> 32);
}

static enum hrtimer_restart tprof_tick(struct hrtimer *timer)
{
	struct ticker *ticker = container_of(timer, struct ticker, timer);
	/* Hard interrupt context, on PREEMPT_RT too. */
	const u64 now = pitrace_record_tick(get_irq_regs());
	const u64 step = tprof_draw_period(ticker);
	u64 next = ktime_to_ns(hrtimer_get_expires(timer)) + step;

	/* Late by more than a period (a stopped virtual machine): continue from now, without a burst. */
	if (unlikely(next <= now))
		next = now + step;
	hrtimer_set_expires(timer, ns_to_ktime(next));
	return HRTIMER_RESTART;
}

/* On the CPU itself, with interrupts off or bound to it. */
static void tprof_start_here(void *unused)
{
	struct ticker *ticker = this_cpu_ptr(&tickers);

	ticker->random = get_random_u32() | 1;
	hrtimer_start(&ticker->timer, ktime_add_ns(ktime_get(), tprof_draw_period(ticker)),
		      HRTIMER_MODE_ABS_PINNED_HARD);
}

int pitrace_tprof_start(u32 rate)
{
	if (pitrace_tprof_event_period())
		return pitrace_tprof_event_start();
	cpus_read_lock();
	period = NSEC_PER_SEC / rate;
	on_each_cpu(tprof_start_here, NULL, 1);
	cpus_read_unlock();
	return 0;
}

void pitrace_tprof_stop(void)
{
	unsigned int cpu;

	pitrace_tprof_event_stop();
	cpus_read_lock();
	for_each_online_cpu(cpu)
		hrtimer_cancel(&per_cpu(tickers, cpu).timer);
	period = 0;
	cpus_read_unlock();
}

static int tprof_cpu_online_now(unsigned int cpu)
{
	if (period)
		tprof_start_here(NULL);
	pitrace_tprof_event_cpu_changed(cpu);
	return 0;
}

/* On the CPU that goes offline, while its timers still run there. */
static int tprof_cpu_offline_soon(unsigned int cpu)
{
	hrtimer_cancel(&per_cpu(tickers, cpu).timer);
	pitrace_tprof_event_cpu_changed(cpu);
	return 0;
}

int pitrace_tprof_init(void)
{
	unsigned int cpu;
	int state;

	for_each_possible_cpu(cpu)
		pitrace_hrtimer_setup(&per_cpu(tickers, cpu).timer, tprof_tick, CLOCK_MONOTONIC,
				      HRTIMER_MODE_ABS_PINNED_HARD);
	state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "pitrace:ticks",
					  tprof_cpu_online_now, tprof_cpu_offline_soon);
	if (state < 0)
		return state;
	hotplug_state = state;
	return 0;
}

void pitrace_tprof_exit(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
	pitrace_tprof_event_exit();
}
