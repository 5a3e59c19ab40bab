/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * The few primitives that ring.h uses: a version for the kernel, and one for user space.
 *
 * User space that includes ring.h defines pitrace_clock() itself.
 */
#ifndef PITRACE_RING_OPS_H
#define PITRACE_RING_OPS_H

#ifdef __KERNEL__

#include <linux/compiler.h>
#include <linux/ktime.h>
#include <asm/barrier.h>

/* The trace clock: CLOCK_MONOTONIC in nanoseconds, readable from NMIs. */
static __always_inline __u64 pitrace_clock(void)
{
	return ktime_get_mono_fast_ns();
}

#define pitrace_read(word)	   READ_ONCE(word)
#define pitrace_write(word, value) WRITE_ONCE(word, value)
/* Compiler barrier: sufficient between a CPU and its own interrupts. */
#define pitrace_barrier() barrier()
/* For readers on other CPUs, and in user space. */
#define pitrace_store_release(at, value) smp_store_release(at, value)
#define pitrace_load_acquire(at)	 smp_load_acquire(at)

#else

#include <linux/types.h>

__u64 pitrace_clock(void);

#define pitrace_read(word)		 (__atomic_load_n(&(word), __ATOMIC_RELAXED))
#define pitrace_write(word, value)	 (__atomic_store_n(&(word), value, __ATOMIC_RELAXED))
#define pitrace_barrier()		 (__atomic_signal_fence(__ATOMIC_SEQ_CST))
#define pitrace_store_release(at, value) (__atomic_store_n(at, value, __ATOMIC_RELEASE))
#define pitrace_load_acquire(at)	 (__atomic_load_n(at, __ATOMIC_ACQUIRE))

#endif /* __KERNEL__ */

#include "ring_ops_x86.h"

#endif /* PITRACE_RING_OPS_H */
