/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions of ITrace for other folders; itrace.h has what its own files share. */
#ifndef PITRACE_ITRACE_ITRACE_CALLS_H
#define PITRACE_ITRACE_ITRACE_CALLS_H

#include <linux/types.h>

#include <pitrace/abi.h>

struct pt_regs;

/* abi.h documents the errors. The caller checks owner and mode. */
int pitrace_itrace_install(const struct pitrace_itrace *wanted);
int pitrace_itrace_remove(void);
int pitrace_itrace_on(u32 what);
int pitrace_itrace_off(u32 what);
/* lasting: includes processes that begin later */
int pitrace_itrace_enable(const struct pitrace_itrace_pids *pids, bool owner, bool lasting);
/* 0, -EACCES or -ESRCH: may the caller enable these processes? */
int pitrace_itrace_may_enable(const struct pitrace_itrace_pids *pids, bool *lasting);
int pitrace_itrace_disable(void);
int pitrace_itrace_info(struct pitrace_itrace_info *info);
/* The trace's buffers are open and empty; they are about to be closed. Both under the session lock. */
void pitrace_itrace_trace_begins(void);
void pitrace_itrace_trace_ends(void);
/* The contents of the trace's buffers were dropped. */
void pitrace_itrace_trace_forgets(void);
/* The reader has made space. */
void pitrace_itrace_consumed(void);
/* In a debug trap, before any die notifier has cleared bits of dr6: is it only a step of ITrace? */
bool pitrace_itrace_takes_step(struct pt_regs *regs, unsigned long dr6);
int pitrace_itrace_init(void);
void pitrace_itrace_exit(void);

#endif /* PITRACE_ITRACE_ITRACE_CALLS_H */
