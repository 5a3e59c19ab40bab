// SPDX-License-Identifier: GPL-2.0-only
/* Copies of user registers and stacks, and when one is the same as before. */

#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "core/buffers.h"
#include "core/record.h"
#include "copy.h"
#include "stack.h"

/* A copy before it is in the buffer, and as long as it is the newest there. */
struct copy {
	u64 registers[PITRACE_STACK_REGISTERS];
	u64 time;
	u32 pid;
	u32 tid;
	u32 id;
	u32 reserved;
	struct pitrace_copied copied;
	u8 stack[] __aligned(8);
};

/* The memory behind this CPU's buffer, followed by two copies. All of it is 0 after ON. */
struct copying {
	u32 taken; /* a context that this one interrupts uses it */
	u32 newest; /* 0 or 1 */
	u32 ids;
	u32 reserved;
};

/* The id of an older copy is not used again: in wrap-around mode its frames may be overwritten. */
#define COPY_LASTS_NS NSEC_PER_SEC

static u32 copy_bytes; /* changed while no source runs */

static u32 copy_size(u32 bytes)
{
	return ALIGN(sizeof(struct copy) + bytes, 8);
}

static struct copy *copy_at(struct copying *copying, u32 which)
{
	return (void *)(copying + 1) + which * copy_size(copy_bytes);
}

static bool copy_is_same(const struct copy *one, const struct copy *other)
{
	return one->id && one->tid == other->tid && one->pid == other->pid &&
	       other->time - one->time < COPY_LASTS_NS &&
	       !memcmp(&one->copied, &other->copied, sizeof(one->copied)) &&
	       !memcmp(one->registers, other->registers, sizeof(one->registers)) &&
	       !memcmp(one->stack, other->stack,
		       one->copied.bytes + one->copied.interrupted_bytes);
}

/* False: there is no space, which is counted. */
static bool copy_store(struct copy *copy)
{
	void *place;
	u64 time;

	place = pitrace_begin(PITRACE_BUFFER_STACKS, pitrace_size_copy(&copy->copied), &time);
	if (!place)
		return false;
	pitrace_encode_copy(place, (u32)time, copy->id, copy->pid, copy->tid, copy->registers,
			    copy->stack, &copy->copied);
	pitrace_end(PITRACE_BUFFER_STACKS);
	return true;
}

/*
 * A thread has the same registers and stack as long as it is in the kernel, so that all ticks in a long system call have one
 * copy. They are compared, since the module does not see the return to user mode, and other threads can write there.
 */
static u32 copy_make(struct copying *copying, struct pt_regs *user)
{
	const struct copy *newest = copy_at(copying, copying->newest);
	struct copy *copy = copy_at(copying, !copying->newest);

	pitrace_arch_user_registers(user, copy->registers);
	copy->time = pitrace_clock();
	copy->pid = current->tgid;
	copy->tid = current->pid;
	pitrace_arch_copy_stack(user, copy->stack, copy_bytes, &copy->copied);
	if (copy_is_same(newest, copy))
		return newest->id;
	copy->id = copying->ids + 1 ? copying->ids + 1 : 1;
	if (!copy_store(copy))
		return 0;
	copying->ids = copy->id;
	copying->newest = !copying->newest;
	return copy->id;
}

u32 pitrace_copy_take(struct pt_regs *user, bool may_read)
{
	struct pitrace_ring *ring = this_cpu_ptr(&pitrace_rings[PITRACE_BUFFER_STACKS]);
	struct copying *copying;
	u32 id;

	/* Pairs with pitrace_gate_open(). */
	if (smp_load_acquire(&pitrace_gates[PITRACE_BUFFER_STACKS]) != PITRACE_GATE_OPEN ||
	    !ring->head || !pitrace_arch_has_copy(user))
		return 0;
	if (!may_read) {
		pitrace_refuse(PITRACE_BUFFER_STACKS, PITRACE_LOST_SOURCE);
		return 0;
	}
	copying = pitrace_ring_spare(ring);
	if (READ_ONCE(copying->taken)) {
		pitrace_refuse(PITRACE_BUFFER_STACKS, PITRACE_LOST_STOPPED);
		return 0;
	}
	WRITE_ONCE(copying->taken, 1);
	barrier();
	id = copy_make(copying, user);
	barrier();
	WRITE_ONCE(copying->taken, 0);
	return id;
}

int pitrace_copies_set(const struct pitrace_copies *copies)
{
	const u64 limit = (1ull << 32) - PITRACE_HEAD_BYTES;
	const u64 bytes = PAGE_ALIGN(copies->buffer_bytes);
	const struct pitrace_copied copied = { .bytes = copies->bytes };

	if (copies->reserved)
		return -EINVAL;
	if (!copies->bytes)
		return pitrace_buffers_alloc_stacks(0, 0);
	if (copies->bytes % 8 || copies->bytes < PITRACE_COPY_BYTES_MIN ||
	    copies->bytes > PITRACE_COPY_BYTES_MAX || copies->buffer_bytes >= limit ||
	    bytes >= limit || bytes < 4ull * pitrace_size_copy(&copied))
		return -EINVAL;
	copy_bytes = copies->bytes;
	return pitrace_buffers_alloc_stacks(
		bytes, PAGE_ALIGN(sizeof(struct copying) + 2 * copy_size(copies->bytes)));
}
