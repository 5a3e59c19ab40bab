/* SPDX-License-Identifier: GPL-2.0-only */
/* What writes records, a file each. */
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
 * Tells programs whether there is a trace, its interval while it is on, and which majors it stores;
 * enabled: one bit each, NULL: none. Under the session lock.
 */
void pitrace_user_hook_publish(bool owned, u32 interval_id, const unsigned long *enabled);
/* PITRACE_IOC_HOOK; its errors are told there. May sleep. Anybody. */
int pitrace_user_hook(const void __user *user);
int pitrace_user_hook_mmap(struct vm_area_struct *vma);

/* ---- the hooks of sources that consist of nothing else ---- */

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
/* A trace begins: counts from nothing. The source does not run. */
void pitrace_interrupt_reset(void);

/* ---- tprof.c: ticks ---- */

/* Of the timer or of the event that is set; with an event 0 or pitrace_tprof_event_set()'s errors. */
int pitrace_tprof_start(u32 rate);
void pitrace_tprof_stop(void);

/* ---- tprof_event.c: ticks of the kernel's perf counters instead of a timer ---- */

/*
 * All under the session lock, while no ticks come. The errors are -EINVAL, -ENOSPC when all counters
 * are taken, or what the kernel says of an event that it does not count here.
 */
int pitrace_tprof_event_set(const struct pitrace_event *event);
void pitrace_tprof_event_reset(void);
/* Events a tick; 0: time. */
u64 pitrace_tprof_event_period(void);
/* tprof.c's, and may sleep. stop: harmless when nothing runs; on return no tick comes any more. */
int pitrace_tprof_event_start(void);
void pitrace_tprof_event_stop(void);
/* From hot-plug callbacks, after it came or before it goes. */
void pitrace_tprof_event_cpu_changed(unsigned int cpu);
/* No callback comes any more. */
void pitrace_tprof_event_exit(void);

/* ---- above_idle.c: where the time of each CPU goes ---- */

int pitrace_ai_init(void);
void pitrace_ai_exit(void);
/* The errors are told at struct pitrace_ai. */
int pitrace_ai_on(struct file *file);
int pitrace_ai_off(struct file *file);
int pitrace_ai_read(struct file *file, struct pitrace_ai *ai);
/* The last reference to an open file went away. */
void pitrace_ai_release(struct file *file);

/* ---- hook_mte.c: names of code and processes, as they come and go ---- */

void pitrace_mte_start(void);
void pitrace_mte_stop(void);
/* Writes the ids inside of a task in another pid namespace. A recording path. */
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
/* Waits, a second at most, for the records that pitrace_maps_mapped() has promised. */
void pitrace_maps_drain(void);

/* ---- snapshot.c: what already runs, and what the reader must know first ---- */

enum pitrace_snapshot {
	PITRACE_SNAPSHOT_START, /* threads are new to the reader */
	PITRACE_SNAPSHOT_END,
};

void pitrace_snapshot_system(u32 rate, u32 interval_id);
void pitrace_snapshot_kernel(void);
/* Every process there is. 0, -ENOMEM or -EINTR. */
int pitrace_snapshot_tasks(enum pitrace_snapshot when);

#endif /* PITRACE_SOURCES_SOURCES_H */
