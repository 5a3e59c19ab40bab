/* SPDX-License-Identifier: GPL-2.0-only */
/* Who may trace, and which process owns the trace. Knows no user of either. */
#ifndef PITRACE_CORE_OWNER_H
#define PITRACE_CORE_OWNER_H

#include <linux/types.h>

/* May the caller trace the whole system? */
bool pitrace_may_trace(void);

/*
 * The process that owns the trace; 0: none, then no process reads its buffers either. Under the
 * session lock.
 */
void pitrace_owner_set(pid_t pid);
/* The process that reads the buffers now. Any process context. */
void pitrace_owner_reads(pid_t pid);
pid_t pitrace_owner(void);
/* Is it one of these two? Any context. */
bool pitrace_owner_is(pid_t pid);

#endif /* PITRACE_CORE_OWNER_H */
