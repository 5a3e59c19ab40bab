// SPDX-License-Identifier: GPL-2.0-only
/* Continuous ITrace: a followed thread waits, before it returns to user mode, until the reader has made space. */

#include <linux/atomic.h>
#include <linux/freezer.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/wait.h>

#include "core/owner.h"
#include "core/record.h"
#include "itrace.h"
#include "itrace_calls.h"

/* Upper limit of the parameter, so that it fits jiffies. */
#define HOLD_SECONDS_MAX 3600

static unsigned int itrace_hold_seconds = 10;
module_param(itrace_hold_seconds, uint, 0644);
MODULE_PARM_DESC(itrace_hold_seconds,
		 "continuous ITrace holds a thread at most so long for the reader, then its flow has a gap");

static DECLARE_WAIT_QUEUE_HEAD(itrace_hold_waiting);
static atomic_t itrace_hold_consumptions;

/* A wait has timed out while the reader consumed nothing: no thread waits until the reader does. */
static bool itrace_hold_reader_stalled;

/*
 * Has this CPU's buffer, where the thread most likely continues, space? The gate is tested first: it is closed, and a
 * grace period has passed, before the buffers are freed.
 */
static bool itrace_hold_has_space(void)
{
	struct pitrace_buffer_head *head;
	struct pitrace_ring *ring;
	bool result = true;

	preempt_disable_notrace();
	ring = this_cpu_ptr(&pitrace_rings[PITRACE_BUFFER_TRACE]);
	if (smp_load_acquire(&pitrace_gates[PITRACE_BUFFER_TRACE]) == PITRACE_GATE_OPEN) {
		head = READ_ONCE(ring->head);
		/* The reader consumes when half of the buffer is full, at the latest. */
		result = !head || READ_ONCE(head->reserved) +
						  min(pitrace_it_setup.reserve, ring->size / 2) <=
					  READ_ONCE(head->consumed) + ring->size;
	}
	preempt_enable_notrace();
	return result;
}

static bool itrace_hold_must_wait(const struct pitrace_it_thread *thread)
{
	return READ_ONCE(pitrace_it_runs) && !READ_ONCE(thread->ended) &&
	       !itrace_hold_has_space() && !READ_ONCE(itrace_hold_reader_stalled) &&
	       !fatal_signal_pending(current);
}

/* Waits 0.1 s, or until the reader has made space. The freezer and SIGKILL end the wait. */
static void itrace_hold_wait_once(const struct pitrace_it_thread *thread)
{
	DEFINE_WAIT(wait);

	preempt_disable();
	pitrace_wake_reader();
	preempt_enable();
	prepare_to_wait(&itrace_hold_waiting, &wait, TASK_KILLABLE | TASK_FREEZABLE);
	if (itrace_hold_must_wait(thread))
		schedule_timeout(max(HZ / 10, 1));
	finish_wait(&itrace_hold_waiting, &wait);
}

static void itrace_hold_wait_for_space(struct callback_head *work)
{
	struct pitrace_it_thread *thread = container_of(work, struct pitrace_it_thread, wait_work);
	const unsigned int seconds = min(READ_ONCE(itrace_hold_seconds), HOLD_SECONDS_MAX);
	const unsigned long end = jiffies + seconds * HZ;
	const int before = atomic_read(&itrace_hold_consumptions);

	while (itrace_hold_must_wait(thread)) {
		if (time_after_eq(jiffies, end)) {
			thread->wait_timed_out = true;
			if (atomic_read(&itrace_hold_consumptions) == before)
				WRITE_ONCE(itrace_hold_reader_stalled, true);
			break;
		}
		itrace_hold_wait_once(thread);
	}
	WRITE_ONCE(thread->wait_due, false);
}

/* The process that empties the buffers never waits for space in them. */
void pitrace_it_queue_wait_for_space(struct pitrace_it_thread *thread)
{
	if (likely(itrace_hold_has_space())) {
		thread->wait_timed_out = false;
		return;
	}
	if (thread->wait_timed_out || thread->wait_due || READ_ONCE(itrace_hold_reader_stalled) ||
	    pitrace_owner_is(thread->pid))
		return;
	WRITE_ONCE(thread->wait_due, true);
	init_task_work(&thread->wait_work, itrace_hold_wait_for_space);
	if (task_work_add(current, &thread->wait_work, TWA_RESUME))
		WRITE_ONCE(thread->wait_due, false);
}

void pitrace_it_wake_waiting(void)
{
	wake_up_all(&itrace_hold_waiting);
}

void pitrace_it_hold_reset(void)
{
	WRITE_ONCE(itrace_hold_reader_stalled, false);
}

void pitrace_itrace_consumed(void)
{
	atomic_inc(&itrace_hold_consumptions);
	if (READ_ONCE(itrace_hold_reader_stalled))
		WRITE_ONCE(itrace_hold_reader_stalled, false);
	if (wq_has_sleeper(&itrace_hold_waiting))
		wake_up_all(&itrace_hold_waiting);
}
