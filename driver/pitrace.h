/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the driver's files offer each other.
 *
 * Locks, outermost first. Nothing on a recording path takes any of them.
 *	AboveIdle lock	its users, held over its starting and stopping; never with the session lock
 *	PTT lock	ptt.h; never with either of them
 *	session lock	state, owner, majors; held over starting and stopping
 *	counters lock	event ticks' perf counters, of which making one takes the kernel's perf locks
 *			and cpus_read_lock; hot-plug callbacks therefore leave it to a work item
 *	canary lock	probes.c: the probe that tells whether function probes live
 *	exec_update_lock, mmap_lock of a traced process (snapshot.c, maps.c)
 *	CPU hot-plug	cpus_read_lock: set of buffers, tick timers; hot-plug callbacks hold it
 *			for writing and therefore never take the session lock
 *	areas lock	pointers to the buffers; innermost, as mmap() takes it under mmap_lock
 */
#ifndef PITRACE_DRIVER_H
#define PITRACE_DRIVER_H

#include <linux/fs.h>
#include <linux/mm_types.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/types.h>

#include <pitrace/abi.h>

struct pitrace_hook_set;
struct pt_regs;

/* ---- main.c: what the objects are loaded and unloaded with ---- */

int pitrace_dev_init(void);
void pitrace_dev_exit(void);
/* May the caller trace the whole system? */
bool pitrace_may_trace(void);
int pitrace_buffers_init(void);
void pitrace_buffers_exit(void);
int pitrace_tprof_init(void);
void pitrace_tprof_exit(void);
void pitrace_sources_init(void);
int pitrace_user_hook_init(void);
void pitrace_user_hook_exit(void);
int pitrace_maps_init(void);
void pitrace_maps_exit(void);

/* ---- ioctl.c ---- */

long pitrace_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

/* ---- session.c: one trace, one owner ---- */

/* 0, or -EINVAL, -EBUSY (somebody owns the trace), -ENOMEM, -EINTR */
int pitrace_session_alloc(struct file *file, const struct pitrace_alloc *alloc);

/*
 * Only the owner: -EPERM for others. -EINTR when killed while waiting.
 * on: -EALREADY when on; off: -EALREADY when not on; majors: -EINVAL when there is no such major;
 * rate: -EINVAL outside PITRACE_RATE_*, -EBUSY while on; stacks, event: -EBUSY while on, and what
 * pitrace_stacks_set(), pitrace_tprof_event_set() say; suspend, resume: -EALREADY, or -EINVAL when
 * not on; discard: -EINVAL when not on,
 * -ENOSPC when recording ended because a buffer was full; consumed: -EINVAL, -ENXIO.
 */
int pitrace_session_on(struct file *file);
int pitrace_session_off(struct file *file);
int pitrace_session_terminate(struct file *file);
int pitrace_session_enable(struct file *file, u32 major);
int pitrace_session_disable(struct file *file, u32 major);
int pitrace_session_rate(struct file *file, u32 rate);
int pitrace_session_stacks(struct file *file, const struct pitrace_stacks *stacks);
int pitrace_session_event(struct file *file, const struct pitrace_event *event);
int pitrace_session_suspend(struct file *file);
int pitrace_session_resume(struct file *file);
int pitrace_session_discard(struct file *file);
/* With PITRACE_ITRACE_CONTINUOUS -EINVAL unless the trace's mode is that, too. */
int pitrace_session_itrace_install(struct file *file, const struct pitrace_itrace *wanted);

/* Anybody. */
int pitrace_session_info(struct pitrace_info *info);
/* Fills in all but the index; -ENOENT when there is none of that index. */
int pitrace_session_probe(struct pitrace_probe *probe);

/* The last reference to an open file went away; ends the trace if it was the owner's. */
void pitrace_session_release(struct file *file);
bool pitrace_session_owned_by(struct file *file);
/* Is it the process that owns the trace, or that reads its buffers now? Any context. */
bool pitrace_session_owner_is(pid_t pid);
/* The caller reads the buffers. */
void pitrace_session_reads(void);

/* ---- buffers.c: the pages behind the rings ---- */

/*
 * Bytes are multiples of the page size; section: of buffers that stream. 0, -ENOMEM or -EINTR (then
 * nothing is allocated).
 */
int pitrace_buffers_alloc(const u64 bytes[PITRACE_BUFFERS], u32 mode, u64 section);
/* Bytes a CPU, both buffers together, that could be had now. */
u64 pitrace_buffers_largest(void);
/* No writer may be active or come. Pages that are still mapped live until they are unmapped. */
void pitrace_buffers_free(void);
/* The gate of that kind is closed. */
void pitrace_buffers_reset(u32 kind);
u32 pitrace_buffers_cpus_failed(void);
int pitrace_buffers_mmap(struct vm_area_struct *vma);
bool pitrace_buffers_hold_a_section(void);
/* -EINVAL, -ENXIO when the CPU has no buffers */
int pitrace_buffers_consumed(const struct pitrace_consumed *consumed);

/* ---- reader.c: who waits for sections ---- */

__poll_t pitrace_reader_poll(struct file *file, poll_table *table);
void pitrace_reader_init(void);
/* Nobody can open the device any more. Waits for what is under way. */
void pitrace_reader_exit(void);

/* ---- user_hook.c: records that programs write themselves ---- */

/*
 * Tells programs whether there is a trace, its interval while it is on, and which majors it stores;
 * enabled: one bit each, NULL: none. Under the session lock.
 */
void pitrace_user_hook_publish(bool owned, u32 interval_id, const unsigned long *enabled);
/* PITRACE_IOC_HOOK; its errors are told there. May sleep. Anybody. */
int pitrace_user_hook(const void __user *user);
int pitrace_user_hook_mmap(struct vm_area_struct *vma);

/* ---- sources.c: what writes records, and its hooks; all under the session lock ---- */

#define PITRACE_MAJORS 256

/*
 * Starts those whose major is among the wanted (PITRACE_MAJORS bits) and stops the others, which have
 * last words. flags are PITRACE_ALLOC_*, rate is in ticks a second. 0, or why one could not start:
 * those before it run.
 */
int pitrace_sources_apply(const unsigned long *wanted, u32 flags, u32 rate);
/* All, at once, without last words. */
void pitrace_sources_stop(void);
/* Tells of hook probe->index, one source's after the other's. 0, or -ENOENT: there are not so many. */
int pitrace_sources_probe(struct pitrace_probe *probe);

extern const struct pitrace_hook_set pitrace_mte_hooks; /* hook_mte.c */
extern const struct pitrace_hook_set pitrace_dispatch_hooks; /* hook_dispatch.c */
extern const struct pitrace_hook_set pitrace_switch_hooks; /* hook_switch.c */
extern const struct pitrace_hook_set pitrace_interrupt_hooks; /* hook_interrupt.c */
extern const struct pitrace_hook_set pitrace_syscall_hooks; /* hook_syscall.c */
extern const struct pitrace_hook_set pitrace_exception_hooks; /* plat_x86_exception.c */

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

/* ---- stack.c: call stacks; what sources use is in stack.h ---- */

/* Both under the session lock, while no source runs. 0, -EINVAL or -ENOMEM. */
int pitrace_stacks_set(const struct pitrace_stacks *stacks);
void pitrace_stacks_reset(void);

/* ---- above_idle.c: where the time of each CPU goes ---- */

int pitrace_ai_init(void);
void pitrace_ai_exit(void);
/* The errors are told at struct pitrace_ai. */
int pitrace_ai_on(struct file *file);
int pitrace_ai_off(struct file *file);
int pitrace_ai_read(struct file *file, struct pitrace_ai *ai);
/* The last reference to an open file went away. */
void pitrace_ai_release(struct file *file);

/* ---- ptt.c: what each thread costs; what its own files share is in ptt.h ---- */

struct pitrace_ptt_init;
struct pitrace_ptt_info;
struct pitrace_ptt_residue;

int pitrace_ptt_init(void);
void pitrace_ptt_exit(void);
/* The errors are told in ptt_abi.h. */
int pitrace_ptt_ioctl_init(struct file *file, const struct pitrace_ptt_init *init);
int pitrace_ptt_ioctl_term(void);
int pitrace_ptt_ioctl_ints(u32 ints);
int pitrace_ptt_ioctl_residue(const struct pitrace_ptt_residue *residue);
/* sees: enum pitrace_ptt_sees; privileged: of the system's device, not of the threads' */
int pitrace_ptt_ioctl_info(struct pitrace_ptt_info *info, bool privileged, int sees);
long pitrace_ptt_ioctl_dump(void __user *user);
/* The last reference to an open file went away. */
void pitrace_ptt_release(struct file *file);

/* ---- itrace.c: what threads execute; what its own files share is in itrace.h ---- */

/* The errors are told in abi.h. Owner and mode are the caller's to check. */
int pitrace_itrace_install(const struct pitrace_itrace *wanted);
int pitrace_itrace_remove(void);
int pitrace_itrace_on(u32 what);
int pitrace_itrace_off(u32 what);
/* lasting: processes that begin later, too */
int pitrace_itrace_enable(const struct pitrace_itrace_pids *pids, bool owner, bool lasting);
/* 0, -EACCES or -ESRCH: may the caller enable these processes? */
int pitrace_itrace_may_enable(const struct pitrace_itrace_pids *pids, bool *lasting);
int pitrace_itrace_disable(void);
int pitrace_itrace_info(struct pitrace_itrace_info *info);
/* The trace's buffers are open and empty; they are about to be closed. Under the session lock. */
void pitrace_itrace_trace_begins(void);
void pitrace_itrace_trace_ends(void);
/* What the trace's buffers held is forgotten. */
void pitrace_itrace_trace_forgets(void);
/* The reader has made space. */
void pitrace_itrace_consumed(void);
/* In a debug trap, of which no die notifier has taken anything yet: is it but a step that ITrace has asked for? */
bool pitrace_itrace_takes_step(struct pt_regs *regs, unsigned long dr6);
int pitrace_itrace_init(void);
void pitrace_itrace_exit(void);

/* ---- hook_mte.c: names of code and processes, as they come and go ---- */

void pitrace_mte_start(void);
void pitrace_mte_stop(void);
/* Writes the ids inside of a task in another pid namespace. A recording path. */
void pitrace_mte_inner(struct task_struct *task);

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

/* ---- tasks.c: sets of tasks ---- */

struct pitrace_tasks {
	struct task_struct **task; /* one reference each */
	unsigned int count;
	unsigned int space;
};

/*
 * All that are there from the beginning to the end of it; a process's leader before its other threads. A thread that
 * becomes a leader meanwhile may be there twice. 0, -ENOMEM or -EINTR.
 */
int pitrace_tasks_collect(struct pitrace_tasks *tasks);
/* Makes pitrace_tasks_contain() possible; loses the order. */
void pitrace_tasks_sort(struct pitrace_tasks *tasks);
bool pitrace_tasks_contain(const struct pitrace_tasks *tasks, const struct task_struct *task);
void pitrace_tasks_release(struct pitrace_tasks *tasks);

/* ---- snapshot.c: what already runs, and what the reader must know first ---- */

enum pitrace_snapshot {
	PITRACE_SNAPSHOT_START, /* threads are new to the reader */
	PITRACE_SNAPSHOT_END,
};

void pitrace_snapshot_system(u32 rate, u32 interval_id);
void pitrace_snapshot_kernel(void);
/* Every process there is. 0, -ENOMEM or -EINTR. */
int pitrace_snapshot_tasks(enum pitrace_snapshot when);

#endif /* PITRACE_DRIVER_H */
