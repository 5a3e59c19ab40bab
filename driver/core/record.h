/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a source to this CPU's ring: the gate, which decides whether records are stored, the handling
 * of records that do not fit, and functions that write a whole record.
 */
#ifndef PITRACE_RECORD_H
#define PITRACE_RECORD_H

#include <linux/percpu.h>

#include <pitrace/ring.h>

#include "reader.h"

DECLARE_PER_CPU_ALIGNED(struct pitrace_ring, pitrace_rings[PITRACE_BUFFERS_ALL]);

/* The memory behind a buffer of stacks, which user space does not map. */
static __always_inline void *pitrace_ring_spare(const struct pitrace_ring *ring)
{
	return ring->data + 2 * ring->size;
}

enum pitrace_gate {
	PITRACE_GATE_CLOSED, /* no buffers, or not recording: a record is not even counted */
	PITRACE_GATE_OPEN,
	PITRACE_GATE_FULL, /* a record did not fit: all further ones, on any CPU, are lost */
};

extern int pitrace_gates[PITRACE_BUFFERS_ALL];

/*
 * open: records of that kind are stored from now on; the rings have been reset, or contain the records
 * before a suspension. If recording has ended because a buffer became full, records are counted as
 * lost. close: on return no writer is active, and none will be until the gate is opened again; may
 * sleep.
 */
void pitrace_gate_open(u32 kind);
void pitrace_gate_close(u32 kind);
/* Whether a full buffer ends recording on all CPUs (normal mode). Resets was_full. */
void pitrace_gate_stops_when_full(bool stops);
/* Has a full buffer ended recording? Remains true after the gates are closed. */
bool pitrace_gate_was_full(void);

/* The rarely taken half of pitrace_begin(): counts the record as lost; returns NULL. */
void *pitrace_refuse(u32 kind, u32 reason);

/*
 * Reserves space for one record of size bytes in this CPU's ring; the caller fills it and calls
 * pitrace_end(). NULL: the loss is counted, and pitrace_end() must not be called. Preemption is off
 * from before pitrace_begin() to after pitrace_end(); the gate relies on that.
 */
static __always_inline void *pitrace_begin(u32 kind, u32 size, u64 *time)
{
	struct pitrace_ring *ring = this_cpu_ptr(&pitrace_rings[kind]);
	/* Pairs with pitrace_gate_open(). */
	const int gate = smp_load_acquire(&pitrace_gates[kind]);
	void *place;

	if (unlikely(gate != PITRACE_GATE_OPEN || !ring->head)) {
		if (gate == PITRACE_GATE_CLOSED || !ring->head)
			return NULL;
		return pitrace_refuse(kind, PITRACE_LOST_STOPPED);
	}
	if (unlikely(size > (kind == PITRACE_BUFFER_STACKS ? PITRACE_LENGTH_MASK : PITRACE_MAX_RECORD)))
		return pitrace_refuse(kind, PITRACE_LOST_TOO_LONG);

	pitrace_ring_enter(ring);
	place = pitrace_ring_reserve(ring, size, time);
	if (unlikely(!place))
		return pitrace_refuse(kind, PITRACE_LOST_FULL);
	return place;
}

static __always_inline void pitrace_end(u32 kind)
{
	if (unlikely(pitrace_ring_leave(this_cpu_ptr(&pitrace_rings[kind]))))
		pitrace_wake_reader();
}

/* As pitrace_write_ints(), for frequent callers with preemption off; count is a constant. */
static __always_inline void pitrace_write_ints_here(u32 kind, u32 major, u32 minor, const u32 *ints,
						    u32 count)
{
	void *place;
	u64 time;

	place = pitrace_begin(kind, pitrace_size_ints(count), &time);
	if (unlikely(!place))
		return;
	pitrace_encode_ints(place, (u32)time, major, minor, ints, count);
	pitrace_end(kind);
}

/* After pitrace_begin() has returned NULL: was the record counted as lost? Preemption is off. */
static __always_inline bool pitrace_is_recording(u32 kind)
{
	return READ_ONCE(pitrace_gates[kind]) != PITRACE_GATE_CLOSED &&
	       this_cpu_ptr(&pitrace_rings[kind])->head;
}

/* Whole records, from any context. The length of a string is in bytes, without a terminator. */
void pitrace_write_ints(u32 kind, u32 major, u32 minor, const u32 *ints, u32 count);
void pitrace_write_string(u32 kind, u32 major, u32 minor, const u32 *ints, u32 count,
			  const char *string, u32 length);
void pitrace_write_module(const struct pitrace_module *module, const char *name, u32 length);
/* Only counts a record that its source could not deliver. */
void pitrace_write_lost(u32 kind, u32 reason);

#endif /* PITRACE_RECORD_H */
