/* SPDX-License-Identifier: GPL-2.0-only */
/* Copies of user registers and stacks, from which the recorder finds the frames. */
#ifndef PITRACE_STACK_COPY_H
#define PITRACE_STACK_COPY_H

#include <linux/types.h>

#include <pitrace/abi.h>

struct cred;
struct file;
struct pt_regs;

/*
 * Copies the user stack of current to this CPU's buffer, and returns its id; that of the newest copy if it is the same; 0:
 * there is no copy, as none is requested, permitted, or possible. user: the user's registers. In any context with
 * preemption off; never sleeps, faults or allocates.
 */
u32 pitrace_copy_take(struct pt_regs *user);

/* Both under the session lock, while no source runs. -EINVAL, -ENOMEM or -EINTR. file: the owner's. */
int pitrace_copies_set(const struct file *file, const struct pitrace_copies *copies);
/* The buffers are freed with the others. */
void pitrace_copies_reset(void);

#endif /* PITRACE_STACK_COPY_H */
