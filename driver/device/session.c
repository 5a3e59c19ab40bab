// SPDX-License-Identifier: GPL-2.0-only
/* The session: the trace's owner, state, and majors. */

#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "core/buffers.h"
#include "core/owner.h"
#include "core/record.h"
#include "device.h"
#include "itrace/itrace_calls.h"
#include "sources/sources.h"
#include "stack/copy.h"
#include "stack/stack.h"

static DEFINE_MUTEX(lock);

/* All under the lock, except that owner is also read without it. */
static struct {
	struct file *owner;
	u32 state;
	u32 mode;
	u32 flags;
	u32 rate;
	u32 interval_id;
	u64 bytes[PITRACE_BUFFERS];
	u64 section_bytes;
	u64 start_time;
	u64 stop_time;
	DECLARE_BITMAP(enabled, PITRACE_MAJORS);
	bool suspended; /* while on: only MTE records are written, so that later samples can be named */
} session;

/* Updates the page that programs with user hooks read. */
static void session_publish(void)
{
	const bool on = session.state == PITRACE_TRACE_ON;

	pitrace_user_hook_publish(session.owner, on ? session.interval_id : 0,
				  on && !session.suspended ? session.enabled : NULL);
}

/* Starts and stops sources according to state, majors and suspension. Only a start can fail. */
static int session_apply(void)
{
	DECLARE_BITMAP(wanted, PITRACE_MAJORS);

	bitmap_zero(wanted, PITRACE_MAJORS);
	if (session.state == PITRACE_TRACE_ON && !session.suspended)
		bitmap_copy(wanted, session.enabled, PITRACE_MAJORS);
	else if (session.state == PITRACE_TRACE_ON && test_bit(PITRACE_MAJOR_MTE, session.enabled))
		set_bit(PITRACE_MAJOR_MTE, wanted);
	return pitrace_sources_apply(wanted, session.flags, session.rate);
}

/* ---- state: FREE -alloc-> INIT -on-> ON -off-> INIT -terminate-> FREE ---- */

static void session_finish(void)
{
	session.state = PITRACE_TRACE_INIT;
	session.suspended = false;
	session_publish();
	session.stop_time = pitrace_clock();
	pitrace_gate_close(PITRACE_BUFFER_TRACE);
	pitrace_gate_close(PITRACE_BUFFER_MTE);
}

static int session_turn_on(void)
{
	int error;

	pitrace_buffers_reset(PITRACE_BUFFER_TRACE);
	pitrace_buffers_reset(PITRACE_BUFFER_MTE);
	pitrace_interrupt_reset();
	session.interval_id++;
	session.start_time = pitrace_clock();
	session.stop_time = 0;
	session.state = PITRACE_TRACE_ON;
	pitrace_gate_stops_when_full(session.mode == PITRACE_MODE_NORMAL);
	pitrace_gate_open(PITRACE_BUFFER_TRACE);
	pitrace_gate_open(PITRACE_BUFFER_MTE);
	pitrace_snapshot_system(session.rate, session.interval_id);
	error = session_apply();
	if (error) {
		pitrace_sources_stop();
		session_finish();
	} else {
		session_publish();
		pitrace_itrace_trace_begins();
	}
	return error;
}

/* ITrace first: if the caller is followed, it would be stepped through the long code that stops sources. */
static void session_turn_off(void)
{
	pitrace_itrace_trace_ends();
	session.state = PITRACE_TRACE_INIT;
	session_apply();
	session_finish();
}

/* Records that are being written are completed; the buffers keep their records. */
static void session_suspend(void)
{
	session.suspended = true;
	session_publish();
	session_apply();
	pitrace_gate_close(PITRACE_BUFFER_TRACE);
}

/*
 * If recording has ended because a buffer became full, it does not restart, but records are counted as
 * lost, as before the suspension. If sources cannot start (an event's counters are now in use), one
 * lost record is counted.
 */
static void session_resume(void)
{
	session.suspended = false;
	pitrace_gate_open(PITRACE_BUFFER_TRACE);
	if (session_apply())
		pitrace_write_lost(PITRACE_BUFFER_TRACE, PITRACE_LOST_SOURCE);
	session_publish();
}

/*
 * Discards the trace records, but not the MTE records, which later records may need. Recording that has
 * ended because a buffer became full has lost MTE records as well, so it cannot continue.
 */
static int session_discard(void)
{
	const bool suspended = session.suspended;

	if (pitrace_gate_was_full())
		return -ENOSPC;
	if (!suspended)
		session_suspend();
	pitrace_buffers_reset(PITRACE_BUFFER_TRACE);
	pitrace_itrace_trace_forgets();
	if (!suspended)
		session_resume();
	return 0;
}

/* As session_turn_off(), and releases everything. Also called when the owner's file is released. */
static void session_terminate(void)
{
	pitrace_itrace_trace_ends();
	pitrace_itrace_remove();
	if (session.state == PITRACE_TRACE_ON) {
		pitrace_sources_stop();
		session_finish();
	}
	pitrace_stacks_reset();
	pitrace_tprof_event_reset();
	pitrace_buffers_free();
	pitrace_maps_drain();
	session.state = PITRACE_TRACE_FREE;
	pitrace_owner_set(NULL);
	WRITE_ONCE(session.owner, NULL);
	session_publish();
}

bool pitrace_session_owned_by(struct file *file)
{
	return READ_ONCE(session.owner) == file;
}

void pitrace_session_release(struct file *file)
{
	mutex_lock(&lock);
	if (session.owner == file)
		session_terminate();
	mutex_unlock(&lock);
}

/* ---- ioctls ---- */

/* Takes the lock if the file is the owner's. */
static int session_lock_as_owner(struct file *file)
{
	if (mutex_lock_killable(&lock))
		return -EINTR;
	if (session.owner == file)
		return 0;
	mutex_unlock(&lock);
	return -EPERM;
}

/* A buffer must fit the file format's 32-bit sizes, and mmap offsets of CPUs must not overlap. */
static bool session_round_to_pages(u64 bytes, u64 *rounded)
{
	const u64 limit = (1ull << 32) - PITRACE_HEAD_BYTES;

	if (!bytes || bytes >= limit)
		return false;
	*rounded = PAGE_ALIGN(bytes);
	return *rounded < limit;
}

/* For streaming buffers: the reader is woken at the latest when a buffer is half full. */
static bool session_good_section(const struct pitrace_alloc *alloc,
				 const u64 bytes[PITRACE_BUFFERS])
{
	if (alloc->mode == PITRACE_MODE_NORMAL)
		return !alloc->section_bytes;
	return alloc->section_bytes && alloc->section_bytes <= bytes[PITRACE_BUFFER_TRACE] / 2 &&
	       alloc->section_bytes <= bytes[PITRACE_BUFFER_MTE] / 2;
}

static int session_alloc_locked(struct file *file, const struct pitrace_alloc *alloc,
				const u64 *bytes)
{
	int error;

	if (session.owner)
		return -EBUSY;
	error = pitrace_buffers_alloc(bytes, alloc->mode, alloc->section_bytes);
	if (error)
		return error;
	memcpy(session.bytes, bytes, sizeof(session.bytes));
	session.mode = alloc->mode;
	session.section_bytes = alloc->section_bytes;
	session.suspended = false;
	session.flags = alloc->flags;
	session.rate = PITRACE_RATE_DEFAULT;
	bitmap_zero(session.enabled, PITRACE_MAJORS);
	session.start_time = 0;
	session.stop_time = 0;
	session.state = PITRACE_TRACE_INIT;
	pitrace_owner_set(file);
	WRITE_ONCE(session.owner, file);
	session_publish();
	return 0;
}

int pitrace_session_alloc(struct file *file, const struct pitrace_alloc *alloc)
{
	u64 bytes[PITRACE_BUFFERS];
	int error;

	if (alloc->mode > PITRACE_MODE_CONTINUOUS || (alloc->flags & ~PITRACE_ALLOC_ANON))
		return -EINVAL;
	if (!session_round_to_pages(alloc->trace_bytes, &bytes[PITRACE_BUFFER_TRACE]) ||
	    !session_round_to_pages(alloc->mte_bytes, &bytes[PITRACE_BUFFER_MTE]) ||
	    !session_good_section(alloc, bytes))
		return -EINVAL;
	if (mutex_lock_killable(&lock))
		return -EINTR;
	error = session_alloc_locked(file, alloc, bytes);
	mutex_unlock(&lock);
	return error;
}

int pitrace_session_on(struct file *file)
{
	int error = session_lock_as_owner(file);

	if (error)
		return error;
	error = session.state == PITRACE_TRACE_ON ? -EALREADY : session_turn_on();
	mutex_unlock(&lock);
	return error;
}

int pitrace_session_off(struct file *file)
{
	int error = session_lock_as_owner(file);

	if (error)
		return error;
	if (session.state == PITRACE_TRACE_ON)
		session_turn_off();
	else
		error = -EALREADY;
	mutex_unlock(&lock);
	return error;
}

int pitrace_session_terminate(struct file *file)
{
	int error = session_lock_as_owner(file);

	if (error)
		return error;
	session_terminate();
	mutex_unlock(&lock);
	return 0;
}

static int session_set_majors(u32 major, bool on)
{
	switch (major) {
	case PITRACE_MAJOR_ALL:
		bitmap_zero(session.enabled, PITRACE_MAJORS);
		if (on)
			bitmap_set(session.enabled, 1, PITRACE_MAJOR_MAX);
		return 0;
	case PITRACE_MAJOR_TPROF_SET:
		assign_bit(PITRACE_MAJOR_TPROF, session.enabled, on);
		assign_bit(PITRACE_MAJOR_MTE, session.enabled, on);
		return 0;
	default:
		if (major > PITRACE_MAJOR_MAX)
			return -EINVAL;
		assign_bit(major, session.enabled, on);
		return 0;
	}
}

static int session_change_majors(struct file *file, u32 major, bool on)
{
	DECLARE_BITMAP(before, PITRACE_MAJORS);
	int error = session_lock_as_owner(file);

	if (error)
		return error;
	bitmap_copy(before, session.enabled, PITRACE_MAJORS);
	error = session_set_majors(major, on);
	if (!error)
		error = session_apply();
	/* If a source cannot start, its major is not enabled, and sources started with it are stopped. */
	if (error) {
		bitmap_copy(session.enabled, before, PITRACE_MAJORS);
		session_apply();
	}
	session_publish();
	mutex_unlock(&lock);
	return error;
}

int pitrace_session_enable(struct file *file, u32 major)
{
	return session_change_majors(file, major, true);
}

int pitrace_session_disable(struct file *file, u32 major)
{
	return session_change_majors(file, major, false);
}

int pitrace_session_rate(struct file *file, u32 rate)
{
	int error;

	if (rate < PITRACE_RATE_MIN || rate > PITRACE_RATE_MAX)
		return -EINVAL;
	error = session_lock_as_owner(file);
	if (error)
		return error;
	if (session.state == PITRACE_TRACE_ON)
		error = -EBUSY;
	else
		session.rate = rate;
	mutex_unlock(&lock);
	return error;
}

/* Takes the lock if the file is the owner's and the trace is not on. */
static int session_lock_to_set(struct file *file)
{
	int error = session_lock_as_owner(file);

	if (error || session.state != PITRACE_TRACE_ON)
		return error;
	mutex_unlock(&lock);
	return -EBUSY;
}

int pitrace_session_stacks(struct file *file, const struct pitrace_stacks *stacks)
{
	int error = session_lock_to_set(file);

	if (error)
		return error;
	error = pitrace_stacks_set(stacks);
	mutex_unlock(&lock);
	return error;
}

int pitrace_session_copies(struct file *file, const struct pitrace_copies *copies)
{
	int error = session_lock_to_set(file);

	if (error)
		return error;
	error = pitrace_copies_set(copies);
	mutex_unlock(&lock);
	return error;
}

int pitrace_session_event(struct file *file, const struct pitrace_event *event)
{
	int error = session_lock_to_set(file);

	if (error)
		return error;
	error = pitrace_tprof_event_set(event);
	mutex_unlock(&lock);
	return error;
}

int pitrace_session_itrace_install(struct file *file, const struct pitrace_itrace *wanted)
{
	int error = session_lock_as_owner(file);

	if (error)
		return error;
	if ((wanted->flags & PITRACE_ITRACE_CONTINUOUS) && session.mode != PITRACE_MODE_CONTINUOUS)
		error = -EINVAL;
	else
		error = pitrace_itrace_install(wanted);
	mutex_unlock(&lock);
	return error;
}

/* For a trace that is on. */
static int session_change_recording(struct file *file, bool suspended, void (*change)(void))
{
	int error = session_lock_as_owner(file);

	if (error)
		return error;
	if (session.state != PITRACE_TRACE_ON)
		error = -EINVAL;
	else if (session.suspended == suspended)
		error = -EALREADY;
	else
		change();
	mutex_unlock(&lock);
	return error;
}

int pitrace_session_suspend(struct file *file)
{
	return session_change_recording(file, true, session_suspend);
}

int pitrace_session_resume(struct file *file)
{
	return session_change_recording(file, false, session_resume);
}

int pitrace_session_discard(struct file *file)
{
	int error = session_lock_as_owner(file);

	if (error)
		return error;
	error = session.state == PITRACE_TRACE_ON ? session_discard() : -EINVAL;
	mutex_unlock(&lock);
	return error;
}

int pitrace_session_info(struct pitrace_info *info)
{
	u32 major;

	if (mutex_lock_killable(&lock))
		return -EINTR;
	info->abi_major = PITRACE_ABI_MAJOR;
	info->abi_minor = PITRACE_ABI_MINOR;
	info->state = session.state;
	info->mode = session.mode;
	info->owner_pid = pitrace_owner();
	/* Only for an ON of this owner, not of an earlier one. */
	info->full = session.start_time && pitrace_gate_was_full();
	info->rate = session.rate;
	info->interval_id = session.interval_id;
	info->trace_bytes = session.bytes[PITRACE_BUFFER_TRACE];
	info->mte_bytes = session.bytes[PITRACE_BUFFER_MTE];
	info->start_time = session.start_time;
	info->stop_time = session.stop_time;
	info->cpus_possible = nr_cpu_ids;
	info->cpus_failed = pitrace_buffers_cpus_failed();
	info->section_bytes = session.section_bytes;
	info->largest = pitrace_buffers_largest();
	info->suspended = session.suspended;
	for_each_set_bit(major, session.enabled, PITRACE_MAJORS)
		info->enabled[major >> 3] |= 1 << (major & 7);
	mutex_unlock(&lock);
	return 0;
}

int pitrace_session_probe(struct pitrace_probe *probe)
{
	int error;

	if (mutex_lock_killable(&lock))
		return -EINTR;
	error = pitrace_sources_probe(probe);
	mutex_unlock(&lock);
	return error;
}
