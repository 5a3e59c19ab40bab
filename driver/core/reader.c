// SPDX-License-Identifier: GPL-2.0-only
/* Wakes the process that reads buffers which stream, when one of them holds a section. */

#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/poll.h>
#include <linux/wait.h>

#include "buffers.h"
#include "reader.h"
#include "record.h"

static DECLARE_WAIT_QUEUE_HEAD(readers);

static void reader_wake(struct irq_work *work)
{
	wake_up_interruptible(&readers);
}

/* Without an initial value: in a module's per-CPU data the kernel does not relocate pointers. */
static DEFINE_PER_CPU(struct irq_work, works);

/* A recording path, in NMIs too: the waking itself is left to an interrupt of this CPU's own. */
void pitrace_wake_reader(void)
{
	irq_work_queue(this_cpu_ptr(&works));
}

__poll_t pitrace_reader_poll(struct file *file, poll_table *table)
{
	poll_wait(file, &readers, table);
	return pitrace_buffers_hold_a_section() ? EPOLLIN | EPOLLRDNORM : 0;
}

void pitrace_reader_init(void)
{
	unsigned int cpu;

	/* Not "hard": on PREEMPT_RT a wait queue sleeps, and is woken from the kernel's thread. */
	for_each_possible_cpu(cpu)
		init_irq_work(per_cpu_ptr(&works, cpu), reader_wake);
}

void pitrace_reader_exit(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(per_cpu_ptr(&works, cpu));
}
