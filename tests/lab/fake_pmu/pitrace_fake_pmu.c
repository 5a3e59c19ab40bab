// SPDX-License-Identifier: GPL-2.0-only
/*
 * A PMU for lab guests, which have none.
 *
 * Sampling: a timer counts a known number of events and calls the overflow handler in hard interrupt context,
 * exactly at each period. config: the total number of events; config1: events per timer interrupt; config2: 1
 * to imitate a counter that the kernel throttles at each overflow, 2 to call the handler in an NMI instead: each timer
 * interrupt sends one to the other CPUs, where it can occur at any instruction, and each NMI is an overflow. The parameters
 * shortest_period and longest_period have the range of the periods so far, without the first one.
 *
 * Counting: config1 events occur in each cycle of the time-stamp counter. The counter has config2 bits, and each
 * CPU has one.
 */

#include <linux/hrtimer.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/spinlock.h>
#include <asm/apic.h>
#include <asm/irq_regs.h>
#include <asm/msr.h>
#include <asm/nmi.h>

#define FIRING_NANOSECONDS 200000

/* Values of config2. */
#define THROTTLES 1
#define BY_NMI	  2

static DEFINE_RAW_SPINLOCK(periods_lock);
static unsigned long shortest_period = ULONG_MAX;
static unsigned long longest_period;
module_param(shortest_period, ulong, 0444);
module_param(longest_period, ulong, 0444);

/* Called in hard interrupt context. */
static void note_period(unsigned long period)
{
	raw_spin_lock(&periods_lock);
	shortest_period = min(shortest_period, period);
	longest_period = max(longest_period, period);
	raw_spin_unlock(&periods_lock);
}

static void overflow(struct perf_event *event, struct pt_regs *regs)
{
	struct perf_sample_data data;

	if (event->attr.config2 == THROTTLES)
		event->hw.interrupts = ~0ull;
	perf_sample_data_init(&data, 0, event->hw.last_period);
	/* perf_event_overflow(), which the kernel calls here, is not exported to modules. */
	event->overflow_handler(event, &data, regs);
}

/* ---- by NMI ---- */

static DEFINE_PER_CPU(struct perf_event *, by_nmi);
static DEFINE_PER_CPU(int, nmi_was_sent);

static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	struct perf_event *event = this_cpu_read(by_nmi);

	if (!this_cpu_xchg(nmi_was_sent, 0))
		return NMI_DONE;
	if (event)
		overflow(event, regs);
	return NMI_HANDLED;
}

static void send_nmis(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (cpu != smp_processor_id() && !xchg(per_cpu_ptr(&nmi_was_sent, cpu), 1))
			apic->send_IPI((int)cpu, NMI_VECTOR);
}

/* ---- by timer ---- */

static enum hrtimer_restart fire(struct hrtimer *timer)
{
	struct perf_event *event = container_of(timer, struct perf_event, hw.hrtimer);
	const u64 left = event->attr.config - (u64)local64_read(&event->count);
	const u64 now = min(left, event->attr.config1);

	local64_add((long)now, &event->count);
	local64_sub((long)now, &event->hw.period_left);
	if (event->attr.config2 == BY_NMI)
		send_nmis();
	while (event->attr.config2 != BY_NMI && local64_read(&event->hw.period_left) <= 0) {
		overflow(event, get_irq_regs());
		note_period(event->hw.sample_period);
		local64_add((long)event->hw.sample_period, &event->hw.period_left);
	}
	if (left == now)
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(FIRING_NANOSECONDS));
	return HRTIMER_RESTART;
}

/* ---- counting ---- */

static DEFINE_PER_CPU(struct perf_event *, counting);

static u64 counter_of(const struct perf_event *event)
{
	return (rdtsc() * event->attr.config1) & GENMASK_ULL(event->attr.config2 - 1, 0);
}

/* The difference modulo the counter's width: it may have wrapped once since the last update. */
static void update(struct perf_event *event)
{
	const u64 now = counter_of(event);
	const u64 old = local64_xchg(&event->hw.prev_count, (long)now);

	local64_add((long)((now - old) & GENMASK_ULL(event->attr.config2 - 1, 0)), &event->count);
}

static bool is_counter(const struct perf_event *event)
{
	return !event->attr.sample_period;
}

/* ---- both ---- */

static struct pmu fake;

static int fake_event_init(struct perf_event *event)
{
	if (event->attr.type != fake.type)
		return -ENOENT;
	if (is_counter(event))
		return event->attr.config1 && event->attr.config2 && event->attr.config2 <= 64 ?
			       0 : -EINVAL;
	if (!event->attr.config1)
		return -EINVAL;
#ifdef HAS_HRTIMER_SETUP
	hrtimer_setup(&event->hw.hrtimer, fire, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
#else
	hrtimer_init(&event->hw.hrtimer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	event->hw.hrtimer.function = fire;
#endif
	local64_set(&event->hw.period_left, (long)event->attr.sample_period);
	return 0;
}

static void fake_start(struct perf_event *event, int flags)
{
	event->hw.state = 0;
	if (is_counter(event)) {
		local64_set(&event->hw.prev_count, (long)counter_of(event));
		return;
	}
	if (event->attr.config2 == BY_NMI)
		this_cpu_write(by_nmi, event);
	hrtimer_start(&event->hw.hrtimer, ns_to_ktime(FIRING_NANOSECONDS),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

static void fake_stop(struct perf_event *event, int flags)
{
	if (is_counter(event))
		update(event);
	else
		hrtimer_cancel(&event->hw.hrtimer);
	if (this_cpu_read(by_nmi) == event)
		this_cpu_write(by_nmi, NULL);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int fake_add(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (is_counter(event)) {
		if (this_cpu_read(counting))
			return -EAGAIN;
		this_cpu_write(counting, event);
	}
	if (flags & PERF_EF_START)
		fake_start(event, flags);
	return 0;
}

static void fake_del(struct perf_event *event, int flags)
{
	fake_stop(event, flags);
	if (is_counter(event))
		this_cpu_write(counting, NULL);
}

static void fake_read(struct perf_event *event)
{
	if (is_counter(event))
		update(event);
}

static struct pmu fake = {
	.module = THIS_MODULE,
	.task_ctx_nr = perf_invalid_context,
	.event_init = fake_event_init,
	.add = fake_add,
	.del = fake_del,
	.start = fake_start,
	.stop = fake_stop,
	.read = fake_read,
};

static int __init fake_init(void)
{
	const int error = register_nmi_handler(NMI_LOCAL, on_nmi, 0, "pitrace_fake");

	return error ? error : perf_pmu_register(&fake, "pitrace_fake", -1);
}

static void __exit fake_exit(void)
{
	perf_pmu_unregister(&fake);
	unregister_nmi_handler(NMI_LOCAL, "pitrace_fake");
}

module_init(fake_init);
module_exit(fake_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A PMU with known event counts, for tests of pitrace");
