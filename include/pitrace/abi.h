/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * The contract between the pitrace module and user space: trace records, ioctls, mapped areas.
 *
 * Compiles as kernel C, C11 and C++. Everything here is little-endian x86-64 today; fields are
 * fixed width and naturally aligned, holes are named reserved and must be zero.
 *
 * Definitions come from "Performance Inspector Tools with Instruction Tracing and Per-Thread /
 * Function Profiling" (Linux Symposium 2008), section 2 and Figure 1, and from the numbers that
 * Performance Inspector published. Additions of this project are marked "our addition".
 *
 * Performance Inspector's words: a tick is a sample, a dispatch a context switch; a major is an
 * event class, a minor an event id; MTE records are process and mapping metadata.
 */
#ifndef PITRACE_ABI_H
#define PITRACE_ABI_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* ---- version -------------------------------------------------------------------------------
 * A different major number is refused by libperfutil when it opens the device; a higher minor
 * number only adds records or ioctls.
 */
#define PITRACE_ABI_MAJOR 2
#define PITRACE_ABI_MINOR 8

#define PITRACE_DEVICE_NAME "pitrace"
#define PITRACE_DEVICE_PATH "/dev/pitrace"

/* ---- trace records -------------------------------------------------------------------------
 * Header, then 32-bit ints, then (type 2) strings. The low two bits of type_length are the
 * type, the rest is the record's length in bytes, header included, always a multiple of four.
 *
 * The time is the low half of CLOCK_MONOTONIC in nanoseconds. A change of the high half is
 * announced within a stream (one CPU, one buffer) by a record of major PITRACE_MAJOR_TIME that
 * precedes the first record to which the new half applies. Every stream starts with one.
 */
struct pitrace_record {
	__u16 type_length;
	__u16 major;
	__u32 minor;
	__u32 time_lo;
};

#define PITRACE_TYPE_INTS	0 /* n ints; their number follows from the length */
#define PITRACE_TYPE_STRINGS	2 /* int count, ints, then per string: length, bytes, zeros to 4 */
#define PITRACE_TYPE_MASK	0x0003
#define PITRACE_LENGTH_MASK	0xfffc

#define PITRACE_MAX_RECORD	4000 /* bytes a writer may use, except for deep stacks; readers accept
				      * PITRACE_LENGTH_MASK
				      */
#define PITRACE_MAX_INTS	126
#define PITRACE_MAX_STRINGS	16
#define PITRACE_MAX_STRING	2048

/* ---- majors --------------------------------------------------------------------------------
 * 1 to 254 can be enabled and disabled one by one. The time and the start-up group are written
 * whatever is enabled: the other records cannot be read without them.
 */
#define PITRACE_MAJOR_ALL	0x00 /* in enable and disable: every major */
#define PITRACE_MAJOR_EXCEPTION 0x03
#define PITRACE_MAJOR_INTERRUPT 0x04
#define PITRACE_MAJOR_SYSCALL	0x05
#define PITRACE_MAJOR_TIME	0x08 /* the high half of the time changed */
#define PITRACE_MAJOR_TPROF	0x10 /* a tick (sample) */
#define PITRACE_MAJOR_SYSTEM	0x11 /* start-up information */
#define PITRACE_MAJOR_DISPATCH	0x12 /* context switches, wake-ups and migrations */
#define PITRACE_MAJOR_SWITCH	0x13 /* a context switch, with both threads and their user stack pointers */
#define PITRACE_MAJOR_MTE	0x19 /* module table entry: names of code and processes */
#define PITRACE_MAJOR_STACK	0x1a /* our addition: the user's frames of a stack, by its id */
#define PITRACE_MAJOR_STACK_COPY 0x1b /* ours, never in a file: registers and bytes of a stack */
#define PITRACE_MAJOR_BRANCH_KERNEL 0x20 /* ITrace: a taken branch of kernel code */
#define PITRACE_MAJOR_BRANCH_USER 0x21 /* ITrace: of user code */
#define PITRACE_MAJOR_CUT_KERNEL  0x28 /* ITrace: an exception or interrupt cuts a flow */
#define PITRACE_MAJOR_CUT_USER	  0x29
#define PITRACE_MAJOR_ITRACE_GAP  0x2b /* ITrace, our addition: instructions that were not followed */
#define PITRACE_MAJOR_ITRACE_THREAD 0x2c /* ITrace: the thread of the following records in this stream */
#define PITRACE_MAJOR_ITRACE_START 0x2e
#define PITRACE_MAJOR_ITRACE_STOP 0x2f
#define PITRACE_MAJOR_TIME_FAKE	0xa8 /* as TIME, put before the remaining records of a ring (wrap-around) */
#define PITRACE_MAJOR_MAX	0xfe
#define PITRACE_MAJOR_TPROF_SET 0xff /* in enable and disable: TPROF and MTE */

/* PITRACE_MAJOR_TIME and _TIME_FAKE: int high */
#define PITRACE_TIME_HIGH 0x01

/* PITRACE_MAJOR_TPROF: minor is PITRACE_TPROF_BASE + privilege level; ints pid, tid, address
 * high, address low, and, our addition, the stack (PITRACE_STACK_*) where it was requested. pid is the
 * process (thread group), both in the initial pid namespace.
 */
#define PITRACE_TPROF_BASE	0x20
#define PITRACE_TPROF_KERNEL	0x20
#define PITRACE_TPROF_USER	0x23
#define PITRACE_TPROF_LEVEL_MASK 0x0f

/* Stacks, our addition: optional, at the end of a TPROF or DISPATCH record. One int, then two ints
 * per frame, high half first: the kernel's frames, then the user's, both innermost first. In a
 * record with an address the stack begins with the caller of that address. If the address is in
 * the kernel, the first user frame is where the thread entered the kernel.
 *
 * Frames are return addresses: they point behind the call.
 */
#define PITRACE_STACK_KERNEL_FRAMES(word) ((word) & 0xff)
#define PITRACE_STACK_USER_FRAMES(word) ((word) >> 8 & 0xff)
#define PITRACE_STACK_KERNEL_BROKEN 0x00010000 /* the kernel's unwinder did not reach the end */
#define PITRACE_STACK_USER_BROKEN   0x00020000 /* invalid frame pointer, or a word that is withheld */
#define PITRACE_STACK_KERNEL_CUT    0x00040000 /* deeper than requested */
#define PITRACE_STACK_USER_CUT	    0x00080000
/* User frames that were found by unwind tables, which perf's recorder may use instead of frame
 * pointers: as many as _TABLE_FRAMES() says, the innermost ones. Further ones are found by frame
 * pointers. A frame of code that a signal has interrupted points behind the first byte of its
 * instruction.
 */
#define PITRACE_STACK_USER_TABLES   0x00100000
#define PITRACE_STACK_USER_WHOLE    0x00200000 /* and the tables say that the last one has no caller */
#define PITRACE_STACK_TABLE_FRAMES(word) ((word) >> 24)
/* One more int after the frames: the id of a copy of the user's registers and stack, on the same CPU.
 * Its further user frames are in the STACK record of that id. An id is not 0, counts from 1 since ON,
 * and can be that of several records: a copy is not repeated while nothing has changed.
 */
#define PITRACE_STACK_USER_ID	    0x00400000
/* These of the user's part. */
#define PITRACE_STACK_USER_FLAGS    0x003a0000
/* The user's part has more frames than the int can count. Its first PITRACE_STACK_COUNTED_FRAMES follow
 * as usual, marked as cut for readers that do not know this bit. Then come, after the id, three
 * ints: the PITRACE_STACK_USER_FLAGS of the whole part, the number of its frames, and how many of them
 * unwind tables have found; then its other frames.
 */
#define PITRACE_STACK_USER_LONG	    0x00800000
#define PITRACE_STACK_COUNTED_FRAMES 255
#define PITRACE_STACK_DEPTH_MAX	    127	       /* frames, of the kernel and of the user each */
#define PITRACE_STACK_DEPTH_DEFAULT 64

/* User frames that are no addresses, since no program can have such ones: an interpreter's frame, named
 * by what it interprets. The recorder writes them; the names are in a section of the file, by number, which
 * counts from 1. A value minus one has the same number, as return addresses are read.
 */
#define PITRACE_FRAME_NAMED(number) (0x4000000000000080ull | (__u64)(number) << 8)
/* No frame of its own: it names the frame before it, which is where the thread entered the kernel. At the
 * beginning of the user's part it names the record's own address.
 */
#define PITRACE_FRAME_OWN(number)   (0x4100000000000080ull | (__u64)(number) << 8)
#define PITRACE_FRAME_IS_NAMED(frame) ((frame) >> 40 == 0x400000)
#define PITRACE_FRAME_IS_OWN(frame) ((frame) >> 40 == 0x410000)
#define PITRACE_FRAME_NUMBER(frame) ((__u32)((frame) >> 8))

/* PITRACE_MAJOR_STACK: minor is the id; ints PITRACE_STACK_USER_* of these frames, the number of
 * frames that unwind tables have found, then two ints per frame, as in a stack. The recorder writes it to the
 * stream of stacks of the CPU, with the time of the copy, so that it is before the records that have its id.
 */

/* Frames of the user that a recorder writes, in either form; the module finds PITRACE_STACK_DEPTH_MAX. */
#define PITRACE_STACK_USER_DEPTH_MAX 1023

/* PITRACE_MAJOR_STACK_COPY: minor is the id; ints pid, tid, then two ints for each register, high half
 * first: those of x86-64 by their DWARF numbers (rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15)
 * and the instruction pointer; then the number of bytes, and the bytes from the stack pointer on,
 * as many as were in memory. If these are of a signal stack (sigaltstack(2)) on which the thread runs, there can
 * follow, up to the end of the record, the address of the stack that the outermost handler has interrupted, as
 * for a register, and the bytes from there on.
 */
#define PITRACE_STACK_REGISTERS 17
#define PITRACE_COPY_BYTES_MIN	512
#define PITRACE_COPY_BYTES_MAX	61440

/* PITRACE_MAJOR_DISPATCH, a context switch: minor is the pid (process) of the next thread; ints are
 * the next thread's tid and the PITRACE_STATE_* of the previous one; then, our addition, the stack
 * of the previous thread. Pid and tid are 0 for the idle task. Minors from bit 31 on are our
 * additions:
 *
 * WAKEUP: wakee tid, waker tid (the current thread; for a wake-up by an interrupt the interrupted
 * one), CPU of the wakee, with PITRACE_WAKEUP_INTERRUPT. It precedes the dispatch that it causes;
 * a MIGRATE between the two changes the CPU.
 * MIGRATE: tid, destination CPU.
 * RUNS: pid, tid of the thread that runs on this CPU. The switch to it has no record, as its source did not report it or
 * started later: until then, since the record before on this CPU, the thread on the CPU is not known.
 */
#define PITRACE_DISPATCH_WAKEUP	 0x80000001u
#define PITRACE_DISPATCH_MIGRATE 0x80000002u
#define PITRACE_DISPATCH_RUNS	 0x80000003u
#define PITRACE_WAKEUP_INTERRUPT 0x80000000u /* in the CPU: woken by an interrupt */

#define PITRACE_STATE_RUNNABLE	      0 /* waits for a CPU */
#define PITRACE_STATE_SLEEPING	      1 /* a signal wakes it */
#define PITRACE_STATE_UNINTERRUPTIBLE 2
#define PITRACE_STATE_STOPPED	      3 /* by a signal or a tracer */
#define PITRACE_STATE_DEAD	      4
#define PITRACE_STATE_PARKED	      5
#define PITRACE_STATE_IDLE	      6 /* a kernel thread without work */
#define PITRACE_STATE_OTHER	      7
#define PITRACE_STATE_BLOCKED	      8 /* one of the above except RUNNABLE: perf does not report which */
#define PITRACE_STATE_PREEMPTED	      0x100 /* with RUNNABLE: switched out involuntarily */

/* PITRACE_MAJOR_SWITCH: minor 1; ints pid, tid, stack high, stack low of the previous thread, then
 * of the next; stack is the user-mode stack pointer, 0 for a kernel thread.
 */
#define PITRACE_SWITCH_BOTH 1

/* PITRACE_MAJOR_INTERRUPT: ints are the number (with bit 31 at the exit), and how many interrupts of
 * this minor the CPU has entered since ON; an exit has the count of its entry. The number is the
 * kernel's IRQ number, or PITRACE_INTERRUPT_VECTOR plus the vector for one of the processor's own
 * (timer, inter-processor ...); for a softirq, our addition, its index in /proc/softirqs.
 */
#define PITRACE_INTERRUPT_ENTRY	     0x00000001u
#define PITRACE_INTERRUPT_EXIT	     0x80000000u
#define PITRACE_INTERRUPT_SOFT_ENTRY 0x00000002u
#define PITRACE_INTERRUPT_SOFT_EXIT  0x80000002u
#define PITRACE_INTERRUPT_VECTOR     0x00010000u
#define PITRACE_INTERRUPT_NUMBER_EXIT 0x80000000u

/* PITRACE_MAJOR_SYSCALL: minor is the number, with PITRACE_SYSCALL_32 if it is from the 32-bit
 * table; int tid. An exit has PITRACE_SYSCALL_EXIT, and a second int: the low half of the result.
 */
#define PITRACE_SYSCALL_32   0x40000000u
#define PITRACE_SYSCALL_EXIT 0x80000000u
#define PITRACE_SYSCALL_NONE 0x3fffffffu /* as a number: sigreturn's exit; forbidden by a tracer */

/* PITRACE_MAJOR_EXCEPTION: minor is the vector; ints tid, error code, address of the instruction,
 * high and low, and for a page fault the accessed address, high and low.
 */
#define PITRACE_EXCEPTION_PAGE_FAULT 14

/* ---- ITrace, the branch trace: the instructions of threads, as the branches that they took -----
 * A flow is the sequence of instructions of one thread. It begins with a START or a GAP, which contain
 * its address; each BRANCH ends a block that began there or at the target of the BRANCH before it.
 * A count is the number of instructions executed since the thread's previous record of these kinds, the
 * branch itself included; each iteration of a REP counts. Without PITRACE_ITRACE_COUNT counts are 0 or
 * missing.
 *
 * Records of one CPU belong to the thread that the THREAD record before them names; a thread
 * may continue on another CPU, and the time orders its records. The thread of records before a
 * stream's first THREAD is unknown.
 *
 * BRANCH: minor is the low half of the branch's own address; ints its high half, the target's low and
 * high half, and the count if there are counts (Symposium paper, 2.1). The major is the privilege level
 * at the branch: a system call is a branch of user code, a return from the kernel one of kernel code.
 * CUT: minor is the vector, with bit 31 when the cut flow resumes, or PITRACE_CUT_*; ints the count, and the low and
 * high half of the address of the instruction that is not executed. The flow continues with a GAP.
 * GAP: minor PITRACE_GAP_*; ints the count before it, the number of missing instructions (0:
 * unknown), nanoseconds, and the low and high half of the address at which the flow continues.
 * THREAD: minor the tid; ints 0 and, our addition, the pid (process).
 * START: ints pid, tid, twice (as in Performance Inspector: running and traced thread), PITRACE_ITRACE_* flags of
 * the installation, and, our addition, the low and high half of the flow's first address.
 * STOP: minor PITRACE_STOP_*; ints the CPU, the number of its BRANCH records since ON, and, our
 * addition, tid, count, and the low and high half of the address of the next instruction.
 */
#define PITRACE_CUT_RESUMED 0x80000000u
#define PITRACE_CUT_DEVICE  0x40000000u /* the rest is a device's IRQ number, not a vector */
#define PITRACE_CUT_SIGNAL  0x20000000u /* ... or the signal whose delivery cut the flow */
#define PITRACE_CUT_NUMBER  0x1fffffffu

#define PITRACE_GAP_ENTRY     1 /* kernel entry code, until it can be followed */
#define PITRACE_GAP_UNTRACED  2 /* kernel or user code that was not requested */
#define PITRACE_GAP_EXCEPTION 3 /* entry code of an exception handler */
#define PITRACE_GAP_SIGNAL    4 /* kernel code that delivers a signal */
#define PITRACE_GAP_SWITCH    5 /* another thread ran */
#define PITRACE_GAP_LIMIT     6 /* too long with preemption or interrupts off, or too slow, to be stepped */
#define PITRACE_GAP_ROOM      7 /* the buffer was full (continuous mode) */
#define PITRACE_GAP_DIVERTED  8 /* the kernel sent the thread elsewhere; flags loaded without the trap flag */
#define PITRACE_GAP_PROBE     9 /* an instruction that a breakpoint of the kernel replaces */
#define PITRACE_GAP_INTERRUPT 10 /* an interrupt's handler */

#define PITRACE_STOP_OFF      1 /* ITraceOff(), or off for all */
#define PITRACE_STOP_EXIT     2 /* the thread ended */
#define PITRACE_STOP_FULL     3 /* the buffer is full; the module does not write it, as it does not fit */
#define PITRACE_STOP_DEBUGGER 4 /* a debugger has taken the thread */
#define PITRACE_STOP_RIGHTS   5 /* exec or new credentials: the tracing user may no longer debug the thread */

/* PITRACE_MAJOR_SYSTEM */
#define PITRACE_SYSTEM_INTERVAL 0xb2 /* trace interval id */
#define PITRACE_SYSTEM_END	0xb3 /* end of the start-up group */
#define PITRACE_SYSTEM_START	0xb4
#define PITRACE_SYSTEM_CLOCK	0xb5 /* CPU MHz, minutes west, dst, seconds since the epoch */
#define PITRACE_SYSTEM_TIMEBASE 0xb7 /* trace clock, units a second */
#define PITRACE_SYSTEM_TPROF	0xb8 /* 0 = time based, ticks a second, 0; 1 = event based, events
				      * a tick high, low */
#define PITRACE_SYSTEM_OS	0xbe /* PITRACE_OS_LINUX */
#define PITRACE_OS_LINUX	0x2000
/* Our addition: records of this stream lost so far, as two ints, high and low. Written before the
 * first record after a loss: the loss happened between that record and the one before it.
 */
#define PITRACE_SYSTEM_LOST	0xc1

/* PITRACE_MAJOR_MTE. pid is always a process (thread group). */
#define PITRACE_MTE_MODULE	0x01 /* executable mapping, see PITRACE_MODULE_* */
#define PITRACE_MTE_NAME	0x34 /* pid, PITRACE_NAME_64 or _32 / name */
#define PITRACE_MTE_THREAD_NAME 0x36 /* our addition: pid, tid / name of one thread */
#define PITRACE_MTE_JITTED	0x41 /* a user hook: see PITRACE_JITTED_* */
#define PITRACE_MTE_JAVA_THREAD 0x42 /* a user hook: see PITRACE_JAVA_THREAD_* */
#define PITRACE_MTE_PARENT	0x63 /* pid, parent pid, PITRACE_PARENT_*[, tid that forked] */
#define PITRACE_MTE_CREATE	0x64 /* pid: exec, a new image; earlier mappings are gone */
#define PITRACE_MTE_KILL	0x65 /* pid: exits; ticks may follow, until the pid is reused */
#define PITRACE_MTE_CREATE_THREAD 0x66 /* pid, tid[, tid of its creator] */
#define PITRACE_MTE_KILL_THREAD 0x67 /* pid, tid */
#define PITRACE_MTE_NAMESPACE_IDS 0x68 /* our addition: see PITRACE_NAMESPACE_IDS_* */
#define PITRACE_MTE_CGROUP 0x69 /* our addition: pid, PITRACE_CGROUP_* / path, see below */
#define PITRACE_MTE_UNMAP	0x78 /* pid, address high, low, size high, low: see below */

#define PITRACE_NAME_32 0x32
#define PITRACE_NAME_64 0x64

#define PITRACE_CGROUP_V1 1 /* of systemd's hierarchy, or else of the first one */
#define PITRACE_CGROUP_V2 2 /* of the unified hierarchy */

#define PITRACE_PARENT_FORK	0x000 /* the child starts with a copy of the parent's mappings */
#define PITRACE_PARENT_CLONE	0x100 /* the child shares the parent's address space */
#define PITRACE_PARENT_EXISTING 0x200 /* our addition: ran before the trace; only names the parent */

/* The last int of PARENT and CREATE_THREAD is our addition: the thread from which the new process
 * or thread inherits its name. It is missing if the start was not observed.
 *
 * CGROUP: the control group of a process, when the trace starts and soon after each exec; a fork inherits
 * it. Only the perf source writes it; a process that ends before it was read has none of its own.
 *
 * UNMAP is for reports only: symbols are not resolved by it. Not every source or kernel writes it,
 * and no source for mappings that end otherwise (exit, exec, a mapping over another, a MODULE record).
 */

/* PITRACE_MTE_NAMESPACE_IDS: the ids (NStgid, NSpid) of a task in its own pid namespace, if that is not the
 * one whose ids all other records contain. Written at the task's start, after its PARENT or
 * CREATE_THREAD, and when the trace starts. The ids are 0 if they are unknown.
 */
#define PITRACE_NAMESPACE_IDS_PID	0
#define PITRACE_NAMESPACE_IDS_TID	1
#define PITRACE_NAMESPACE_IDS_PID_INSIDE 2
#define PITRACE_NAMESPACE_IDS_TID_INSIDE 3
#define PITRACE_NAMESPACE_IDS_INODE 4 /* inode number, as in /proc/PID/ns/pid; 0: unknown */
#define PITRACE_NAMESPACE_IDS_INTS	5

/* Older names of these constants, for programs that use them. */
#define PITRACE_MTE_INNER	PITRACE_MTE_NAMESPACE_IDS
#define PITRACE_INNER_PID	PITRACE_NAMESPACE_IDS_PID
#define PITRACE_INNER_TID	PITRACE_NAMESPACE_IDS_TID
#define PITRACE_INNER_PID_INSIDE PITRACE_NAMESPACE_IDS_PID_INSIDE
#define PITRACE_INNER_TID_INSIDE PITRACE_NAMESPACE_IDS_TID_INSIDE
#define PITRACE_INNER_NAMESPACE PITRACE_NAMESPACE_IDS_INODE
#define PITRACE_INNER_INTS	PITRACE_NAMESPACE_IDS_INTS

/* PITRACE_MTE_JITTED, PITRACE_MTE_JAVA_THREAD / name: JProf, in the traced process, has written a
 * record with this time into its log of JIT-compiled code or of threads. They are trace records
 * without names: the logs contain those. The module or recorder that stores the record fills in the
 * caller's pid; the tid is that of the caller's pid namespace.
 */
#define PITRACE_JITTED_INTERVAL 0
#define PITRACE_JITTED_PID	1
#define PITRACE_JITTED_TIME_LO	2
#define PITRACE_JITTED_TIME_HI	3
#define PITRACE_JITTED_ADDR_LO	4
#define PITRACE_JITTED_INTS	5

#define PITRACE_JAVA_THREAD_INTERVAL 0
#define PITRACE_JAVA_THREAD_PID	     1
#define PITRACE_JAVA_THREAD_TIME_LO  2
#define PITRACE_JAVA_THREAD_TIME_HI  3
#define PITRACE_JAVA_THREAD_TID	     4
#define PITRACE_JAVA_THREAD_EVENT    5 /* PITRACE_JAVA_THREAD_START or _END */
#define PITRACE_JAVA_THREAD_INTS     6
#define PITRACE_JAVA_THREAD_START    0
#define PITRACE_JAVA_THREAD_END	     1

/* PITRACE_MTE_MODULE: the ints by position. The last five are our addition: a reader finds the
 * segment by the offset into the file, and checks by the inode that the file is still the mapped one.
 */
#define PITRACE_MODULE_PID	0
#define PITRACE_MODULE_SIZE	1
#define PITRACE_MODULE_STAMP	2 /* 0, or a PITRACE_STAMP_* marker */
#define PITRACE_MODULE_CHECKSUM 3 /* 0 */
#define PITRACE_MODULE_ADDR_HI	4
#define PITRACE_MODULE_ADDR_LO	5
#define PITRACE_MODULE_SIZE_HI	6
#define PITRACE_MODULE_OFFSET_HI 7
#define PITRACE_MODULE_OFFSET_LO 8
#define PITRACE_MODULE_INODE_HI 9
#define PITRACE_MODULE_INODE_LO 10
#define PITRACE_MODULE_INTS	11
#define PITRACE_MODULE_INTS_MIN 6

#define PITRACE_STAMP_ANON	 0xfffffff1u /* name "//anon" */
#define PITRACE_STAMP_VSYSCALL32 0xfffffff2u
#define PITRACE_STAMP_VSYSCALL64 0xfffffff4u /* name "[vsyscall]" */
#define PITRACE_STAMP_VDSO	 0xfffffff8u /* name "[vdso]" */

#define PITRACE_KERNEL_NAME "vmlinux" /* module of pid 0, address and size 0 */

/* ---- buffers -------------------------------------------------------------------------------
 * Each CPU has one buffer for MTE records and one for all others. Each is mapped read-only: one page
 * of struct pitrace_buffer_head, then data_size bytes of records, then the same bytes once more,
 * so that a record that wraps around can be read in one piece.
 *
 * A position counts all bytes of a stream since ON; its offset in the data is position modulo
 * data_size. The bytes below committed are whole records and do not change until they are
 * overwritten: in normal mode never; in a streaming buffer (both in continuous mode, the MTE buffer
 * in wrap-around mode) after the reader has reported them as consumed; in the trace buffer of
 * wrap-around mode (overwrite) as soon as reserved is more than data_size ahead of them.
 *
 * A reader of the latter copies the data, then reads reserved, and drops everything below
 * reserved - data_size. marks locate records: marks[n % PITRACE_MARKS] is the first record start
 * at or behind position n << mark_shift, with the time of the record before it.
 *
 * produced = written + the sum of lost[], whenever no writer is active.
 * PITRACE_MAJOR_TIME and PITRACE_SYSTEM_LOST records are not counted.
 */
#define PITRACE_BUFFER_TRACE  0
#define PITRACE_BUFFER_MTE    1
#define PITRACE_BUFFERS	      2
/* Only after PITRACE_IOC_COPIES. Streams in every mode; poll() does not report it, and its being full
 * does not end recording. The recorder replaces the copies by STACK records.
 */
#define PITRACE_BUFFER_STACKS 2
#define PITRACE_BUFFERS_ALL   3

#define PITRACE_LOST_FULL     0 /* did not fit; in normal mode ends recording on every CPU */
#define PITRACE_LOST_STOPPED  1 /* produced after a buffer, on any CPU, had become full */
#define PITRACE_LOST_TOO_LONG 2 /* larger than PITRACE_MAX_RECORD */
#define PITRACE_LOST_SOURCE   3 /* the source could not deliver it (perf's lost records, no memory) */
#define PITRACE_LOST_REASONS  4

struct pitrace_mark {
	__u64 position;
	__u64 time; /* nanoseconds */
};

#define PITRACE_MARKS 128

struct pitrace_buffer_head {
	/* Changed by the writers; a cache line and a half. */
	__u64 data_size; /* bytes */
	__u64 committed; /* position, load with acquire ordering */
	__u64 produced;	 /* records */
	__u64 written;
	__u64 lost[PITRACE_LOST_REASONS];
	__u64 last_time; /* of the newest committed record, nanoseconds */
	__u32 cpu;
	__u32 kind;	 /* PITRACE_BUFFER_* */
	__u64 reserved;	 /* position behind the newest reserved record; aligned to 16 */
	__u64 reserved_time; /* of that record; changes together with reserved */
	__u64 pad_writers[4];
	/* Changed by the reader, through PITRACE_IOC_CONSUMED. */
	__u64 consumed; /* position */
	__u64 wake_at;	/* wake the reader when committed reaches this */
	__u64 pad_reader[6];
	__u32 mark_shift;
	__u32 pad_marks[15];
	struct pitrace_mark marks[PITRACE_MARKS];
};

#define PITRACE_HEAD_BYTES 4096 /* the data starts here */

/* mmap offset of one buffer of one CPU; the length is PITRACE_HEAD_BYTES + 2 * data_size */
#define PITRACE_MMAP_OFFSET(kind, cpu) (((__u64)(kind) + 1) << 48 | (__u64)(cpu) << 32)

/* ---- user hooks -----------------------------------------------------------------------------
 * User events: records that programs write themselves, from any process that may open the device,
 * and, without the module, any that may connect to the recorder. They read one page, mapped read-only
 * at PITRACE_MMAP_HOOK_PAGE by the module and passed on by the recorder, so that a hook that is not
 * enabled costs two loads. user_hook.h defines the permitted contents of a hook.
 */
struct pitrace_hook_page {
	__u32 owner; /* low 30 bits are 0: there is no trace; changes at any time */
	__u32 reserved[14];
	__u32 interval_id; /* while the trace is on, else 0 */
	__u8 enabled[256]; /* by major: 1 while records of it are stored */
};

#define PITRACE_HOOK_OWNER_MASK 0x3fffffff
#define PITRACE_HOOK_PAGE_BYTES 4096
#define PITRACE_MMAP_HOOK_PAGE (0x7fffull << 48)

/* ---- control -------------------------------------------------------------------------------
 * The handle on which PITRACE_IOC_ALLOC succeeds owns the trace until it is closed or
 * PITRACE_IOC_TERMINATE is called; closing ends the trace and frees the buffers. Other handles get
 * EBUSY from ALLOC and EPERM from calls of the owner; INFO, PROBE and HOOK work on every handle.
 * The device can be opened with CAP_PERFMON, or by the group given as module parameter. A mapping keeps
 * the handle open; it stays readable after TERMINATE.
 *
 * Other errors: EINVAL for values out of range; ALLOC: EBUSY also if the handle owns buffers already,
 * ENOMEM (then largest is the possible size); ON: EALREADY when on, ENOMEM; OFF: EALREADY when
 * not on; RATE: EBUSY while on; SUSPEND: EALREADY when suspended, EINVAL when not on; RESUME: EALREADY
 * when not suspended, EINVAL when not on; ON, and ENABLE while on: EACCES when EVENT has chosen another event than time,
 * which counts whole CPUs: if perf_event_paranoid is above 0, it requires CAP_PERFMON; DISCARD: EINVAL when not on,
 * ENOSPC when recording has ended because a buffer was full; CONSUMED: EINVAL for a
 * position that is not between consumed and committed, ENXIO for a CPU without buffers; all: EINTR
 * when killed while waiting. ALLOC begins with no major enabled and the default rate.
 *
 * poll() on the owner's handle reports POLLIN while a streaming buffer contains a section (sub-buffer)
 * of section_bytes that is not consumed.
 */
#define PITRACE_MODE_NORMAL	0 /* stop when full: linear buffers; one full buffer ends recording */
#define PITRACE_MODE_WRAP	1 /* overwrite: keep the newest trace records; MTE buffers stream */
#define PITRACE_MODE_CONTINUOUS 2 /* streaming: all buffers; records that do not fit are lost */

#define PITRACE_TRACE_FREE 0 /* no buffers */
#define PITRACE_TRACE_INIT 1 /* buffers, not recording */
#define PITRACE_TRACE_ON   2

struct pitrace_alloc {
	__u64 trace_bytes; /* per CPU; rounded up to pages */
	__u64 mte_bytes;
	__u32 mode; /* PITRACE_MODE_* */
	__u32 flags; /* PITRACE_ALLOC_* */
	__u64 section_bytes; /* of a streaming buffer; at most half of each buffer; else 0 */
};
#define PITRACE_ALLOC_ANON 1 /* record anonymous executable mappings too */

#define PITRACE_RATE_MIN     1
#define PITRACE_RATE_MAX     10000
#define PITRACE_RATE_DEFAULT 100

struct pitrace_info {
	__u32 abi_major;
	__u32 abi_minor;
	__u32 state; /* PITRACE_TRACE_* */
	__u32 mode;
	__s32 owner_pid; /* 0: no owner; in the initial pid namespace */
	__u32 full; /* 1: a buffer became full and recording stopped by itself */
	__u32 rate; /* ticks a second */
	__u32 interval_id; /* counts the ONs since the module was loaded */
	__u64 trace_bytes;
	__u64 mte_bytes;
	__u64 start_time; /* of the last ON, nanoseconds of the trace clock */
	__u64 stop_time; /* of the last OFF, 0 while on */
	__u32 cpus_possible; /* CPU numbers are below this */
	__u32 cpus_failed; /* came online while no buffer could be allocated: not traced */
	__u8 enabled[32]; /* bit (major & 7) of byte (major >> 3) */
	__u64 section_bytes;
	__u64 largest; /* bytes per CPU, both buffers together, that ALLOC could allocate now */
	__u32 suspended; /* 1: on, but trace records are not stored */
	__u32 reserved;
};

/* The reader has read a stream's records up to a position. */
struct pitrace_consumed {
	__u32 kind; /* PITRACE_BUFFER_* */
	__u32 cpu;
	__u64 position;
};

/* Which stacks ticks and dispatches contain from the next ON on. EINVAL; ENOMEM; EBUSY while on. Of processes that
 * the one who opened the handle may not read (see COPIES), user frames are only addresses of executable memory.
 */
struct pitrace_stacks {
	__u32 which; /* PITRACE_STACKS_*, or 0 */
	__u32 depth; /* 1 to PITRACE_STACK_DEPTH_MAX */
};
#define PITRACE_STACKS_KERNEL 1
#define PITRACE_STACKS_USER   2

/* From the next ON on, ticks and dispatches with a user stack get a copy of it, of up to that many bytes,
 * in the CPU's buffer of stacks, instead of the frames that frame pointers lead to; bytes 0: no more.
 * Only stacks of processes that the one who opened the handle may read as a debugger, or all if that
 * was with CAP_PERFMON; others, those of 32-bit programs, and those for which the buffer has no space keep frame
 * pointers. After STACKS. EINVAL: bytes are no multiple of 8 from PITRACE_COPY_BYTES_MIN to _MAX, the buffer
 * has not space for 4 copies, or is 4 GB; ENOMEM: there are no such buffers then; EBUSY while on.
 */
struct pitrace_copies {
	__u32 bytes;
	__u32 reserved;
	__u64 buffer_bytes; /* per CPU; rounded up to pages */
};

/* What a tick is from the next ON on: type 0xffffffff for time, else an event of the kernel's perf
 * counters, as in struct perf_event_attr. EINVAL; EBUSY while on; ENOENT, EOPNOTSUPP: this machine
 * cannot count the event; ENOSPC: all its counters are in use; EACCES, except for time: perf_event_paranoid is above
 * 0 and the caller lacks CAP_PERFMON. ON can fail with these as well.
 */
struct pitrace_event {
	__u32 type; /* PERF_TYPE_* or that of a PMU in /sys/bus/event_source/devices */
	__u32 flags; /* PITRACE_EVENT_* */
	__u64 config;
	__u64 config1;
	__u64 config2;
	__u64 period; /* events a tick */
};
#define PITRACE_EVENT_TIME	0xffffffffu
#define PITRACE_EVENT_NO_KERNEL 1 /* count in user mode only */
#define PITRACE_EVENT_NO_USER	2
#define PITRACE_EVENT_RANDOM	4 /* draw each period from 0.75 to 1.25 of the given one */

/* AboveIdle, CPU use: the time of one CPU since AI_ON, in nanoseconds of the trace clock.
 * now = idle + busy + interrupt. Any handle may turn it on, with or without a trace; it counts until
 * the last of these handles is closed or calls AI_OFF. EALREADY: second AI_ON; EINVAL: AI_READ or
 * AI_OFF without AI_ON; ENXIO: the CPU is not online; EOPNOTSUPP: this kernel lacks the hooks.
 */
struct pitrace_ai {
	__u32 cpu; /* in */
	__u32 reserved;
	__u64 now;
	__u64 idle; /* the idle task, outside interrupts */
	__u64 busy; /* every other task, outside interrupts */
	__u64 interrupt; /* hard IRQs, and softirqs that run in irq_exit() */
	__u64 dispatches;
	__u64 interrupts;
};

/* ITrace. INSTALL: owner only; EBUSY while installed; EINVAL; ENOMEM; EOPNOTSUPP: this kernel lacks a
 * required hook; EPROTONOSUPPORT: the processor uses FRED; EACCES: to follow kernel code requires CAP_PERFMON.
 * REMOVE: owner only; EALREADY when not installed. After both, and after the end of the trace, no
 * thread has a trap flag.
 */
struct pitrace_itrace {
	__u32 flags; /* PITRACE_ITRACE_* */
	__u32 threads; /* maximum traced at a time; 0: the default */
	__u64 reserve; /* with CONTINUOUS: bytes per CPU reserved for the kernel's part of a flow */
};
#define PITRACE_ITRACE_RING	  0x01 /* always */
#define PITRACE_ITRACE_COUNT	  0x02 /* records contain instruction counts */
#define PITRACE_ITRACE_STEP	  0x04 /* single-step also where branches can be trapped; COUNT implies it */
#define PITRACE_ITRACE_INTERRUPTS 0x10 /* a CUT and a GAP for each interrupt */
#define PITRACE_ITRACE_NO_KERNEL  0x100 /* our additions, from here on */
#define PITRACE_ITRACE_NO_USER	  0x200
#define PITRACE_ITRACE_CHILDREN	  0x400 /* follow processes that a traced thread forks */
#define PITRACE_ITRACE_CONTINUOUS 0x800 /* threads wait until the buffer has space */
#define PITRACE_ITRACE_THREADS_DEFAULT 4096
#define PITRACE_ITRACE_THREADS_MAX     65536
#define PITRACE_ITRACE_RESERVE_DEFAULT (4u << 20)

/* Pids (processes) that can be traced: ENABLE adds a range, DISABLE removes all. Any handle may
 * add its own process; the owner may add one process whose /proc/PID/mem it could open, as a debugger does, and with
 * CAP_SYS_PTRACE and CAP_PERFMON any range, future processes included. Pid 1 is followed only if the range is pid 1
 * alone, the owner only if it names itself, kernel threads never. EPERM: owner only; EACCES: the owner may not debug
 * the process, or lacks the capabilities; ESRCH; EINVAL; ENOSPC: more than PITRACE_ITRACE_RANGES different ranges.
 * Following ends (PITRACE_STOP_RIGHTS) when a thread gets credentials, as by exec of a set-user-id program, with which
 * the process that installed ITrace could not debug it.
 */
struct pitrace_itrace_pids {
	__u32 first;
	__u32 last;
};
#define PITRACE_ITRACE_RANGES 64
#define PITRACE_ITRACE_RANGES_OTHERS 48 /* of these, for other handles than the owner's */

/* ON and OFF: for the calling thread (any handle, if its process is enabled), or for all threads of the
 * enabled processes, future ones included (owner only). EINVAL: not installed, no trace on, or not enabled;
 * EALREADY; ENOSPC: the maximum number of threads is traced already.
 */
#define PITRACE_ITRACE_ALL  0
#define PITRACE_ITRACE_SELF 1

struct pitrace_itrace_info {
	__u32 installed;
	__u32 flags;
	__u32 on; /* for all */
	__u32 branch_trap; /* 1: user code traps at branches; 0: every instruction is stepped */
	__u32 threads; /* traced now */
	__u32 untraced; /* threads not traced, as the maximum was reached */
	__u32 dirty; /* threads that may still have TF (the trap flag) set, while REMOVE waits for them */
	__u32 reserved;
	__u64 steps; /* traps since INSTALL */
	__u64 branches;
	__u64 gaps;
};

/* One probe of the module; index 0, 1, ... until ENOENT. */
struct pitrace_probe {
	__u32 index; /* in */
	__u32 attached; /* 1: attached; 0: this kernel lacks the tracepoint or function called name */
	__u64 missed; /* hits since ON that the kernel reports as missed */
	char name[48];
};

#define PITRACE_IOC_MAGIC     'i'
#define PITRACE_IOC_ON	      _IO(PITRACE_IOC_MAGIC, 0x10)
#define PITRACE_IOC_OFF	      _IO(PITRACE_IOC_MAGIC, 0x11)
#define PITRACE_IOC_TERMINATE _IO(PITRACE_IOC_MAGIC, 0x12)
#define PITRACE_IOC_INFO      _IOR(PITRACE_IOC_MAGIC, 0x13, struct pitrace_info)
#define PITRACE_IOC_ALLOC     _IOW(PITRACE_IOC_MAGIC, 0x14, struct pitrace_alloc)
#define PITRACE_IOC_ENABLE    _IOW(PITRACE_IOC_MAGIC, 0x16, __u32) /* major */
#define PITRACE_IOC_DISABLE   _IOW(PITRACE_IOC_MAGIC, 0x17, __u32)
#define PITRACE_IOC_RATE      _IOW(PITRACE_IOC_MAGIC, 0x18, __u32) /* ticks a second */
#define PITRACE_IOC_SUSPEND   _IO(PITRACE_IOC_MAGIC, 0x1b)
#define PITRACE_IOC_RESUME    _IO(PITRACE_IOC_MAGIC, 0x1c)
#define PITRACE_IOC_DISCARD   _IO(PITRACE_IOC_MAGIC, 0x1d) /* the contents of the trace buffers */
#define PITRACE_IOC_CONSUMED  _IOW(PITRACE_IOC_MAGIC, 0x1f, struct pitrace_consumed)
/* HOOK: one record as pitrace_encode_hook() makes it. Its time is ignored: it gets the time at which
 * it is stored in the trace buffer of the current CPU. 0 also when its major is not enabled;
 * ENXIO: there is no trace; ENOBUFS: the record is dropped and counted; EMSGSIZE: longer than
 * PITRACE_MAX_RECORD; EINVAL: pitrace_check_hook() refuses it; ENOMEM.
 */
#define PITRACE_IOC_HOOK      _IOW(PITRACE_IOC_MAGIC, 0x19, struct pitrace_record)
#define PITRACE_IOC_STACKS    _IOW(PITRACE_IOC_MAGIC, 0x20, struct pitrace_stacks)
#define PITRACE_IOC_EVENT     _IOW(PITRACE_IOC_MAGIC, 0x21, struct pitrace_event)
#define PITRACE_IOC_AI_ON     _IO(PITRACE_IOC_MAGIC, 0x22)
#define PITRACE_IOC_AI_OFF    _IO(PITRACE_IOC_MAGIC, 0x23)
#define PITRACE_IOC_AI_READ   _IOWR(PITRACE_IOC_MAGIC, 0x24, struct pitrace_ai)
#define PITRACE_IOC_COPIES    _IOW(PITRACE_IOC_MAGIC, 0x25, struct pitrace_copies)
#define PITRACE_IOC_IT_INSTALL _IOW(PITRACE_IOC_MAGIC, 0x40, struct pitrace_itrace)
#define PITRACE_IOC_IT_REMOVE _IO(PITRACE_IOC_MAGIC, 0x41)
#define PITRACE_IOC_IT_ON     _IOW(PITRACE_IOC_MAGIC, 0x42, __u32) /* PITRACE_ITRACE_ALL, _SELF */
#define PITRACE_IOC_IT_OFF    _IOW(PITRACE_IOC_MAGIC, 0x43, __u32)
#define PITRACE_IOC_IT_INFO   _IOR(PITRACE_IOC_MAGIC, 0x44, struct pitrace_itrace_info)
#define PITRACE_IOC_IT_ENABLE _IOW(PITRACE_IOC_MAGIC, 0x45, struct pitrace_itrace_pids)
#define PITRACE_IOC_IT_DISABLE _IO(PITRACE_IOC_MAGIC, 0x46)
#define PITRACE_IOC_PROBE     _IOWR(PITRACE_IOC_MAGIC, 0x1e, struct pitrace_probe)

#endif /* PITRACE_ABI_H */
