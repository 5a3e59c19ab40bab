// SPDX-License-Identifier: GPL-2.0-only
/* The gates, which admit records to the rings, and functions that write whole records. */

#include <linux/preempt.h>
#include <linux/rcupdate.h>

#include "record.h"

DEFINE_PER_CPU_ALIGNED(struct pitrace_ring, pitrace_rings[PITRACE_BUFFERS_ALL]);

int pitrace_gates[PITRACE_BUFFERS_ALL] __read_mostly;
static bool stops_when_full;
static bool was_full;

static void record_open_gate(u32 kind)
{
	if (READ_ONCE(was_full)) {
		WRITE_ONCE(pitrace_gates[kind], PITRACE_GATE_FULL);
		return;
	}
	/*
	 * Release: orders the reset of the rings before it, for the only writer that is not started
	 * after this: a note (maps.c) of the previous trace may check the gate at any time.
	 */
	smp_store_release(&pitrace_gates[kind], PITRACE_GATE_OPEN);
	/* Either record_stop_all() sees the open gate, or we see that the other buffer is full. */
	smp_mb();
	if (READ_ONCE(was_full))
		cmpxchg(&pitrace_gates[kind], PITRACE_GATE_OPEN, PITRACE_GATE_FULL);
}

/* Stacks are copied for trace records only: their gate opens and closes with the other one. */
void pitrace_gate_open(u32 kind)
{
	if (kind == PITRACE_BUFFER_TRACE)
		record_open_gate(PITRACE_BUFFER_STACKS);
	record_open_gate(kind);
}

void pitrace_gate_close(u32 kind)
{
	WRITE_ONCE(pitrace_gates[kind], PITRACE_GATE_CLOSED);
	if (kind == PITRACE_BUFFER_TRACE)
		WRITE_ONCE(pitrace_gates[PITRACE_BUFFER_STACKS], PITRACE_GATE_CLOSED);
	/*
	 * Writers check the gate and write with preemption off, interrupts and NMIs included, so
	 * those that saw it open are in an RCU read-side section.
	 */
	synchronize_rcu();
}

void pitrace_gate_stops_when_full(bool stops)
{
	WRITE_ONCE(stops_when_full, stops);
	WRITE_ONCE(was_full, false);
}

bool pitrace_gate_was_full(void)
{
	return READ_ONCE(was_full);
}

static void record_stop_all(void)
{
	u32 kind;

	WRITE_ONCE(was_full, true);
	smp_mb(); /* pairs with the one in pitrace_gate_open() */
	/* cmpxchg(), as a plain store could undo pitrace_gate_close(). */
	for (kind = 0; kind < PITRACE_BUFFERS_ALL; kind++)
		cmpxchg(&pitrace_gates[kind], PITRACE_GATE_OPEN, PITRACE_GATE_FULL);
}

/*
 * Counts a lost record. It has entered the ring if the reason is FULL; otherwise this enters the ring
 * for it, as produced must equal written + lost whenever no writer is active.
 */
void *pitrace_refuse(u32 kind, u32 reason)
{
	struct pitrace_ring *ring = this_cpu_ptr(&pitrace_rings[kind]);

	if (reason != PITRACE_LOST_FULL)
		pitrace_ring_enter(ring);
	else if (READ_ONCE(stops_when_full) && kind != PITRACE_BUFFER_STACKS)
		record_stop_all();
	pitrace_ring_lose(ring, reason);
	pitrace_end(kind);
	return NULL;
}

void pitrace_write_ints(u32 kind, u32 major, u32 minor, const u32 *ints, u32 count)
{
	void *place;
	u64 time;

	preempt_disable_notrace();
	place = pitrace_begin(kind, pitrace_size_ints(count), &time);
	if (place) {
		pitrace_encode_ints(place, (u32)time, major, minor, ints, count);
		pitrace_end(kind);
	}
	preempt_enable_notrace();
}

void pitrace_write_string(u32 kind, u32 major, u32 minor, const u32 *ints, u32 count,
			  const char *string, u32 length)
{
	void *place;
	u64 time;

	preempt_disable_notrace();
	place = pitrace_begin(kind, pitrace_size_string(count, length), &time);
	if (place) {
		pitrace_encode_string(place, (u32)time, major, minor, ints, count, string, length);
		pitrace_end(kind);
	}
	preempt_enable_notrace();
}

void pitrace_write_module(const struct pitrace_module *module, const char *name, u32 length)
{
	void *place;
	u64 time;

	preempt_disable_notrace();
	place = pitrace_begin(PITRACE_BUFFER_MTE, pitrace_size_module(length), &time);
	if (place) {
		pitrace_encode_module(place, (u32)time, module, name, length);
		pitrace_end(PITRACE_BUFFER_MTE);
	}
	preempt_enable_notrace();
}

void pitrace_write_lost(u32 kind, u32 reason)
{
	preempt_disable_notrace();
	if (pitrace_is_recording(kind))
		pitrace_refuse(kind, reason);
	preempt_enable_notrace();
}
