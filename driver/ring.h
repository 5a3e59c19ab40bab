/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reserve and commit in one CPU's linear buffer. Pure: host tests compile this file as it is.
 *
 * Writers of a ring run on its CPU with preemption off. Interrupts and NMIs may write in the middle
 * of a writer, so writers nest, strictly last in, first out: when the outermost one leaves, all
 * places that were reserved meanwhile are filled. Only it publishes.
 *
 * A writer calls, in this order:
 *	pitrace_ring_enter()
 *	pitrace_ring_reserve() or pitrace_ring_lose()
 *	(fills the place)
 *	pitrace_ring_leave()
 */
#ifndef PITRACE_RING_H
#define PITRACE_RING_H

#include <pitrace/encode.h>

#include "plat.h"

#define PITRACE_TIME_SIZE ((__u32)sizeof(struct pitrace_record) + 4)

/*
 * The writer's own state, in memory that user space does not see. Position (bytes reserved) and
 * time of the last record move together: a record that lies behind another is never older.
 */
struct pitrace_ring {
	struct pitrace_pair state; /* first: position, second: time of the newest record */
	__u8 *data; /* the mapped records */
	__u64 size; /* bytes of data */
	struct pitrace_buffer_head *head; /* mapped; NULL: this CPU has no buffer */
	__u32 nest; /* writers active, one inside the other */
} __aligned(64); /* a cache line: nothing else moves with it */

static __always_inline void pitrace_ring_enter(struct pitrace_ring *ring)
{
	/* An interrupt between load and store leaves nest as it found it. */
	pitrace_write(ring->nest, pitrace_read(ring->nest) + 1);
	/* Compiler only: nest is visible to our own interrupts before anything is reserved. */
	pitrace_barrier();
	pitrace_count(&ring->head->produced);
}

/*
 * A place for size bytes and the time of its record, or NULL when it does not fit. The clock is
 * read inside the loop: an interrupt that reserves between our reading and our cmpxchg16b makes
 * that fail, and we read again. When the high half of the time has changed since the record
 * before, or none is before, the same reservation holds the record that says so.
 *
 * The two loads of the state may be torn by an interrupt; then the cmpxchg16b fails. The check for
 * room may act on a torn state only at the very end of the buffer, where it says "full" at most
 * PITRACE_TIME_SIZE bytes early.
 */
static __always_inline void *pitrace_ring_reserve(struct pitrace_ring *ring, __u32 size,
						  __u64 *time)
{
	struct pitrace_pair seen, wanted;
	__u32 lead;
	__u8 *place;

	seen.first = pitrace_read(ring->state.first);
	seen.second = pitrace_read(ring->state.second);
	do {
		wanted.second = pitrace_clock();
		if (wanted.second < seen.second)
			wanted.second = seen.second;
		lead = 0;
		if (!seen.first || (wanted.second ^ seen.second) >> 32)
			lead = PITRACE_TIME_SIZE;
		*time = wanted.second;
		if (size + lead > ring->size - seen.first)
			return NULL;
		wanted.first = seen.first + size + lead;
	} while (!pitrace_pair_replace(&ring->state, &seen, wanted));

	place = ring->data + seen.first;
	if (lead)
		pitrace_encode_time(place, wanted.second);
	pitrace_count(&ring->head->written);
	return place + lead;
}

static __always_inline void pitrace_ring_lose(struct pitrace_ring *ring, __u32 reason)
{
	pitrace_count(&ring->head->lost[reason]);
}

static __always_inline void pitrace_ring_leave(struct pitrace_ring *ring)
{
	__u64 position;

	/* The place is filled before nest says so to whoever we are nested in. */
	pitrace_barrier();
	if (pitrace_read(ring->nest) > 1) {
		pitrace_write(ring->nest, pitrace_read(ring->nest) - 1);
		return;
	}
	for (;;) {
		position = pitrace_read(ring->state.first);
		pitrace_write(ring->head->last_time, pitrace_read(ring->state.second));
		/* Pairs with the reader's acquire: sees committed, then sees the records. */
		pitrace_store_release(&ring->head->committed, position);
		pitrace_write(ring->nest, 0);
		pitrace_barrier();
		/*
		 * An interrupt that wrote before nest became 0 left publishing to us: go again. One
		 * that wrote after it published by itself; publishing that once more harms nothing.
		 */
		if (pitrace_read(ring->state.first) == position)
			return;
		pitrace_write(ring->nest, 1);
		pitrace_barrier();
	}
}

/* Empties the ring. No writer may be active. */
static inline void pitrace_ring_reset(struct pitrace_ring *ring)
{
	__u32 reason;

	ring->state.first = 0;
	ring->state.second = 0;
	ring->nest = 0;
	pitrace_write(ring->head->produced, 0);
	pitrace_write(ring->head->written, 0);
	for (reason = 0; reason < PITRACE_LOST_REASONS; reason++)
		pitrace_write(ring->head->lost[reason], 0);
	pitrace_write(ring->head->last_time, 0);
	pitrace_store_release(&ring->head->committed, 0);
}

#endif /* PITRACE_RING_H */
