/* SPDX-License-Identifier: GPL-2.0-only */
/* The device: its node, its ioctls, and the one trace with its one owner. */
#ifndef PITRACE_DEVICE_DEVICE_H
#define PITRACE_DEVICE_DEVICE_H

#include <linux/fs.h>
#include <linux/types.h>

#include <pitrace/abi.h>

/* ---- dev.c: the device node ---- */

int pitrace_dev_init(void);
void pitrace_dev_exit(void);

/* ---- ioctl.c ---- */

long pitrace_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

/* ---- session.c: one trace, one owner ---- */

/* 0, or -EINVAL, -EBUSY (the trace has an owner), -ENOMEM, -EINTR */
int pitrace_session_alloc(struct file *file, const struct pitrace_alloc *alloc);

/*
 * Owner only: -EPERM for other files. -EINTR when killed while waiting.
 * on: -EALREADY when on; off: -EALREADY when not on; majors: -EINVAL when there is no such major;
 * rate: -EINVAL outside PITRACE_RATE_*, -EBUSY while on; stacks, copies, event: -EBUSY while on,
 * and the errors of pitrace_stacks_set(), pitrace_copies_set(), pitrace_tprof_event_set(); suspend, resume: -EALREADY, or -EINVAL
 * when not on; discard: -EINVAL when not on, -ENOSPC when recording ended because a buffer was full.
 */
int pitrace_session_on(struct file *file);
int pitrace_session_off(struct file *file);
int pitrace_session_terminate(struct file *file);
int pitrace_session_enable(struct file *file, u32 major);
int pitrace_session_disable(struct file *file, u32 major);
int pitrace_session_rate(struct file *file, u32 rate);
int pitrace_session_stacks(struct file *file, const struct pitrace_stacks *stacks);
int pitrace_session_copies(struct file *file, const struct pitrace_copies *copies);
int pitrace_session_event(struct file *file, const struct pitrace_event *event);
int pitrace_session_suspend(struct file *file);
int pitrace_session_resume(struct file *file);
int pitrace_session_discard(struct file *file);
/* PITRACE_ITRACE_CONTINUOUS: -EINVAL unless the trace's mode is PITRACE_MODE_CONTINUOUS. */
int pitrace_session_itrace_install(struct file *file, const struct pitrace_itrace *wanted);

/* For any file. */
int pitrace_session_info(struct pitrace_info *info);
/* Fills in all but the index; -ENOENT when there is none of that index. */
int pitrace_session_probe(struct pitrace_probe *probe);

/* The last reference to an open file was released; ends the trace if the file owned it. */
void pitrace_session_release(struct file *file);
bool pitrace_session_owned_by(struct file *file);

/* ---- sources.c: starts and stops sources; all under the session lock ---- */

#define PITRACE_MAJORS 256

void pitrace_sources_init(void);
/*
 * Starts the sources whose major is enabled (PITRACE_MAJORS bits), and stops the others, which write
 * their final records. flags are PITRACE_ALLOC_*, rate is in ticks per second. 0, or the error of the
 * source that could not start: those before it run.
 */
int pitrace_sources_apply(const unsigned long *wanted, u32 flags, u32 rate);
/* Stops all, without final records. */
void pitrace_sources_stop(void);
/* Describes hook probe->index; the sources' hooks are numbered in their order. 0, or -ENOENT: no such hook. */
int pitrace_sources_probe(struct pitrace_probe *probe);

#endif /* PITRACE_DEVICE_DEVICE_H */
