/* SPDX-License-Identifier: MIT */
/*
 * PTT, Per-Thread Time: cycles, instructions and other counts of each thread, without interrupts and
 * other threads.
 *
 * Names, parameters and return codes are the original library's as far as they are published; what
 * we add is named Pi* or pi_*. One instance of PTT exists in the system; PttInit() begins it, or
 * joins the one that the administrator has begun with the program ptt, when that has the requested
 * metrics. Without the pitrace module each thread's own perf events, or its clock, are used instead;
 * PttGetState() reports which, and what it cannot separate.
 *
 * A thread's counts include its user code, its system calls, its exceptions (page faults) and the
 * softirqs that it runs itself. They do not include hard interrupts, the softirqs that run in
 * irq_exit(), and other threads. Non-maskable interrupts have no hook: the interrupted thread is charged
 * for them.
 *
 * Thread-safety: every function may be called from any thread. The readers and PiPttSlot() take no
 * lock and are async-signal-safe; all others are serialised inside. A child of fork() begins
 * without PTT.
 */
#ifndef PERFUTIL_PTT_H
#define PERFUTIL_PTT_H

#include <pitrace/ptt_data.h>

#include "perfutil.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- metrics ------------------------------------------------------------------------------ */
#define MAX_PTT_METRICS PITRACE_PTT_METRICS

/* Besides them the events 101 to 195 of TraceSetTprofEvent(). Counters by number, 0 to 17, are not
 * accepted: the kernel's perf counters do not have fixed numbers. Our additions count what the kernel
 * does.
 */
#define PTT_METRIC_INSTR 254  /* instructions completed: as event 102 */
#define PTT_METRIC_CYCLES 255 /* the time-stamp counter; needs no counter and always works */
#define PI_PTT_METRIC_PAGE_FAULTS 1002
#define PI_PTT_METRIC_CONTEXT_SWITCHES 1003
#define PI_PTT_METRIC_MIGRATIONS 1004
#define PI_PTT_METRIC_MINOR_FAULTS 1005
#define PI_PTT_METRIC_MAJOR_FAULTS 1006

/* ---- beginning and ending ----------------------------------------------------------------- */

/* Begins PTT with the metrics ids[0] to ids[count - 1], whose order is that of all values. priv:
 * PI_PRIV_*: where events are counted; cycles always are everywhere. When PTT is active already,
 * and has these metrics first, in this order, it is joined. What this process began ends with it.
 *
 * In this order: PU_ERROR_NULL_POINTER; PU_ERROR_INVALID_PARAMETER (count below 1);
 * PU_ERROR_TOO_MANY_METRICS (above 8); PU_ERROR_INVALID_METRIC (no such number);
 * PU_ERROR_MIXED_METRICS (counters, 0 to 17, among events); PU_ERROR_DUPLICATE_METRICS;
 * PU_ERROR_NOT_SUPPORTED (counters by number); PU_ERROR_INVALID_PRIVILEGE; PU_ERROR_INCORRECT_STATE
 * (this process uses PTT already); PU_ERROR_FACILITY_BUSY (active with other metrics, or no counter
 * is free); PU_ERROR_EVENT_NOT_SUPPORTED (this machine does not count it);
 * PU_ERROR_NOT_ENOUGH_MEMORY; PU_ERROR_ACCESS_DENIED.
 */
int PttInit(int count, const int ids[], int priv);

#define PI_PTT_KEEP 1   /* continues when this process ends, until any process calls PiPttEnd() */
#define PI_PTT_FORCE 2  /* ends an active PTT first */
#define PI_PTT_MODULE 4 /* fails without the module */

struct pi_ptt_options {
	size_t size;          /* set to sizeof(struct pi_ptt_options) by the caller */
	unsigned int flags;   /* PI_PTT_* */
	unsigned int threads; /* maximum number of accounts; 0: the default of 131,072 */
};

/* Our addition: as PttInit(), by name: CYCLES, INSTR, page-faults, context-switches,
 * cpu-migrations, or any name that PiSetTprofEvent() takes. options may be null. Besides the errors
 * of PttInit(): PU_ERROR_DRIVER_NOT_LOADED (with PI_PTT_MODULE or PI_PTT_KEEP),
 * PU_ERROR_NOT_SUPPORTED (options that this library does not know).
 */
int PiPttInit(int count, const char *const names[], int priv, const struct pi_ptt_options *options);

/* This process uses PTT no more; what it began, and did not keep, ends. Success also when it does
 * not. */
int PttTerminate(void);

/* Our addition: ends PTT of any process. The counts stay readable until PTT begins again.
 * PU_ERROR_DRIVER_NOT_LOADED, PU_ERROR_ACCESS_DENIED, PU_ERROR_NOT_INITIALIZED (not active).
 */
int PiPttEnd(void);

/* Our addition: whether interrupts have their own account (1, the default) or stay on the thread
 * (0), from the next beginning on and until the module is unloaded. Errors as PiPttEnd(), and
 * PU_ERROR_INVALID_PARAMETER.
 */
int PiPttInterrupts(int separate);

/* ---- the calling thread ------------------------------------------------------------------- */

/* Begins to count the calling thread, for it to read. tid: its id, or 0. Another thread's is
 * PU_ERROR_INVALID_THREAD: each begins by itself. Success also when it has begun already.
 * PU_ERROR_NOT_INITIALIZED, PU_ERROR_PTT_USER_TABLE_FULL, PU_ERROR_NOT_ENOUGH_MEMORY,
 * PU_ERROR_EVENT_NOT_SUPPORTED and PU_ERROR_ACCESS_DENIED without the module.
 */
int PttInitThread(int tid);

/* The reverse; a thread's end does it too. */
int PttUnInitThread(int tid);

/* Reads the calling thread's count of each metric so far into values, and returns PU_SUCCESS,
 * or PU_ERROR_NOT_INITIALIZED: PTT has ended, or the thread has not begun; values are then
 * undefined. */
typedef int (*pi_ptt_reader)(uint64_t *values);

/* The reader that fits the metrics and this machine; never null. It changes with PttInit() and
 * PttTerminate().
 */
pi_ptt_reader PttReturnGetCurrentThreadDataFunctionPtr(void);

/* As that reader does. PU_ERROR_NULL_POINTER besides. */
int PttGetMetricData(uint64_t *values);

struct ptt_thread_data_ex {
	uint64_t Dispatches; /* since the last exec; 0 without the module, as are interrupts */
	uint64_t Interrupts;
	uint64_t Metrics[MAX_PTT_METRICS];
};

/* With the counts of dispatches and interrupts; always by a system call. */
int PttGetCurrentThreadDataEx(struct ptt_thread_data_ex *data);

/* Our addition: the slot in which the module publishes the calling thread's counts, for
 * PiPttReadCycles(). Never null;
 * one that is not active when there is nothing or PTT has other metrics than cycles. Valid in this
 * thread until it ends or PttTerminate() is called, and worth keeping.
 */
const struct pitrace_ptt_slot *PiPttSlot(void);

/* Our addition: the reader of cycles alone, for programs that keep the slot: no call, no system
 * call. 1: done; 0: the slot is not active.
 */
static inline int PiPttReadCycles(const struct pitrace_ptt_slot *slot, uint64_t *value) {
#if defined(__x86_64__)
	/* Volatile accesses and assembly keep their order among each other. */
	const volatile struct pitrace_ptt_slot *now = slot;
	uint64_t changes, had;
	uint32_t low, high;
	do {
		changes = now->changes;
		had = now->value[0];
		__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	} while (__builtin_expect(changes != now->changes, 0));
	*value = had + ((uint64_t)high << 32 | low);
	return (int)now->active;
#else
	(void)slot;
	(void)value;
	return 0;
#endif
}

/* Our addition: measures for a second the residual overhead of interrupts on the calling thread, which
 * has begun and stays in user mode meanwhile. Until PTT ends, the module subtracts it from the interrupted
 * thread and adds it to the interrupts: for each vector the least overhead measured, for a vector that
 * did not occur nothing. For another second it measures the overhead of a dispatch, which varies: that is
 * reported and not subtracted. Each takes up to ten seconds where the thread sees fewer than 20 interrupts
 * or dispatches in one. *residue, unless null, is the result. An interrupt of kernel code has a
 * little less or more overhead. PU_ERROR_NOT_INITIALIZED (this process, or thread, has not
 * begun), PU_ERROR_NOT_SUPPORTED (without the module, or cycles are not the first metric),
 * PU_ERROR_INCORRECT_STATE (interrupts stay on the thread), PU_FAILURE (too few of either were seen),
 * PU_ERROR_ACCESS_DENIED.
 */
int PiPttCalibrate(struct pitrace_ptt_residue *residue);

/* ---- state -------------------------------------------------------------------------------- */
#define PI_PTT_SOURCE_NONE 0
#define PI_PTT_SOURCE_MODULE 1 /* dispatch and interrupt hooks */
#define PI_PTT_SOURCE_PERF 2   /* perf events of each thread, and its clock for cycles */

#define PI_PTT_READ_SLOT 1  /* mapped memory and the time-stamp counter: no system call */
#define PI_PTT_READ_CALL 2  /* one system call */
#define PI_PTT_READ_PAGE 3  /* perf's mapped page and rdpmc: no system call */
#define PI_PTT_READ_CLOCK 4 /* CLOCK_THREAD_CPUTIME_ID: a system call */

struct pi_ptt_state {
	size_t size; /* set to sizeof(struct pi_ptt_state) by the caller */
	int source; /* PI_PTT_SOURCE_* of this process; of the system when this process has not begun PTT */
	int read; /* PI_PTT_READ_*: the slowest that a reader needs; 0 when this process has not begun PTT */
	unsigned int read_cycles; /* of the time-stamp counter that a call of the reader takes, measured by this
	                             call; 0 unless the calling thread has begun */
	int active; /* 1: a process has begun PTT in the module */
	int ints; /* 1: interrupts have their own account */
	int keep; /* 1: it continues when the process that began it ends */
	int owner; /* pid of the process that began it; 0: unknown */
	int metrics;
	int metric[MAX_PTT_METRICS]; /* numbers; 0: known by name only */
	char name[MAX_PTT_METRICS][32];
	char unit[MAX_PTT_METRICS][16]; /* "cycles", "events", "nanoseconds" */
	unsigned int threads; /* maximum number of accounts */
	unsigned int threads_used;
	struct pitrace_ptt_residue residue; /* subtracted from threads for each interrupt; 0 at first */
	const char *cannot_separate; /* what is charged to the thread and should not be: static storage */
};

/* PU_ERROR_NULL_POINTER, PU_ERROR_INVALID_PARAMETER when size is not set. */
int PttGetState(struct pi_ptt_state *state);

/* 1 when this process uses PTT, else 0. */
int PttQueryState(void);

/* 8, however many counters the processor has. */
int PttGetMaxNumberOfMetrics(void);

/* ---- the whole system --------------------------------------------------------------------- */

/* A snapshot of all accounts at one moment. */
struct ptt_stats {
	uint32_t threads; /* entries of thread */
	uint32_t cpus;    /* entries of cpu */
	const struct pitrace_ptt_thread *thread;
	const struct pitrace_ptt_cpu *cpu;
	/* Ended threads whose accounts were reused for others: how many, and their sums. */
	uint64_t forgotten_threads;
	uint64_t forgotten_dispatches;
	uint64_t forgotten_interrupts;
	uint64_t forgotten[MAX_PTT_METRICS];
	/* Counts of threads without an account (table full). homeless* are older names of the same
	 * fields. */
	union {
		uint64_t without_account_dispatches;
		uint64_t homeless_dispatches;
	};
	union {
		uint64_t without_account_interrupts;
		uint64_t homeless_interrupts;
	};
	union {
		uint64_t without_account[MAX_PTT_METRICS];
		uint64_t homeless[MAX_PTT_METRICS];
	};
};

/* The counts until now, or, when PTT is not active, until its end. Only for users who may open
 * /dev/pitrace. Free *stats with PttFreeStats(). PU_ERROR_NULL_POINTER,
 * PU_ERROR_DRIVER_NOT_LOADED, PU_ERROR_ACCESS_DENIED, PU_ERROR_NOT_INITIALIZED (nothing was counted
 * since the module was loaded), PU_ERROR_NOT_ENOUGH_MEMORY.
 */
int PttGetStatistics(struct ptt_stats **stats);
void PttFreeStats(struct ptt_stats *stats);

struct ptt_summary_stats {
	uint64_t Dispatches; /* the idle tasks' included */
	uint64_t Interrupts;
	uint64_t ThreadTime[MAX_PTT_METRICS]; /* ThreadTime + IntrTime + IdleTime + ToolTime = Total */
	uint64_t IntrTime[MAX_PTT_METRICS];
	uint64_t IdleTime[MAX_PTT_METRICS];
	uint64_t ToolTime[MAX_PTT_METRICS]; /* of cycles; 0 of others */
	uint64_t Total[MAX_PTT_METRICS];    /* the counts of all CPUs */
};

/* The sums of the same counts. Errors as PttGetStatistics(). */
int PttGetSummaryStatistics(struct ptt_summary_stats *summary);

struct ptt_process_data {
	uint64_t Dispatches;
	uint64_t Interrupts;
	uint64_t Metrics[MAX_PTT_METRICS];
};

/* Sums over all threads of a process, including ended ones whose accounts were not reused. Errors as
 * PttGetStatistics(), and PU_ERROR_THREAD_NOT_FOUND.
 */
int PttGetProcessData(int pid, struct ptt_process_data *data);
int PttGetCurrentProcessData(struct ptt_process_data *data);

#ifdef __cplusplus
}
#endif

#endif /* PERFUTIL_PTT_H */
