/* SPDX-License-Identifier: MIT */
/*
 * libperfutil: set up, start, stop and write a trace; its status. Order of calls: the
 * functions whose errors say "once initialised", TraceInit(), TraceEnable(), TraceOn(), TraceOff(),
 * TraceWriteBufferToFile(), TraceTerminate().
 *
 * Names are the original's, except for Pi*. Thread-safety: any thread; calls are serialised. For
 * children of fork(), see perfutil.h.
 */
#ifndef PERFUTIL_TRACE_H
#define PERFUTIL_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include <perfutil/errors.h>
#include <perfutil/events.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- source and scope (before TraceInit) ----------------------------------------------- */
#define PI_SOURCE_AUTO 0 /* the module when its device can be opened, else perf */
#define PI_SOURCE_DRIVER 1
#define PI_SOURCE_PERF 2

/* Our addition: chooses the source of records. source: PI_SOURCE_*; at first PI_SOURCE_AUTO.
 * PU_ERROR_INVALID_PARAMETER, PU_ERROR_INCORRECT_STATE once initialised. */
int PiSetSource(int source);

#define TRACE_SCOPE_SYSTEM 0
#define TRACE_SCOPE_PROCESS 1
#define PI_SCOPE_AUTO 2 /* our addition: the system where permitted, else the process (default) */

/* Chooses what the perf source records. pid: the process to record, with its children, when the
 * scope is, or becomes, one process; in the system scope it is only stored in the trace file, as
 * the process that the trace is about. 0: none. The module always records the system.
 * PU_ERROR_INVALID_PARAMETER, PU_ERROR_INCORRECT_STATE once initialised.
 */
int TraceSetScope(int scope, int pid);

/* ---- trace ----------------------------------------------------------------------------- */
#define COLLECTION_MODE_NORMAL 0 /* recording stops when a buffer is full */
#define COLLECTION_MODE_WRAP 1 /* overwrite: the newest trace records are kept; names go to a file */
#define COLLECTION_MODE_CONTINUOUS 2 /* streaming: records are written to a file while recording */

/* mode: COLLECTION_MODE_*; at first normal. PU_ERROR_INVALID_PARAMETER, PU_ERROR_INCORRECT_STATE
 * once initialised. */
int TraceSetMode(int mode);

#define PI_FILE_NAME_DEFAULT "swtrace.nrm2"

/* Sets the name of the trace file, at most 1023 characters: continuous mode and
 * TraceWriteBufferToFile(NULL) write to it. In wrap-around mode names go to the file of that name
 * with ".mte" appended. In both modes TraceOn() creates the file; an older one becomes NAME.old.
 * PU_ERROR_NULL_POINTER, PU_ERROR_INVALID_PARAMETER, PU_ERROR_INCORRECT_STATE once initialised.
 */
int TraceSetName(const char *name);

/* The name of the trace file: never null; static storage. */
const char *TraceGetName(void);

#define PI_SECTION_BYTES_DEFAULT (64u << 10)
#define PI_SECTION_BYTES_MIN (4u << 10)

/* Sets the size of a section (sub-buffer): bytes that are written to the file at a time in
 * continuous and wrap-around mode, raised to PI_SECTION_BYTES_MIN. TraceInit() rejects more than
 * half of a buffer. PU_ERROR_INCORRECT_STATE once initialised. */
int TraceSetSectionSize(uint32_t bytes);

#define PI_TRACE_BYTES_DEFAULT (3u << 20)
#define PI_MTE_BYTES_DEFAULT (5u << 20)
#define PI_BUFFER_BYTES_MIN (64u << 10)

/* Sets the size of the MTE buffer (names) of each CPU in bytes, raised to PI_BUFFER_BYTES_MIN;
 * default 5 MB. PU_ERROR_INCORRECT_STATE once initialised. */
int TraceSetMteSize(uint32_t bytes);

/* Whether anonymous executable mappings are recorded (default 1). PU_ERROR_INCORRECT_STATE. */
int SetTraceAnonMTE(int on);

/* Allocates a trace and an MTE buffer for every CPU; bytes is the trace buffer's size, raised to
 * PI_BUFFER_BYTES_MIN. No major is enabled afterwards.
 * PU_ERROR_DRIVER_NOT_LOADED (source driver only), PU_ERROR_ACCESS_DENIED,
 * PU_ERROR_FACILITY_BUSY (another process owns the trace; the text says which),
 * PU_ERROR_NOT_ENOUGH_MEMORY, PU_ERROR_NOT_SUPPORTED (neither source works here; the text says
 * why), PU_ERROR_INVALID_PARAMETER (sections too large for the buffers), PU_ERROR_FILE (the file of
 * continuous or wrap-around mode cannot be created), PU_ERROR_INCORRECT_STATE (this process has
 * already initialised).
 */
int TraceInit(uint32_t bytes);

#define ALL_MAJORS 0
#define PI_MAJORS_TPROF 255 /* the majors that a tprof report needs */

/* Enable and disable a major (event class); also while on. major: ALL_MAJORS, PI_MAJORS_TPROF, or
 * one of 1 to 254. Records of the system: 3 exceptions, 4 interrupts, 5 system calls, 0x10 ticks
 * (samples), 0x12 dispatches (context switches), 0x13 context switches with stack pointers, 0x19
 * names; the other majors are for user hooks and ITrace. Of 3, 4, 5, 0x12 and 0x13 the perf source
 * can record dispatches only, from its context-switch events: the others are rejected when they are
 * enabled one by one, and listed by PiCannotSee() when they are enabled with all.
 * PU_ERROR_INVALID_PARAMETER above 255, PU_ERROR_NOT_SUPPORTED (perf cannot record them),
 * PU_ERROR_NOT_INITIALIZED.
 */
int TraceEnable(int major);
int TraceDisable(int major);

/* 1 enabled, 0 not, PU_ERROR_NOT_INITIALIZED. */
int TraceQueryMajor(int major);

/* Has ticks (samples) written by time, as they are after TraceInit(). rate: samples a second on
 * each CPU, 1 to 10,000; 0: the default of 100. Replaces the setting of TraceSetTprofEvent() and
 * PiSetTprofEvent(). PU_ERROR_INVALID_PARAMETER, PU_ERROR_NOT_INITIALIZED, PU_ERROR_INCORRECT_STATE
 * while on.
 */
int SetProfilerRate(int rate);

/* Events for each tick if the user gives no number: of hardware events, and of cpu-clock and
 * task-clock, which count nanoseconds. It is 1 for the kernel's other software events, which are
 * rare: page-faults, context-switches, cpu-migrations.
 */
#define PI_EVENT_PERIOD_DEFAULT 10000000ull

/* Has ticks written by events (tprof's event mode): one tick at every count events of each CPU.
 * cpu: ALL_CPUS. event: one of the original's numbers, 101 (NONHALTED_CYCLES) to 195; they stand
 * for events of the kernel's perf counters: 101 cpu-cycles; 102, 103 instructions; 106
 * branch-instructions; 107 branch-misses; 109 iTLB-load-misses; 114, 116 LLC-load-misses; 115, 117
 * LLC-loads; 118 node-loads; 119 node-stores; 125 alignment-faults; 137 L1-dcache-load-misses; 138,
 * 157 L1-dcache-loads; 139, 145 L1-icache-load-misses; 140, 144 L1-icache-loads; 141, 142
 * dTLB-load-misses; 143 dTLB-store-misses; 150 ref-cycles; 158 L1-dcache-stores; the others have no
 * counterpart. priv: PI_PRIV_*. Definition: the original library's list of events and its use of
 * perf_events, but for 142 and 143, which counted all accesses there, against their names
 * DTLB_MISS_LD and _ST.
 *
 * PU_ERROR_NOT_SUPPORTED (one CPU alone, a module older than this library), PU_ERROR_INVALID_METRIC
 * (no such number; the numbers 0, 1 ... of counters are not accepted), PU_ERROR_INVALID_PARAMETER
 * (a count of 0), PU_ERROR_INVALID_PRIVILEGE, PU_ERROR_EVENT_NOT_SUPPORTED (this machine does not
 * count it: the text names what works), PU_ERROR_FACILITY_BUSY (no counter is free),
 * PU_ERROR_ACCESS_DENIED, PU_ERROR_NOT_INITIALIZED, PU_ERROR_INCORRECT_STATE while on.
 */
int TraceSetTprofEvent(int cpu, int event, uint32_t count, int priv);

/* Our addition: as TraceSetTprofEvent(), by name. name: one of the original's numbers or names
 * (INSTR); the kernel's generic ones as perf has them (cpu-cycles, page-faults,
 * L1-dcache-load-misses); rHEX, a raw number; PMU/EVENT/ or PMU/TERM=VALUE,.../ from
 * /sys/bus/event_source/devices; one of libpfm4's with its unit masks and modifiers. Looked up in
 * that order; the first two whatever their case. cpu-clock and task-clock count nanoseconds. count:
 * 1 to 2^62, or 0 for the default, see PI_EVENT_PERIOD_DEFAULT. random: 1 to have each period drawn
 * from 0.75 to 1.25 of count, so that ticks do not stay in phase with a loop; only the module can.
 *
 * PU_ERROR_NULL_POINTER, PU_ERROR_INVALID_METRIC (unknown name), PU_ERROR_NOT_SUPPORTED
 * (random with perf; a module older than this library), and the others of TraceSetTprofEvent().
 */
int PiSetTprofEvent(const char *name, uint64_t count, int priv, int random);

#define PI_STACKS_OFF 0
#define PI_STACKS_KERNEL 1
#define PI_STACKS_USER 2
#define PI_STACKS_BOTH 3
#define PI_STACK_DEPTH_MAX 1023

/* Our addition: ticks and dispatches have stacks from the next TraceOn() on; no stacks after
 * TraceInit(). which: PI_STACKS_*. depth: kernel frames and user frames each, 1 to PI_STACK_DEPTH_MAX; 0
 * means 64.
 * There are at most 127 kernel frames. User stacks follow frame pointers, unless PiSetStackResolver()
 * sets who unwinds them: code that was compiled without them ends a stack. By frame pointers the
 * module finds at most 127 frames, and perf records at most kernel.perf_event_max_stack frames,
 * kernel and user together, does not distinguish a whole stack from a broken one, and records stacks
 * of dispatches only where the kernel may be traced. PU_ERROR_INVALID_PARAMETER,
 * PU_ERROR_NOT_SUPPORTED (a module older than this library),
 * PU_ERROR_NOT_INITIALIZED, PU_ERROR_INCORRECT_STATE while on.
 */
int TraceSetStacks(int which, int depth);

/* Starts recording: empties the buffers, writes start-up information and the processes that run
 * now. A child of fork() gets PI_ERROR_FORKED from this and from all calls up to
 * TraceWriteBufferToFile(): the trace is its parent's. In continuous and wrap-around mode it also
 * creates the trace's file. PU_ERROR_NOT_INITIALIZED, PU_ERROR_INCORRECT_STATE when on,
 * PU_ERROR_ACCESS_DENIED, PU_ERROR_NOT_ENOUGH_MEMORY, PU_ERROR_FILE, PU_ERROR_FACILITY_BUSY and
 * PU_ERROR_EVENT_NOT_SUPPORTED (the counters that the event needs).
 */
int TraceOn(void);

/* Between TraceOn() and TraceOff(): TraceSuspend() pauses all records but names, until
 * TraceResume(). Names are still recorded, because later records need them. Repeated calls succeed.
 * PU_ERROR_NOT_INITIALIZED, PU_ERROR_INCORRECT_STATE when not on.
 */
int TraceSuspend(void);
int TraceResume(void);

/* Discards the records since TraceOn(), except for names; recording continues. In continuous mode the
 * file restarts, too. PU_ERROR_NOT_INITIALIZED, PU_ERROR_INCORRECT_STATE when not on,
 * PU_ERROR_BUFFER_FULL when recording has ended by itself, PU_ERROR_FILE.
 */
int TraceDiscard(void);

/* Stops recording; the buffers keep their records. PU_ERROR_BUFFER_FULL: it had stopped by
 * itself before (still a success: the trace can be written). In continuous and wrap-around mode the
 * file is completed. PU_ERROR_NOT_INITIALIZED, PU_ERROR_INCORRECT_STATE when not on, PU_ERROR_FILE
 * (the trace is off, its file lacks the newest records and says so).
 */
int TraceOff(void);

/* Stops recording if it is on, frees the buffers and gives up ownership. PU_ERROR_NOT_INITIALIZED.
 */
int TraceTerminate(void);

/* Writes the buffers, the kernel's symbols and modules and the build-ids of mapped files to a
 * new file of mode 0600. An existing regular file of that name is replaced in one step when the
 * new one is complete; when the disk fills, the part that was written is kept, is readable, and is
 * marked. A symbolic link or a file that is not regular is rejected. name null: TraceGetName().
 * Wrap-around mode: writes the records that the buffers hold now, and all names; recording continues.
 * Continuous mode: copies the file, if name is another one.
 * PU_ERROR_NOT_INITIALIZED, PU_ERROR_INCORRECT_STATE while on (but for wrap-around mode) and before
 * the first TraceOn(), PU_ERROR_INVALID_PARAMETER (the file that names stream to), PU_ERROR_FILE.
 */
int TraceWriteBufferToFile(const char *name);

/* 1 between TraceOn() and TraceOff(), else 0. */
int IsTraceOn(void);

/* 1 while records are being stored: on, not suspended and no buffer full. */
int IsTraceActive(void);

/* Counts the successful TraceOn() calls; 0 before the first. */
uint32_t TraceGetIntervalId(void);

/* ---- status (our addition) ------------------------------------------------------------- */
#define PI_LOST_REASONS 4 /* full, stopped, too long, source: PITRACE_LOST_* of pitrace/abi.h */

struct pi_trace_counts {
	uint64_t produced;
	uint64_t written;
	uint64_t lost[PI_LOST_REASONS];
};

struct pi_trace_status {
	size_t size; /* set to sizeof(struct pi_trace_status) by the caller */
	int source; /* PI_SOURCE_DRIVER or _PERF; PI_SOURCE_AUTO before TraceInit */
	int scope; /* TRACE_SCOPE_SYSTEM or _PROCESS */
	int pid; /* of the process scope, else 0 */
	int on;
	int full;
	uint32_t interval_id;
	uint32_t cpus; /* traced */
	uint64_t trace_bytes; /* per CPU */
	uint64_t mte_bytes;
	uint32_t rate; /* requested ticks a second, 0: ticks are by events */
	uint64_t tick_ns; /* mean time between two ticks of the source, nanoseconds, or 0 */
	struct pi_trace_counts trace; /* sums over all CPUs */
	struct pi_trace_counts mte;
	uint64_t missed; /* events that the kernel did not pass to the module's tracepoint probes and
                         kprobes */
	uint64_t throttled; /* perf: times its clock was throttled */
	int mode; /* COLLECTION_MODE_* */
	int suspended;
	uint64_t overwritten; /* trace records overwritten by newer ones */
	uint64_t period; /* events a tick, 0: ticks are by time */
	int stacks; /* PI_STACKS_* */
	int depth; /* of the stacks */
	const char *event; /* what a tick counts, "" for time; static storage */
	uint64_t recorded_bytes; /* of all records, in the buffers and in the file of continuous mode */
};

/* PU_ERROR_NULL_POINTER, PU_ERROR_INVALID_PARAMETER when size is not set,
 * PU_ERROR_NOT_INITIALIZED before TraceInit(). */
int PiTraceStatus(struct pi_trace_status *status);

/* One sentence on the index-th kind of event that the active source cannot record, null when there
 * are no more; static storage. */
const char *PiCannotSee(unsigned int index);

/* One sentence on the index-th fact that users of this trace should know (why the module was not
 * used, CPUs that came online or went offline), null when there are no more; static storage. */
const char *PiNote(unsigned int index);

#ifdef __cplusplus
}
#endif

#endif /* PERFUTIL_TRACE_H */
