/* SPDX-License-Identifier: GPL-2.0-only */
/* Sources, which write records; one file each. */
#ifndef PITRACE_SOURCES_SOURCES_H
#define PITRACE_SOURCES_SOURCES_H

#include <linux/fs.h>
#include <linux/mm_types.h>
#include <linux/sched.h>
#include <linux/types.h>

#include <pitrace/abi.h>

int pitrace_tprof_init(void);
void pitrace_tprof_exit(void);
int pitrace_user_hook_init(void);
void pitrace_user_hook_exit(void);
int pitrace_maps_init(void);
void pitrace_maps_exit(void);

/* ---- user_hook.c: records that programs write themselves ---- */

/*
 * Publishes to programs whether there is a trace, its interval while it is on, and which majors it
 * stores; enabled: one bit each, NULL: none. Under the session lock.
 */
void pitrace_user_hook_publish(bool owned, u32 interval_id, const unsigned long *enabled);
/* PITRACE_IOC_HOOK, with the errors documented there. May sleep. Any process. */
int pitrace_user_hook(const void __user *user);
int pitrace_user_hook_mmap(struct vm_area_struct *vma);

/* ---- hooks of the sources ---- */

struct pitrace_hook_set;

extern const struct pitrace_hook_set pitrace_mte_hooks; /* hook_mte.c */
extern const struct pitrace_hook_set pitrace_dispatch_hooks; /* hook_dispatch.c */
extern const struct pitrace_hook_set pitrace_switch_hooks; /* hook_switch.c */
extern const struct pitrace_hook_set pitrace_interrupt_hooks; /* hook_interrupt.c */
extern const struct pitrace_hook_set pitrace_syscall_hooks; /* hook_syscall.c */
extern const struct pitrace_hook_set pitrace_exception_hooks; /* exception_x86.c */

/* ---- hook_interrupt.c ---- */

/* Always 0. */
int pitrace_interrupt_start(void);
/* A trace begins: counts start at 0. The source does not run. */
void pitrace_interrupt_reset(void);

/* ---- tprof.c: ticks ---- */

/* Ticks of the timer, or of the event that is set; for an event 0 or the errors of pitrace_tprof_event_set(). */
int pitrace_tprof_start(u32 rate);
void pitrace_tprof_stop(void);

/* ---- tprof_event.c: ticks of the kernel's perf counters instead of a timer ---- */

/*
 * All under the session lock, while there are no ticks. The errors are -EINVAL, -ENOSPC when all
 * counters are in use, or the kernel's error for an event that it cannot count.
 */
int pitrace_tprof_event_set(const struct pitrace_event *event);
void pitrace_tprof_event_reset(void);
/* Events per tick; 0: time. */
u64 pitrace_tprof_event_period(void);
/* Called by tprof.c; may sleep. stop: harmless when nothing runs; on return there are no more ticks. */
int pitrace_tprof_event_start(void);
void pitrace_tprof_event_stop(void);
/* From hotplug callbacks, after the CPU came online or before it goes offline. */
void pitrace_tprof_event_cpu_changed(unsigned int cpu);
/* After the hotplug callbacks have been removed. */
void pitrace_tprof_event_exit(void);

/* ---- above_idle.c: the time of each CPU, idle, busy and in interrupts ---- */

int pitrace_ai_init(void);
void pitrace_ai_exit(void);
/* The errors are documented at struct pitrace_ai. */
int pitrace_ai_on(struct file *file);
int pitrace_ai_off(struct file *file);
int pitrace_ai_read(struct file *file, struct pitrace_ai *ai);
/* The last reference to an open file went away. */
void pitrace_ai_release(struct file *file);

/* ---- hook_mte.c: starts and ends of processes and threads, and their names ---- */

void pitrace_mte_start(void);
void pitrace_mte_stop(void);
/* Writes the ids of a task in its own pid namespace, if that is not the initial one. A recording path. */
void pitrace_mte_namespace_ids(struct task_struct *task);

/* ---- maps.c: executable mappings ---- */

/* anon: record anonymous ones too. */
void pitrace_maps_start(bool anon);
void pitrace_maps_stop(void);
/* A recording path: current has mapped something executable at address. */
void pitrace_maps_mapped(unsigned long address);
/* A recording path: [start, end) is about to be unmapped. The mmap_lock is held for writing. */
void pitrace_maps_unmapping(struct mm_struct *mm, unsigned long start, unsigned long end);
/* Writes the executable mappings of an address space, whose mmap_lock is held. May sleep; -ENOMEM. */
int pitrace_maps_describe(u32 pid, struct mm_struct *mm);
/* Waits, at most a second, for the records that pitrace_maps_mapped() has noted. */
void pitrace_maps_drain(void);

/* ---- snapshot.c: existing tasks, and the start-up group ---- */

enum pitrace_snapshot {
	PITRACE_SNAPSHOT_START, /* threads are new to the reader */
	PITRACE_SNAPSHOT_END,
};

void pitrace_snapshot_system(u32 rate, u32 interval_id);
void pitrace_snapshot_kernel(void);
/* All processes and threads. 0, -ENOMEM or -EINTR. */
int pitrace_snapshot_tasks(enum pitrace_snapshot when);

#endif /* PITRACE_SOURCES_SOURCES_H */
