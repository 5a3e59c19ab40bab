/* SPDX-License-Identifier: GPL-2.0-only */
/* The permission to trace, and the process that owns the trace. */
#ifndef PITRACE_CORE_OWNER_H
#define PITRACE_CORE_OWNER_H

#include <linux/types.h>

/* May the caller trace the whole system? */
bool pitrace_may_trace(void);

/*
 * Sets the process that owns the trace; 0: none, which also resets the reading process. Under the
 * session lock.
 */
void pitrace_owner_set(pid_t pid);
/* Sets the process that reads the buffers now. Any process context. */
void pitrace_owner_reads(pid_t pid);
pid_t pitrace_owner(void);
/* Is it the owner or the reading process? Any context. */
bool pitrace_owner_is(pid_t pid);

#endif /* PITRACE_CORE_OWNER_H */
