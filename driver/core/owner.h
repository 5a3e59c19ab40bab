/* SPDX-License-Identifier: GPL-2.0-only */
/* The permission to trace, the process that owns the trace, and whose stacks it may read. */
#ifndef PITRACE_CORE_OWNER_H
#define PITRACE_CORE_OWNER_H

#include <linux/types.h>

/* May the caller trace the whole system? */
bool pitrace_may_trace(void);

struct file;

/*
 * The caller owns the trace, with that handle; NULL: nobody does, which also resets the reading process. Under the session lock,
 * while no source runs.
 */
void pitrace_owner_set(const struct file *file);
/* May the one who opened the owner's handle read the current process, as a debugger or with CAP_PERFMON? In any context. */
bool pitrace_opener_may_read_current(void);
/* Sets the process that reads the buffers now. Any process context. */
void pitrace_owner_reads(pid_t pid);
pid_t pitrace_owner(void);
/* Is it the owner or the reading process? Any context. */
bool pitrace_owner_is(pid_t pid);

#endif /* PITRACE_CORE_OWNER_H */
