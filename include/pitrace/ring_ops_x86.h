/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/* The two instructions of x86-64 that the ring is built on. */
#ifndef PITRACE_RING_OPS_X86_H
#define PITRACE_RING_OPS_X86_H

#if !defined(__x86_64__)
#error "pitrace supports x86-64 only"
#endif

#include <linux/types.h>

#ifdef __KERNEL__
#include <linux/compiler.h>
#else
#include <stdbool.h>
#undef __always_inline
#define __always_inline inline __attribute__((__always_inline__))
#define __aligned(bytes) __attribute__((__aligned__(bytes)))
#endif

/* Two words that change together; cmpxchg16b faults on anything not aligned to 16. */
struct pitrace_pair {
	__u64 first;
	__u64 second;
} __aligned(16);

/*
 * Replaces *pair by wanted if it equals *seen; otherwise returns false, and *seen is its current value.
 * One instruction without LOCK: atomic against interrupts and NMIs of this CPU, the only other
 * writers of a CPU's own pair, and several times cheaper than with LOCK.
 */
static __always_inline bool pitrace_pair_replace(struct pitrace_pair *pair,
						 struct pitrace_pair *seen,
						 struct pitrace_pair wanted)
{
	bool done;

	asm volatile("cmpxchg16b %[pair]"
		     : [pair] "+m"(*pair), "+a"(seen->first), "+d"(seen->second), "=@ccz"(done)
		     : "b"(wanted.first), "c"(wanted.second)
		     : "memory");
	return done;
}

/* Adds one to a counter that only this CPU writes; exact against its interrupts and NMIs. */
static __always_inline void pitrace_count(__u64 *counter)
{
	asm volatile("incq %0" : "+m"(*counter));
}

#endif /* PITRACE_RING_OPS_X86_H */
