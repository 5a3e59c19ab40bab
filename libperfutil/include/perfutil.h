/* SPDX-License-Identifier: MIT */
/*
 * libperfutil: set up, start, stop and write a trace.
 *
 * Function names, parameters and return codes are those of the original library (its published
 * API list); what we add is named Pi* and says so. Two collectors stand behind the same calls:
 * the pitrace module ("driver") and perf_event_open ("perf"); a caller need not tell them apart.
 *
 * One trace at a time: the process that calls TraceInit() owns it until TraceTerminate() or its
 * death, kill -9 included. Thread-safety: every function may be called from any thread; calls
 * are serialised inside. Only user hooks (TraceHook, PiTraceHook) are async-signal-safe, and run
 * side by side.
 *
 * A child of fork() owns nothing of its parent's trace, also when it is forked while the trace is
 * on. What it may call, and what it gets:
 *
 * - Calls that control the trace, TraceOn() and TraceOff() among them, return PI_ERROR_FORKED
 *   wherever PU_ERROR_NOT_INITIALIZED is listed. IsTraceOn(), IsTraceActive() and
 *   TraceGetIntervalId() return 0; PiCannotSee() and PiNote() return null. Neither its calls nor
 *   its end change the trace.
 * - TraceInit() begins a trace of the child's own, with the settings that its parent had made.
 *   From then on all calls work on that one.
 * - TraceHook() and PiTraceHook() write the child's own records into the trace that runs: its
 *   parent's, while that is on.
 * - ITraceOn(), ITraceOff() and PTT (perfutil_ptt.h) work in it as in any other program; it begins
 *   without PTT.
 * - Counters that its parent has begun are not counting in it, handles of CpiInit() are invalid,
 *   and AboveIdle is not active. It may begin its own.
 * - It is itself traced as the parent's scope says (TraceSetScope()), until it ends.
 *
 * A thread is not cancelled (pthread_cancel) inside these functions: a cancellation waits until
 * they return. TraceHook(), PiTraceHook(), ITraceOn(), ITraceOff() and PTT's readers must not be
 * called with the cancellation type PTHREAD_CANCEL_ASYNCHRONOUS.
 *
 * Structures that begin with a size may grow at their end, and only there. The caller sets size to
 * sizeof of the structure that it was compiled with; PU_ERROR_INVALID_PARAMETER when it has not.
 * What a function fills: size becomes the number of bytes that the library has filled; these are
 * fewer when the library is older than the caller, whose further bytes become 0. What a function
 * reads: fields that the caller does not know count as 0; when the library is older,
 * PU_ERROR_NOT_SUPPORTED unless all that it does not know is 0.
 *
 * Every function that returns int returns PU_SUCCESS or one of the negative PU_* codes; each
 * lists the codes it can return. PiErrorText() tells what happened and what to do about it.
 */
#ifndef PERFUTIL_H
#define PERFUTIL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- return codes (the original's numbers) ------------------------------------------------ */
#define PU_SUCCESS 0
#define PU_FAILURE -1
#define PU_ERROR_NULL_POINTER -3
#define PU_ERROR_FILE -4
#define PU_ERROR_ACCESS_DENIED -5
#define PU_ERROR_NOT_INITIALIZED -6
#define PU_ERROR_NOT_ENOUGH_MEMORY -8
#define PU_ERROR_INVALID_PARAMETER -87
#define PU_ERROR_INTERNAL -200
#define PU_ERROR_INCORRECT_STATE -201
#define PU_ERROR_NO_BUFFER -202
#define PU_ERROR_BUFFER_FULL -205
#define PU_ERROR_HOOK_TOO_LONG -208
#define PU_ERROR_DRIVER_NOT_LOADED -209
#define PU_ERROR_NOT_SUPPORTED -210
#define PU_ERROR_FACILITY_BUSY -211
#define PU_ERROR_EVENT_NOT_SUPPORTED -213
#define PU_ERROR_INVALID_METRIC -219
#define PU_ERROR_INVALID_PRIVILEGE -222
#define PU_ERROR_EVENT_NOT_COUNTING -229
#define PU_ERROR_EVENT_ALREADY_COUNTING -231
#define PU_ERROR_INSUFFICIENT_RESOURCES -241
#define PI_ERROR_FORKED -1001 /* our addition: the trace is the parent's, see above */

/* The code's name and meaning, static storage, never null. */
const char *RcToString(int rc);

/* Our addition: what the last failed call of this thread ran into and what to do about it: one or
 * two sentences. Never null, empty after a success; valid until the thread's next call.
 */
const char *PiErrorText(void);

/* ---- library and driver ------------------------------------------------------------------- */
/* major << 24 | minor << 16 | revision */
uint32_t GetDLLVersionEx(void);

/* ABI version of the loaded module as major << 24 | minor << 16, 0 when it is not loaded. */
uint32_t GetDDVersionEx(void);

/* 1 when /dev/pitrace exists, else 0. */
int IsDeviceDriverInstalled(void);

/* 1 when ticks can be had on this machine from either source, else 0. */
int IsTprofSupported(void);

/* The trace clock now, nanoseconds of CLOCK_MONOTONIC. */
uint64_t ReadCycles(void);

/* Nominal speed of the processor in Hz, 0 when the system does not tell. */
uint64_t GetProcessorSpeed(void);

/* Processors online now. */
int PiGetActiveProcessorCount(void);

/* Their numbers, in order: as many as there are room for, n, are written to list, which may be null when
 * n is 0. Returns how many there are; 0 when the system does not tell. PU_ERROR_NULL_POINTER.
 */
int GetActiveProcessorList(int *list, int n);

/* ---- source and scope (before TraceInit) --------------------------------------------------- */
#define PI_SOURCE_AUTO 0   /* the module when its device can be opened, else perf */
#define PI_SOURCE_DRIVER 1
#define PI_SOURCE_PERF 2

/* Our addition. PU_ERROR_INVALID_PARAMETER, PU_ERROR_INCORRECT_STATE once initialised. */
int PiSetSource(int source);

#define TRACE_SCOPE_SYSTEM 0
#define TRACE_SCOPE_PROCESS 1
#define PI_SCOPE_AUTO 2 /* our addition: the system where permitted, else the process (default) */

/* pid: the process whose ticks and names are wanted, and its children's; used by the perf source
 * when the scope is, or becomes, one process. Ignored by the module, which always sees the system.
 * PU_ERROR_INVALID_PARAMETER, PU_ERROR_INCORRECT_STATE once initialised.
 */
int TraceSetScope(int scope, int pid);

/* ---- trace -------------------------------------------------------------------------------- */
#define COLLECTION_MODE_NORMAL 0     /* recording stops by itself when a buffer is full */
#define COLLECTION_MODE_WRAP 1       /* the newest trace records survive; names go to a file */
#define COLLECTION_MODE_CONTINUOUS 2 /* everything goes to a file while it is recorded */

/* PU_ERROR_INVALID_PARAMETER, PU_ERROR_INCORRECT_STATE once initialised. */
int TraceSetMode(int mode);

#define PI_FILE_NAME_DEFAULT "swtrace.nrm2"

/* The trace file: what continuous mode writes to, and where TraceWriteBufferToFile(NULL) writes. In
 * wrap-around mode names go to the file of that name with ".mte" appended. TraceOn() makes the file anew
 * in these modes; an older one becomes NAME.old. At most 1023 characters.
 * PU_ERROR_NULL_POINTER, PU_ERROR_INVALID_PARAMETER, PU_ERROR_INCORRECT_STATE once initialised.
 */
int TraceSetName(const char *name);

/* Never null; static storage. */
const char *TraceGetName(void);

#define PI_SECTION_BYTES_DEFAULT (64u << 10)
#define PI_SECTION_BYTES_MIN (4u << 10)

/* Bytes that are written to the file in one piece (continuous and wrap-around mode), raised to
 * PI_SECTION_BYTES_MIN. TraceInit() refuses more than half of a buffer.
 * PU_ERROR_INCORRECT_STATE once initialised. */
int TraceSetSectionSize(uint32_t bytes);

#define PI_TRACE_BYTES_DEFAULT (3u << 20)
#define PI_MTE_BYTES_DEFAULT (5u << 20)
#define PI_BUFFER_BYTES_MIN (64u << 10)

/* MTE buffer of each CPU in bytes, raised to PI_BUFFER_BYTES_MIN; default 5 MB.
 * PU_ERROR_INCORRECT_STATE once initialised. */
int TraceSetMteSize(uint32_t bytes);

/* Whether anonymous executable mappings are recorded (default 1). PU_ERROR_INCORRECT_STATE. */
int SetTraceAnonMTE(int on);

/* Allocates a trace and an MTE buffer for every CPU; bytes is the trace buffer's size, raised to
 * PI_BUFFER_BYTES_MIN. No major is enabled afterwards.
 * PU_ERROR_DRIVER_NOT_LOADED (source driver only), PU_ERROR_ACCESS_DENIED,
 * PU_ERROR_FACILITY_BUSY (another process owns the trace; the text says which),
 * PU_ERROR_NOT_ENOUGH_MEMORY, PU_ERROR_NOT_SUPPORTED (neither source works here; the text says
 * why), PU_ERROR_INVALID_PARAMETER (sections too large for the buffers), PU_ERROR_FILE (the file of
 * continuous or wrap-around mode cannot be made), PU_ERROR_INCORRECT_STATE (this process has already
 * initialised).
 */
int TraceInit(uint32_t bytes);

#define ALL_MAJORS 0
#define PI_MAJORS_TPROF 255 /* the majors that a tprof report needs */

/* major 0 all, 255 the tprof set; may be called while on. The system's own: 3 exceptions, 4
 * interrupts, 5 system calls, 0x12 dispatches, 0x13 task switches with stack pointers; the others of 1
 * to 254 but for ticks (0x10) and names (0x19) are for user hooks. Of the system's own perf makes
 * dispatches alone, from its context-switch events; enabled by themselves the others are refused, among
 * all they are what PiCannotSee() tells.
 * PU_ERROR_INVALID_PARAMETER above 255, PU_ERROR_NOT_SUPPORTED (perf cannot make them),
 * PU_ERROR_NOT_INITIALIZED.
 */
int TraceEnable(int major);
int TraceDisable(int major);

/* 1 enabled, 0 not, PU_ERROR_NOT_INITIALIZED. */
int TraceQueryMajor(int major);

/* Ticks by time, as they are after TraceInit(): so many a second of every CPU, 1 to 10,000; 0 means
 * the default of 100. Ends what TraceSetTprofEvent() and PiSetTprofEvent() have set.
 * PU_ERROR_INVALID_PARAMETER, PU_ERROR_NOT_INITIALIZED, PU_ERROR_INCORRECT_STATE while on.
 */
int SetProfilerRate(int rate);

#define ALL_CPUS -1

#define PI_PRIV_KERNEL 1 /* where an event is counted */
#define PI_PRIV_USER 2
#define PI_PRIV_BOTH 3

#define PI_EVENT_PERIOD_DEFAULT 10000000ull

/* Ticks by events (tprof's event mode): one tick at every count events of each CPU.
 * cpu: ALL_CPUS. event: one of the original's numbers, 101 (NONHALTED_CYCLES) to 195; they stand for
 * events of the kernel's perf counters:
 *   101 cpu-cycles; 102, 103 instructions; 106 branch-instructions; 107 branch-misses; 109
 *   iTLB-load-misses; 114, 116 LLC-load-misses; 115, 117 LLC-loads; 118 node-loads; 119 node-stores;
 *   125 alignment-faults; 137 L1-dcache-load-misses; 138, 157 L1-dcache-loads; 139, 145
 *   L1-icache-load-misses; 140, 144 L1-icache-loads; 141, 142 dTLB-load-misses; 143
 *   dTLB-store-misses; 150 ref-cycles; 158 L1-dcache-stores; the others have no counterpart.
 * priv: PI_PRIV_*. Definition: the original library's list of events and its use of perf_events, but
 * for 142 and 143, which counted all accesses there, against their names DTLB_MISS_LD and _ST.
 *
 * PU_ERROR_NOT_SUPPORTED (one CPU alone, a module older than this library), PU_ERROR_INVALID_METRIC
 * (no such number; the numbers 0, 1 ... of counters are not taken), PU_ERROR_INVALID_PARAMETER (a count
 * of 0), PU_ERROR_INVALID_PRIVILEGE, PU_ERROR_EVENT_NOT_SUPPORTED (this machine does not count it: the
 * text names what works), PU_ERROR_FACILITY_BUSY (no counter is free), PU_ERROR_ACCESS_DENIED,
 * PU_ERROR_NOT_INITIALIZED, PU_ERROR_INCORRECT_STATE while on.
 */
int TraceSetTprofEvent(int cpu, int event, uint32_t count, int priv);

/* Our addition: as TraceSetTprofEvent(), by name. name: one of the original's numbers or names (INSTR);
 * the kernel's generic ones as perf has them (cpu-cycles, page-faults, L1-dcache-load-misses); rHEX, a
 * raw number; PMU/EVENT/ or PMU/TERM=VALUE,.../ from /sys/bus/event_source/devices; one of libpfm4's
 * with its unit masks and modifiers. Looked up in that order; the first two whatever their case.
 * cpu-clock and task-clock count nanoseconds. count: 1 to 2^62. random: 1 to have each period drawn
 * from 0.75 to 1.25 of count, so that ticks do not stay in phase with a loop; only the module can.
 *
 * PU_ERROR_NULL_POINTER, PU_ERROR_INVALID_METRIC (nobody knows the name), PU_ERROR_NOT_SUPPORTED
 * (random with perf; a module older than this library), and the others of TraceSetTprofEvent().
 */
int PiSetTprofEvent(const char *name, uint64_t count, int priv, int random);

#define PI_STACKS_OFF 0
#define PI_STACKS_KERNEL 1
#define PI_STACKS_USER 2
#define PI_STACKS_BOTH 3

/* Our addition: has ticks and dispatches carry stacks from the next TraceOn() on; off after TraceInit().
 * which: PI_STACKS_*. depth: frames of the kernel and of the user each, 1 to 127; 0 means 64. User
 * stacks follow frame pointers: code that was compiled without them ends a stack. perf gives at most
 * kernel.perf_event_max_stack frames, both sides together, does not tell a stack that ended from
 * one that broke, and gives the stacks of dispatches only where the kernel may be seen.
 * PU_ERROR_INVALID_PARAMETER, PU_ERROR_NOT_SUPPORTED (a module older than this library),
 * PU_ERROR_NOT_INITIALIZED, PU_ERROR_INCORRECT_STATE while on.
 */
int TraceSetStacks(int which, int depth);

/* Starts recording: empties the buffers, writes start-up information and what runs now. A child of
 * fork() gets PI_ERROR_FORKED from this and from all calls up to TraceWriteBufferToFile(): the trace is
 * its parent's.
 * In continuous and wrap-around mode also makes the trace's file.
 * PU_ERROR_NOT_INITIALIZED, PU_ERROR_INCORRECT_STATE when on, PU_ERROR_ACCESS_DENIED,
 * PU_ERROR_NOT_ENOUGH_MEMORY, PU_ERROR_FILE, PU_ERROR_FACILITY_BUSY and PU_ERROR_EVENT_NOT_SUPPORTED
 * (the counters that the event needs).
 */
int TraceOn(void);

/* Between TraceOn() and TraceOff(): from now on nothing but names is recorded, until TraceResume().
 * Names go on, because what is recorded later needs them. Repeated calls succeed.
 * PU_ERROR_NOT_INITIALIZED, PU_ERROR_INCORRECT_STATE when not on.
 */
int TraceSuspend(void);
int TraceResume(void);

/* Throws away what has been recorded since TraceOn(), but for names; recording goes on. In continuous
 * mode the file begins anew, too. PU_ERROR_NOT_INITIALIZED, PU_ERROR_INCORRECT_STATE when not on,
 * PU_ERROR_BUFFER_FULL when recording has ended by itself, PU_ERROR_FILE.
 */
int TraceDiscard(void);

/* Stops recording; the buffers keep what they hold. PU_ERROR_BUFFER_FULL: it had stopped by
 * itself before (still a success: the trace can be written). In continuous and wrap-around mode the
 * file is completed. PU_ERROR_NOT_INITIALIZED, PU_ERROR_INCORRECT_STATE when not on, PU_ERROR_FILE
 * (the trace is off, its file lacks the newest records and says so).
 */
int TraceOff(void);

/* Turns off if on, frees the buffers, gives up ownership. PU_ERROR_NOT_INITIALIZED. */
int TraceTerminate(void);

/* Writes the buffers, the kernel's symbols and modules and the build-ids of what was mapped to a
 * new file of mode 0600. An existing regular file of that name is replaced in one step when the
 * new one is complete; when the disk fills, what was written stays, is readable, and says so.
 * A symbolic link or a file that is not regular is refused. name null: TraceGetName().
 * Wrap-around mode: what the buffers hold at this moment, and all names; recording goes on. Continuous
 * mode: copies the file, where name is another one.
 * PU_ERROR_NOT_INITIALIZED, PU_ERROR_INCORRECT_STATE while on (but for wrap-around mode) and before the
 * first TraceOn(), PU_ERROR_INVALID_PARAMETER (the file that names stream to), PU_ERROR_FILE.
 */
int TraceWriteBufferToFile(const char *name);

/* 1 or 0. */
int IsTraceOn(void);

/* 1 while records are being stored: on, not suspended and no buffer full. */
int IsTraceActive(void);

/* Counts the successful TraceOn() calls; 0 before the first. */
uint32_t TraceGetIntervalId(void);

/* ---- events ------------------------------------------------------------------------------- */
/* How many of the original's events, 101 to 195, the kernel has a counterpart of that it lets this
 * user sample. 0 in many virtual machines. Never an error.
 */
int GetNumberOfPerfCounterEventsSupported(void);

/* Their numbers and names, in order; static storage, as many as the function above tells.
 * PU_ERROR_NULL_POINTER.
 */
int GetSupportedPerfCounterEventIdList(const int **list);
int GetSupportedPerfCounterEventNameList(const char *const **list);

struct perf_counter_event_info;

/* The same with descriptions. PU_ERROR_NULL_POINTER. */
int GetPerfCounterEventsInfo(const struct perf_counter_event_info **list);

struct pi_event {
	size_t size; /* set to sizeof(struct pi_event) by the caller */
	int id; /* of the original, else 0 */
	int works; /* 1: this user can sample it here */
	const char *group; /* whose name it is: software, hardware, original, device, libpfm4 */
	const char *name; /* for PiSetTprofEvent() */
	const char *meaning; /* another name, its terms, or a sentence; may be empty */
	const char *reason; /* why it does not work: part of a sentence; empty when it does */
};

/* Our addition: the index-th event that is known by name, with what came of trying it; it is not
 * counted by that. The texts are static storage. The first call of a process lists and tries them all.
 * PU_ERROR_NULL_POINTER, PU_ERROR_INVALID_PARAMETER (size is not set, there is no such index).
 */
int PiEvent(unsigned int index, struct pi_event *event);

/* ---- counters ----------------------------------------------------------------------------- */
/* Events counted on every CPU, for everybody, from InitPerfCounterEvent() to TerminatePerfCounterEvent()
 * or the process's end. The kernel's perf counters do it, pinned: they count all the time or not at
 * all, and no number is an estimate. An event is one of the original's, by its number (see
 * TraceSetTprofEvent()), or a number that PiInitPerfCounterEvent() gave. Numbers of registers (CTR0) are
 * not taken.
 */
#define PI_EVENT_ID_FIRST 101
#define PI_EVENT_NONHALTED_CYCLES 101
#define PI_EVENT_INSTR 102

/* An array of zeros, one for each CPU that may come online, by number. *size becomes its length in
 * bytes; size may be null. Null when there is no memory. FreeCtrValueArray() takes null.
 */
uint64_t *AllocCtrValueArray(int *size);
void FreeCtrValueArray(uint64_t *values);

/* Sets such an array to zeros. PU_ERROR_NULL_POINTER. */
int ZeroCtrValueArray(uint64_t *values);

/* How many hardware events the processor counts at once, found by asking the kernel for more and more
 * branch-instructions; 0 where there are no counters. Never an error.
 */
int GetNumberOfSimultaneousPerfCounterEventsSupported(void);

/* 1 when this user can count the original's event on all CPUs here, else 0. */
int IsPerfCounterEventSupported(int event);

/* 1 while this process counts it, or any, else 0. */
int IsPerfCounterEventActive(int event);
int AnyPerfCounterEventActive(void);

struct perf_counter_event_info {
	const char *name;
	const char *description; /* "" for those without a counterpart */
	int id;
};

/* Of the original's events, whether they work here or not; static storage. Null, or 0, for what is none. */
const struct perf_counter_event_info *GetPerfCounterEventInfoFromId(int event);
const char *GetPerfCounterEventNameFromId(int event);
int GetPerfCounterEventIdFromName(const char *name);

/* Begins to count from 0. priv: PI_PRIV_*.
 * PU_ERROR_INVALID_METRIC (no such number), PU_ERROR_INVALID_PRIVILEGE, PU_ERROR_EVENT_ALREADY_COUNTING,
 * PU_ERROR_EVENT_NOT_SUPPORTED (this machine does not count it), PU_ERROR_FACILITY_BUSY (no counter is free),
 * PU_ERROR_ACCESS_DENIED, PU_ERROR_NOT_ENOUGH_MEMORY, PU_ERROR_NOT_SUPPORTED (the system does not
 * tell its CPUs).
 */
int InitPerfCounterEvent(int event, int priv);

/* Our addition: the same by any name that PiSetTprofEvent() takes, or one that PiLoadEventDefinitions() has
 * read, which comes before the others. Returns the event's number, above 0, for the functions below; the
 * original's own where the name is one of its. Also PU_ERROR_NULL_POINTER.
 */
int PiInitPerfCounterEvent(const char *name, int priv);

/* All five: PU_ERROR_EVENT_NOT_COUNTING when it has not been initialised. Stopping and resuming keep the
 * counts; CPUs stop one after the other. PU_ERROR_FACILITY_BUSY: its counters have been taken meanwhile.
 */
int TerminatePerfCounterEvent(int event);
int StopPerfCounterEvent(int event);
int ResumePerfCounterEvent(int event);
int ResetPerfCounterEvent(int event);

/* counts: what each CPU has counted since the event was initialised or reset. times, which may be null: for
 * how many nanoseconds it has; the original gave cycles. A CPU that went offline keeps what it had, one
 * that came online counts from the next call on. Both are arrays of AllocCtrValueArray(). Counters that the
 * CPUs of a package share count on one of them; the others have 0 and the time 0.
 * PU_ERROR_NULL_POINTER and as above.
 */
int ReadPerfCounterEvent(int event, uint64_t *counts, uint64_t *times);

/* Our addition: reads definitions of one's own events, pitrace-events(5), all of the file or nothing. What was
 * defined before by the same name is replaced; what is being counted stays.
 * PU_ERROR_NULL_POINTER, PU_ERROR_FILE (it cannot be read), PU_ERROR_INVALID_PARAMETER (the text names the
 * line and what is wrong with it).
 */
int PiLoadEventDefinitions(const char *file);

/* Our addition: as PiEvent(), but works tells whether this user can count it on all CPUs here, which is more
 * than can be sampled. Those that PiLoadEventDefinitions() has read come first, as group "own".
 */
int PiCounterEvent(unsigned int index, struct pi_event *event);

/* ---- cycles per instruction ---------------------------------------------------------------- */
#define PI_CPI_RAW 1 /* of every CPU and the system: always */
#define PI_CPI_SCALED 2 /* and with AboveIdle's busy time */
#define PI_CPI_THREAD 4 /* of the thread that called CpiInit() */
#define PI_CPI_TRACE_ON_GET 8 /* CpiGet() is CpiGetAndTrace() */
#define PI_CPI_TRACE_ONLY 0x10 /* the same, and its caller does not look at the data */
#define PI_CPI_TRACE_SUMMARY 0x20 /* one record, of the system: the default */
#define PI_CPI_TRACE_DETAIL 0x40 /* and one of each CPU */

#define PI_CPI_MAJOR 0xc0
#define PI_CPI_MINOR 1

/* Sums since CpiStart(). Instructions are those completed in and outside of interrupts. A ratio is 0 where
 * no instruction was completed.
 */
struct pi_cpi {
	int cpu; /* ALL_CPUS: the system, or the thread */
	uint64_t counted_ns; /* how long it was counted; of the system the sum over its CPUs */
	uint64_t cycles; /* of the time-stamp counter meanwhile; not of a thread */
	uint64_t busy_cycles; /* the part of them outside the idle task (PI_CPI_SCALED), interrupts included */
	uint64_t active_cycles; /* of the processor while not halted (cpu-cycles) */
	uint64_t instructions;
	double raw_cpi; /* cycles / instructions */
	double scaled_cpi; /* busy_cycles / instructions */
	double active_cpi; /* active_cycles / instructions */
};

struct cpi_data {
	int mode; /* PI_CPI_RAW | ... */
	uint64_t elapsed_ns; /* since CpiStart() */
	int cpu_count;
	const struct pi_cpi *cpus; /* in order of their numbers */
	struct pi_cpi system; /* sums over CPUs, and their ratios */
	struct pi_cpi thread;
};

/* 1 when this user can count cycles and instructions of all CPUs, else 0. */
int IsCpiSupported(void);

/* Cycles and instructions of a CPU are counted together, all the time or not at all. flags: PI_CPI_*.
 * PU_ERROR_NULL_POINTER, PU_ERROR_INVALID_PARAMETER (unknown flags), and as InitPerfCounterEvent(). */
int CpiInit(int flags, void **handle);

/* Our additions: counting in user mode, kernel mode or both (CpiInit()); and of process pid, a thread of it
 * alone, with all that it starts from now on, from its next exec on, as PI_CPI_THREAD. Also
 * PU_ERROR_INVALID_PRIVILEGE.
 */
int PiCpiInit(int flags, int priv, void **handle);
int PiCpiInitProcess(int pid, int priv, void **handle);

/* All that follow: PU_ERROR_INVALID_PARAMETER when the handle is none. Measuring begins, anew every time;
 * that of PiCpiInitProcess() has begun already. PU_ERROR_FACILITY_BUSY and as InitPerfCounterEvent(). */
int CpiStart(void *handle);

/* *data is the handle's until its next call. PU_ERROR_NULL_POINTER, PU_ERROR_NOT_INITIALIZED before
 * CpiStart(), PU_ERROR_FACILITY_BUSY (the counters have been taken away). */
int CpiGet(void *handle, const struct cpi_data **data);

/* Writes it to the trace, too, as a record of major 0xc0: ints cpu (0xffffffff: all), mode, and low and high
 * halves of elapsed_ns, counted_ns, cycles, busy_cycles, active_cycles, instructions; strings "#CPI"
 * and the label. flags: PI_CPI_TRACE_*; label: at most 256 bytes, null for that of CpiSetTraceHookId(); data may be
 * null. Also what PiTraceHook() gives, after *data is set. */
int CpiGetAndTrace(void *handle, int minor, int flags, const char *label, const struct cpi_data **data);

/* For records of PI_CPI_TRACE_ON_GET; before, minor 1 and no label. */
int CpiSetTraceHookId(void *handle, int minor, const char *label);

/* PI_CPI_RAW | ..., without those for traces. */
int CpiGetCurrentMode(void *handle);
int CpiTerminate(void *handle);

/* ---- model-specific registers (our names) --------------------------------------------------- */
#define PI_MSR_UNREADABLE 0xBAD0BAD1BAD2BAD3ull

/* Through the kernel's msr device, for root (CAP_SYS_RAWIO). cpu: one that is online. *value becomes
 * PI_MSR_UNREADABLE when it cannot be read. Reading may have side effects, and writing can stop the machine:
 * the processor's manual tells.
 * PU_ERROR_NULL_POINTER, PU_ERROR_INVALID_PARAMETER (no such CPU), PU_ERROR_NOT_SUPPORTED (no such
 * device: the text tells why and what to do), PU_ERROR_ACCESS_DENIED (no rights; for writing also a kernel
 * that is locked down), PU_FAILURE (the processor refuses: no such register, or not that value).
 */
int PiReadMsr(int cpu, uint32_t number, uint64_t *value);
int PiWriteMsr(int cpu, uint32_t number, uint64_t value);

/* ---- AboveIdle ---------------------------------------------------------------------------- */
/* Where the time of each CPU goes: to the idle task, to other tasks, to interrupts. From the module's
 * hooks when its device can be opened, else from /proc/stat. Needs no trace and no TraceInit(), and
 * runs beside any trace. One use of it in a process.
 */
#define PI_AI_HOOKS 1     /* exact */
#define PI_AI_PROC_STAT 2 /* idle time in steps of 10 ms; interrupts as the kernel's clock tick met
                           * them, unless the kernel was built to measure them */

/* Sums since AiInit(). Field names are the original's; it counted cycles, we nanoseconds.
 * CurTime = IdleTime + BusyTime + IntrTime; the time that a hypervisor takes away is in BusyTime.
 */
struct ai_counters {
	uint64_t CurTime; /* 0: this CPU is not online */
	uint64_t IdleTime; /* the idle task, outside interrupts */
	uint64_t BusyTime; /* any other task, outside interrupts */
	uint64_t IntrTime; /* interrupts, and the soft interrupts on their way out */
	uint32_t DispCnt; /* dispatches; 0 from /proc/stat */
	uint32_t IntrCnt; /* interrupts; 0 from /proc/stat */
};

/* 1: it always is, from one source or the other. */
int IsAiSupported(void);

/* 1 between AiInit() and AiTerminate(), else 0. */
int IsAiActive(void);

/* PU_ERROR_INCORRECT_STATE when active, PU_ERROR_NOT_SUPPORTED (no module and no /proc/stat). */
int AiInit(void);

/* PU_ERROR_NOT_INITIALIZED. */
int AiTerminate(void);

/* Our addition: PI_AI_HOOKS or PI_AI_PROC_STAT; 0 before AiInit(). */
int PiAiSource(void);

/* An array of zeros, one for each CPU that may come online, by number. *size becomes its length in
 * bytes; size may be null. Null when there is no memory. Any thread; AiFreeCounters() ends it and takes
 * null.
 */
struct ai_counters *AiAllocCounters(int *size);
void AiFreeCounters(struct ai_counters *counters);

/* Sets such an array to zeros. PU_ERROR_NULL_POINTER. */
int AiZeroCounters(struct ai_counters *counters);

/* Fills such an array. PU_ERROR_NULL_POINTER, PU_ERROR_NOT_INITIALIZED, PU_FAILURE (the source
 * does not answer).
 */
int AiGetCounters(struct ai_counters *counters);

/* ---- ITrace ------------------------------------------------------------------------------- */
/* Which instructions threads execute, user's and kernel's, as the branches that they take. Order:
 * TraceInit, TraceOn, ITraceInit, ITraceEnable*, ITraceOn ... ITraceOff, ITraceTerminate, TraceOff. The
 * process that owns the trace installs ITrace and enables what it likes; any program that may open the
 * device enables itself and turns ITrace on and off for its own threads, whoever owns the trace.
 *
 * Without the module the source perf has user code alone followed, by ptrace, of processes that are
 * enabled one by one before ITraceOn() and that this user may trace; not of the caller's own.
 *
 * A traced thread runs a hundred and more times slower. Warm up what is to be measured, and keep it short.
 */
#define PI_ITRACE_RING 0x01        /* records tell user from kernel code; always */
#define PI_ITRACE_COUNT 0x02       /* records tell how many instructions were executed */
#define PI_ITRACE_STEP 0x04        /* step instructions also where the processor can trap branches; COUNT does */
#define PI_ITRACE_INTERRUPTS 0x10  /* show where interrupts came and how long they took */
#define PI_ITRACE_NO_KERNEL 0x100  /* our additions, from here on: user code only */
#define PI_ITRACE_NO_USER 0x200    /* kernel code only; only the module can */
#define PI_ITRACE_CHILDREN 0x400   /* also processes that a traced one forks */
#define PI_ITRACE_CONTINUOUS 0x800 /* lose nothing of user code: hold threads back until there is room */

/* Return codes of all that follow, in the order in which they are looked for:
 * PU_ERROR_DRIVER_NOT_LOADED, PU_ERROR_ACCESS_DENIED (the device, or what only the owner of the trace
 * may do), PU_ERROR_NOT_SUPPORTED (a module older than this library, a kernel without the hooks that
 * are needed, what ptrace cannot do), PU_ERROR_NOT_INITIALIZED (the owner has not called TraceInit()),
 * PU_ERROR_INCORRECT_STATE (ITrace is not installed, or what each tells), and what each tells.
 */

/* flags: PI_ITRACE_*. Forgets which processes were enabled, and has the records of ITrace and names (major
 * 0x19) recorded. PU_ERROR_INCORRECT_STATE when installed, PU_ERROR_INVALID_PARAMETER,
 * PU_ERROR_NOT_ENOUGH_MEMORY.
 */
int ITraceInit(int flags);

/* Our addition. threads: how many can be traced at a time, 1 to 65,536; 0: 4,096. reserve: with
 * PI_ITRACE_CONTINUOUS, bytes of each CPU's buffer that are kept for what a thread does in the kernel, where
 * it cannot be held back; 0: 4 MB.
 */
int PiITraceInit(int flags, uint32_t threads, uint32_t reserve);

/* Turns ITrace off for all, and leaves nothing behind. PU_ERROR_INCORRECT_STATE when not installed. */
int ITraceTerminate(void);

#if defined(__GNUC__) && !defined(__clang__) && !defined(PI_NO_PLT) /* clang has -fno-plt only */
/* The linker finds them when the program is loaded: not, instruction by instruction, when the first of them
 * is called while ITrace is on. */
#define PI_NO_PLT __attribute__((__noplt__))
#elif !defined(PI_NO_PLT)
#define PI_NO_PLT
#endif

/* Turn ITrace on and off: of the calling thread, where a program calls them; of all threads of the enabled
 * processes and of those that they start, where the trace's owner does. Any thread. What ITraceOn() does
 * last, and ITraceOff() first, is the system call: a constant few instructions of theirs are in the
 * trace. The first call of a process takes longer, as it opens the device; call ITraceEnableCurrent()
 * before, which does it. A child of fork() is a program of its own.
 * PU_ERROR_INCORRECT_STATE (not installed, no trace on, not enabled; on, or off, already),
 * PU_ERROR_INSUFFICIENT_RESOURCES (as many threads as there is room for are traced).
 */
int ITraceOn(void) PI_NO_PLT;
int ITraceOff(void) PI_NO_PLT;

/* Forgets the processes that were enabled; call it before enabling others. The owner. */
int ITraceDisable(void);

/* Which processes can be traced, in the initial pid namespace's numbers: all, the caller's, one, those
 * with this number or a greater one, a range, the count ones in the list, up to the first error. They add to
 * what is enabled; 64 ranges at most.
 * PU_ERROR_INVALID_PARAMETER, PU_ERROR_NULL_POINTER, PU_ERROR_INSUFFICIENT_RESOURCES (too many ranges);
 * without the module PU_ERROR_NOT_SUPPORTED for more than one at a time, and for the caller's own.
 */
int ITraceEnableAll(void);
int ITraceEnableCurrent(void);
int ITraceEnablePid(int pid);
int ITraceEnableGreater(int pid);
int ITraceEnableRange(int first, int last);
int ITraceEnableList(const int *pids, int count);

/* Accepted, and does nothing: the original let every count-th timer interrupt only through while it
 * traced, so that time did not run away; we leave the timer alone. PU_ERROR_INVALID_PARAMETER below 0.
 */
int ITraceSetSkipCount(int count);

/* The original's older names. The ITrace_On_* enable and then do as ITraceOn(). */
int ITrace_Set_Skip_Count(int count);
int ITrace_On_CurPID(void);
int ITrace_On_GTPID(int pid);
int ITrace_On_PIDList(const int *pids, int count);
int ITrace_Off(void);

#define PI_ITRACE_BY_BRANCH_TRAP 1 /* the processor stops user code at taken branches; the kernel is stepped */
#define PI_ITRACE_BY_STEP 2        /* the module steps every instruction */
#define PI_ITRACE_BY_PTRACE 3      /* the trace's owner does, user code only */

struct pi_itrace_status {
	size_t size; /* set to sizeof(struct pi_itrace_status) by the caller */
	int installed;
	int on; /* for all enabled processes */
	int flags; /* PI_ITRACE_* */
	int how; /* PI_ITRACE_BY_*; 0 when not installed */
	uint32_t threads; /* traced now */
	uint32_t untraced; /* for which there was no room, or that could not be traced */
	uint32_t dirty; /* that may still carry a trap flag, after ITraceTerminate() */
	uint64_t steps; /* stops since ITraceInit() */
	uint64_t branches; /* recorded */
	uint64_t gaps;
};

/* Our addition. PU_ERROR_NULL_POINTER, PU_ERROR_INVALID_PARAMETER when size is not set. */
int PiITraceStatus(struct pi_itrace_status *status);

/* ---- user hooks --------------------------------------------------------------------------- */
#define PI_HOOK_INTS_MAX 126
#define PI_HOOK_STRINGS_MAX 16
#define PI_HOOK_STRING_BYTES_MAX 2048
#define PI_HOOK_BYTES_MAX 4000 /* 12, 4 an int, with strings 4, and 4 and its bytes, rounded up to a
                                * multiple of 4, a string */

/* Writes one record of the caller's own into the trace that runs on this machine: the module's,
 * when this process may open its device, else that of a recorder of this user (or of the one that
 * the environment variable PITRACE_SOCKET names, if it is this user's or root's). The record gets
 * the time and the CPU at which it was written; who wrote it is for the ints to tell. Any process,
 * any thread; no TraceInit() is needed.
 *
 * major 1 to 254. A major that is not enabled is not stored, which is a success, and costs some
 * nanoseconds; so does a hook before TraceOn(), after TraceOff() and while suspended. By some
 * majors a reader tells when and where records of others were made, so that one false record would
 * falsify the rest: 1, 8, 9 and 0xa8 (time), 3, 4, 5, 0x12 and 0x13 (what the kernel did), 0x10
 * (ticks), 0x11 (start-up) and 0x19 (names of code and processes) are refused, but for 0x19 with
 * minor 0x41 and 0x42 in the form of pitrace/abi.h, whose pid is filled in.
 *
 * After string_count come int_count arguments of type unsigned int, then for each string its
 * length in bytes as unsigned int and a pointer to its first byte. No terminator is needed or
 * stored; the bytes may be any.
 *
 * Async-signal-safe; errno is kept. But a handler must not leave by longjmp(), or fork() and go on
 * as the child, when it has interrupted a hook. In a child of fork(), hooks are the child's own.
 * The first hook of a process connects it; without a trace the next attempt is made after 0.1 s,
 * until when a hook costs some nanoseconds. A recorder that does not answer may hold the first
 * hook up for a second.
 *
 * PU_ERROR_INVALID_PARAMETER (such a major), PU_ERROR_HOOK_TOO_LONG (more than one of the limits
 * above), PU_ERROR_NULL_POINTER, PU_ERROR_NO_BUFFER (nobody has initialised a trace that this
 * process may write to), PU_ERROR_BUFFER_FULL (there was no room; the loss is counted in the
 * trace), PU_ERROR_NOT_ENOUGH_MEMORY. They leave no text for PiErrorText(). Apart from the first,
 * a hook that is not wanted may or may not be examined for them.
 */
int TraceHook(uint32_t major, uint32_t minor, uint32_t int_count, uint32_t string_count, ...);

struct pi_hook_string {
  const void *data;
  size_t length; /* bytes */
};

/* Our addition: as TraceHook(), with the ints and strings in arrays; an array of none may be null. */
int PiTraceHook(uint32_t major, uint32_t minor, const uint32_t *ints, uint32_t int_count,
                const struct pi_hook_string *strings, uint32_t string_count);

/* Our addition: the interval id (TraceGetIntervalId() of its owner) of the trace that hooks of this
 * process go to, while it is on, else 0. Any process, any thread, async-signal-safe; connects as a
 * hook does.
 */
uint32_t PiTraceHookInterval(void);

/* ---- status (our addition) ----------------------------------------------------------------- */
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
	uint32_t rate; /* ticks a second asked for, 0: ticks are by events */
	uint64_t tick_ns; /* mean distance of two ticks as the source does it, nanoseconds, or 0 */
	struct pi_trace_counts trace; /* sums over all CPUs */
	struct pi_trace_counts mte;
	uint64_t missed; /* hits of the module's hooks that the kernel skipped */
	uint64_t throttled; /* perf: times its clock was throttled */
	int mode; /* COLLECTION_MODE_* */
	int suspended;
	uint64_t overwritten; /* trace records that newer ones have taken the place of */
	uint64_t period; /* events a tick, 0: ticks are by time */
	int stacks; /* PI_STACKS_* */
	int depth; /* of the stacks */
	const char *event; /* what a tick counts, "" for time; static storage */
};

/* PU_ERROR_NULL_POINTER, PU_ERROR_INVALID_PARAMETER when size is not set,
 * PU_ERROR_NOT_INITIALIZED before TraceInit(). */
int PiTraceStatus(struct pi_trace_status *status);

/* One sentence on the index-th thing the active source cannot see, null when there are no more;
 * static storage. */
const char *PiCannotSee(unsigned int index);

/* One sentence on the index-th thing that users of this trace should know (why the module was not
 * taken, processors that came or went), null when there are no more; static storage. */
const char *PiNote(unsigned int index);

#ifdef __cplusplus
}
#endif

#endif /* PERFUTIL_H */
