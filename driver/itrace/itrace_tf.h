/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the trap flag (TF) of a traced thread is: one state, changed by itrace_tf_set() only, checked against a table. */
#ifndef PITRACE_ITRACE_TF_H
#define PITRACE_ITRACE_TF_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/types.h>

#include "itrace_state.h"

/* Bits of the states in which a trap can come, and the module must stay. */
#define ITRACE_TF_IN_USER   4
#define ITRACE_TF_IN_KERNEL 8

enum itrace_tf {
	ITRACE_TF_NONE, /* set nowhere: the kernel is not stepped here, or the thread has ended */
	ITRACE_TF_NEW, /* nowhere, and the thread is begun by its next hook */
	ITRACE_TF_PARKED, /* nowhere; it is set when the thread is dispatched */
	ITRACE_TF_USER = ITRACE_TF_IN_USER, /* in the user's registers */
	ITRACE_TF_SYSRET, /* the same, and SYSRET will trap before the first instruction */
	ITRACE_TF_ARRIVING = ITRACE_TF_IN_KERNEL, /* in the processor, which the thread gets */
	ITRACE_TF_MODULE, /* in the processor; the flow continues after the return from this module */
	ITRACE_TF_KERNEL, /* in the processor, or in a frame of the kernel's stack: it is stepped */
	ITRACE_TF_STATES,
};

/* Bits of the states that may follow each. */
extern const u16 itrace_tf_next[ITRACE_TF_STATES];

static __always_inline bool itrace_tf_in_user(u8 tf)
{
	return tf & ITRACE_TF_IN_USER;
}

static __always_inline bool itrace_tf_in_kernel(u8 tf)
{
	return tf & ITRACE_TF_IN_KERNEL;
}

/* A change that the table does not have is made nevertheless, and reported when ITrace is removed. */
static __always_inline void itrace_tf_set(u8 *tf, enum itrace_tf to)
{
	const u8 from = READ_ONCE(*tf);

	if (unlikely(!(itrace_tf_next[from] & BIT(to))))
		this_cpu_write(pitrace_it_cpus.bad_change, from << 8 | to);
	WRITE_ONCE(*tf, to);
}

/* No TF is left in the processor or in the kernel's frames. */
static __always_inline void itrace_tf_leave_kernel(u8 *tf)
{
	if (itrace_tf_in_kernel(*tf))
		itrace_tf_set(tf, ITRACE_TF_NONE);
}

#endif /* PITRACE_ITRACE_TF_H */
