/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * Reserve and commit in one CPU's ring. Pure: user space compiles this file as it is.
 *
 * Writers of a ring run on its CPU with preemption off. Interrupts and NMIs may write in the middle
 * of a writer, so writers nest, strictly last in, first out: when the outermost one leaves, all
 * space that was reserved meanwhile is filled. Only it publishes. (In user space a thread takes the
 * role of the CPU, its signal handlers that of the interrupts.)
 *
 * A writer calls, in this order:
 *	pitrace_ring_enter()
 *	pitrace_ring_reserve() or pitrace_ring_lose()
 *	(fills the reserved space)
 *	pitrace_ring_leave()
 *
 * Positions, marks and what a reader may rely on: pitrace/abi.h, "buffers".
 */
#ifndef PITRACE_RING_H
#define PITRACE_RING_H

#include <pitrace/encode.h>

#include "ring_ops.h"

/* What the ring puts before a record in the same reservation. */
#define PITRACE_LEAD_MAX (PITRACE_TIME_SIZE + PITRACE_LOST_SIZE)
#define PITRACE_NO_WAKE	 (~0ull)

/* The writer's own state, in memory that a reader does not see. */
struct pitrace_ring {
	struct pitrace_buffer_head *head; /* mapped; NULL: there is no buffer */
	__u8 *data; /* the records, followed by a second mapping of the same memory */
	__u64 size; /* bytes of data */
	const __u64 *floor; /* nothing at or above this position may be overwritten */
	__u64 lap; /* the position of data[0] in this lap, or in an earlier one */
	__u64 lost; /* records lost since the reset */
	__u64 lost_reported; /* of these, already reported by a LOST record */
	__u32 nest; /* writers active, one inside the other */
	__u32 mark_shift;
} __aligned(64); /* a cache line: nothing else moves with it */

/*
 * Position and time of the newest record change together: a record at a higher position is never
 * older.
 */
static __always_inline struct pitrace_pair *pitrace_ring_state(struct pitrace_ring *ring)
{
	return (struct pitrace_pair *)&ring->head->reserved;
}

static __always_inline void pitrace_ring_enter(struct pitrace_ring *ring)
{
	/* An interrupt between load and store restores nest. */
	pitrace_write(ring->nest, pitrace_read(ring->nest) + 1);
	/* Compiler only: nest is visible to our own interrupts before anything is reserved. */
	pitrace_barrier();
	pitrace_count(&ring->head->produced);
}

/*
 * Position modulo size, without a division. An interrupt between a writer's reservation and this may
 * have advanced lap, but never by more than one, as uncommitted data is never overwritten; or we
 * interrupt a writer that has not advanced it yet.
 */
static __always_inline __u8 *pitrace_ring_address(struct pitrace_ring *ring, __u64 position)
{
	__u64 lap = pitrace_read(ring->lap);

	if (position < lap) {
		lap -= ring->size;
	} else if (position - lap >= ring->size) {
		do
			lap += ring->size;
		while (position - lap >= ring->size);
		pitrace_write(ring->lap, lap);
	}
	return ring->data + (position - lap);
}

/* A record that crosses a block boundary of the ring marks where the next record begins. */
static inline void pitrace_ring_mark(struct pitrace_ring *ring, __u64 begin, __u64 end, __u64 time)
{
	__u64 block;

	for (block = (begin >> ring->mark_shift) + 1; block <= end >> ring->mark_shift; block++) {
		struct pitrace_mark *mark = &ring->head->marks[block % PITRACE_MARKS];

		pitrace_write(mark->position, end);
		pitrace_write(mark->time, time);
	}
}

/*
 * Returns space for size bytes and the time of the record, or NULL when it does not fit. The clock
 * is read inside the loop: an interrupt that reserves between the reading and the cmpxchg16b makes
 * that fail, and the clock is read again. If the high half of the time has changed since the previous
 * record, or there is none, the same reservation contains a TIME record; if records were lost since
 * the previous record, also a LOST record.
 *
 * The two loads of the state may be torn by an interrupt; then the cmpxchg16b fails. The check for
 * free space may use a torn state only when the ring is almost full, and then returns NULL at most
 * PITRACE_LEAD_MAX bytes early.
 *
 * With own_time the caller passes the time in *time; it is raised to that of the previous record if
 * it is earlier. Then writers must not nest.
 */
static __always_inline void *pitrace_ring_reserve_timed(struct pitrace_ring *ring, __u32 size,
							__u64 *time, bool own_time)
{
	struct pitrace_pair *state = pitrace_ring_state(ring);
	struct pitrace_pair seen, wanted;
	bool new_high, report_lost;
	__u64 lost, floor;
	__u32 whole;
	__u8 *space;

	seen.first = pitrace_read(state->first);
	seen.second = pitrace_read(state->second);
	do {
		wanted.second = own_time ? *time : pitrace_clock();
		if (wanted.second < seen.second)
			wanted.second = seen.second;
		*time = wanted.second;
		new_high = !seen.first || (wanted.second ^ seen.second) >> 32;
		lost = pitrace_read(ring->lost);
		report_lost = lost != pitrace_read(ring->lost_reported);
		whole = size;
		if (new_high)
			whole += PITRACE_TIME_SIZE;
		if (report_lost)
			whole += PITRACE_LOST_SIZE;
		/* The reader has read everything below floor before it advances it. */
		floor = pitrace_load_acquire(ring->floor);
		if (seen.first + whole - floor > ring->size)
			return NULL;
		wanted.first = seen.first + whole;
	} while (!pitrace_pair_replace(state, &seen, wanted));

	space = pitrace_ring_address(ring, seen.first);
	if ((seen.first ^ wanted.first) >> ring->mark_shift)
		pitrace_ring_mark(ring, seen.first, wanted.first, wanted.second);
	if (new_high) {
		pitrace_encode_time(space, wanted.second);
		space += PITRACE_TIME_SIZE;
	}
	if (report_lost) {
		pitrace_encode_lost(space, (__u32)wanted.second, lost);
		/* An interrupt may have reported more; then the difference is reported again. */
		pitrace_write(ring->lost_reported, lost);
		space += PITRACE_LOST_SIZE;
	}
	pitrace_count(&ring->head->written);
	return space;
}

static __always_inline void *pitrace_ring_reserve(struct pitrace_ring *ring, __u32 size,
						  __u64 *time)
{
	return pitrace_ring_reserve_timed(ring, size, time, false);
}

static __always_inline void pitrace_ring_lose(struct pitrace_ring *ring, __u32 reason)
{
	pitrace_count(&ring->head->lost[reason]);
	pitrace_count(&ring->lost);
}

/* True, only once, when the caller must wake the reader. */
static __always_inline bool pitrace_ring_leave(struct pitrace_ring *ring)
{
	struct pitrace_buffer_head *head = ring->head;
	__u64 position;

	/* The record is complete before nest changes for the writer that we interrupted. */
	pitrace_barrier();
	if (pitrace_read(ring->nest) > 1) {
		pitrace_write(ring->nest, pitrace_read(ring->nest) - 1);
		return false;
	}
	for (;;) {
		position = pitrace_read(head->reserved);
		pitrace_write(head->last_time, pitrace_read(head->reserved_time));
		/* Pairs with the reader's acquire: sees committed, then sees the records. */
		pitrace_store_release(&head->committed, position);
		pitrace_write(ring->nest, 0);
		pitrace_barrier();
		/*
		 * An interrupt that wrote before nest became 0 did not publish: repeat. One that
		 * wrote after that has published; to publish it again is harmless.
		 */
		if (pitrace_read(head->reserved) == position)
			break;
		pitrace_write(ring->nest, 1);
		pitrace_barrier();
	}
	if (position < pitrace_read(head->wake_at))
		return false;
	pitrace_write(head->wake_at, PITRACE_NO_WAKE);
	return true;
}

/*
 * Empties the ring. No writer and no reader may be active. section: wake the reader whenever so many
 * bytes are not consumed; 0: there is no reader. overwrite: keep the newest records, otherwise those
 * that are not consumed.
 */
static inline void pitrace_ring_reset(struct pitrace_ring *ring, __u64 section, bool overwrite)
{
	struct pitrace_buffer_head *head = ring->head;
	__u32 i;

	ring->floor = overwrite ? &head->committed : &head->consumed;
	ring->lap = 0;
	ring->lost = 0;
	ring->lost_reported = 0;
	ring->nest = 0;
	/* At most PITRACE_MARKS - 1 blocks: the oldest block is partly overwritten. */
	ring->mark_shift = 12;
	while (ring->size >> ring->mark_shift >= PITRACE_MARKS - 1)
		ring->mark_shift++;
	pitrace_write(head->mark_shift, ring->mark_shift);
	for (i = 0; i < PITRACE_MARKS; i++) {
		pitrace_write(head->marks[i].position, 0);
		pitrace_write(head->marks[i].time, 0);
	}
	pitrace_write(head->produced, 0);
	pitrace_write(head->written, 0);
	for (i = 0; i < PITRACE_LOST_REASONS; i++)
		pitrace_write(head->lost[i], 0);
	pitrace_write(head->last_time, 0);
	pitrace_write(head->reserved, 0);
	pitrace_write(head->reserved_time, 0);
	pitrace_write(head->consumed, 0);
	pitrace_write(head->wake_at, section ? section : PITRACE_NO_WAKE);
	pitrace_store_release(&head->committed, 0);
}

/*
 * The reader has read everything below position, which must be between consumed and committed:
 * otherwise returns false and changes nothing. Calls must not overlap.
 */
static inline bool pitrace_ring_consume(struct pitrace_buffer_head *head, __u64 position,
					__u64 section)
{
	if (position < pitrace_read(head->consumed) ||
	    position > pitrace_load_acquire(&head->committed))
		return false;
	pitrace_store_release(&head->consumed, position);
	/*
	 * A writer that commits at this moment may still use the old wake_at. The next writer uses
	 * the new one, and a reader checks committed before it sleeps.
	 */
	pitrace_write(head->wake_at, section ? position + section : PITRACE_NO_WAKE);
	return true;
}

#endif /* PITRACE_RING_H */
