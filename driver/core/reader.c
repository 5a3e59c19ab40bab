// SPDX-License-Identifier: GPL-2.0-only
/* The queue of processes that read streaming buffers, and how a recording path wakes them. */

#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/poll.h>
#include <linux/wait.h>

#include "reader.h"

static DECLARE_WAIT_QUEUE_HEAD(readers);

static void reader_wake(struct irq_work *work)
{
	wake_up_interruptible(&readers);
}

/* Without an initial value: in a module's per-CPU data the kernel does not relocate pointers. */
static DEFINE_PER_CPU(struct irq_work, works);

/* A recording path, also in NMIs, so it must not wake directly: an interrupt on this CPU does. */
void pitrace_wake_reader(void)
{
	irq_work_queue(this_cpu_ptr(&works));
}

void pitrace_reader_poll_wait(struct file *file, poll_table *table)
{
	poll_wait(file, &readers, table);
}

void pitrace_reader_init(void)
{
	unsigned int cpu;

	/* Not "hard": on PREEMPT_RT wake_up() may sleep, so it must run in the irq_work thread. */
	for_each_possible_cpu(cpu)
		init_irq_work(per_cpu_ptr(&works, cpu), reader_wake);
}

void pitrace_reader_exit(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(per_cpu_ptr(&works, cpu));
}
