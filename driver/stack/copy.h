/* SPDX-License-Identifier: GPL-2.0-only */
/* Copies of user registers and stacks, from which the recorder finds the frames. */
#ifndef PITRACE_STACK_COPY_H
#define PITRACE_STACK_COPY_H

#include <linux/types.h>

#include <pitrace/abi.h>

struct pt_regs;

/*
 * Copies the user stack of current to this CPU's buffer, and returns its id; that of the newest copy if it is the same; 0:
 * there is no copy, as none is requested, permitted, or possible. user: the user's registers; may_read: the opener may read
 * current. In any context with preemption off; never sleeps, faults or allocates.
 */
u32 pitrace_copy_take(struct pt_regs *user, bool may_read);

/* Under the session lock, while no source runs. -EINVAL, -ENOMEM or -EINTR. The buffers are freed with the others. */
int pitrace_copies_set(const struct pitrace_copies *copies);

#endif /* PITRACE_STACK_COPY_H */
