/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * The contract of PTT, per-thread counters, between the pitrace module and user space. C, C++ and
 * kernel.
 *
 * A CPU always charges one account: that of the running thread, of its interrupts, or of its idle
 * task; each dispatch (context switch), interrupt entry and interrupt exit changes the account. The
 * sum of all accounts is exactly what the counters of all CPUs have counted since INIT.
 *
 * Definition: section 3 (Per-Thread Time Facility) and Figure 5 of the paper that abi.h names.
 */
#ifndef PITRACE_PTT_ABI_H
#define PITRACE_PTT_ABI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include <pitrace/abi.h>
#include <pitrace/ptt_data.h>

#define PITRACE_PTT_DEVICE_NAME "pitrace-ptt"
#define PITRACE_PTT_DEVICE_PATH "/dev/pitrace-ptt"

/* Kinds of metrics. A counter is one of the kernel's perf counters, as in struct perf_event_attr:
 * one per CPU, pinned. Cycles are those of the time-stamp counter.
 */
#define PITRACE_PTT_CYCLES  0
#define PITRACE_PTT_COUNTER 1

#define PITRACE_PTT_NO_KERNEL 1 /* flags: count in user mode only */
#define PITRACE_PTT_NO_USER   2

struct pitrace_ptt_metric {
	__u32 kind; /* PITRACE_PTT_CYCLES or _COUNTER */
	__u32 id; /* the caller's own number for it, which INFO returns */
	__u32 type; /* of the counter */
	__u32 flags;
	__u64 config;
	__u64 config1;
	__u64 config2;
	char name[32]; /* for INFO; ends with a zero */
};

/* ---- on /dev/pitrace -------------------------------------------------------------------------
 * One instance in the system. INIT: EBUSY when there is one, unless FORCE is given; EINVAL; EOPNOTSUPP: this
 * kernel lacks the hooks; ENOMEM; ENOENT, EOPNOTSUPP and others of perf: this machine cannot
 * count the event; ENOSPC: its counters are in use; EACCES: counters count whole CPUs, perf_event_paranoid is above 0
 * and the caller lacks CAP_PERFMON. Without KEEP closing the handle ends the instance; with KEEP only
 * TERM does, and the module stays loaded until then. DUMP returns the final counts until the next
 * INIT. TERM: EALREADY when there is no instance.
 */
#define PITRACE_PTT_KEEP  1
#define PITRACE_PTT_FORCE 2

#define PITRACE_PTT_THREADS_MIN	    1024
#define PITRACE_PTT_THREADS_DEFAULT 131072
#define PITRACE_PTT_THREADS_MAX	    1048576

struct pitrace_ptt_init {
	__u32 metrics; /* 1 to PITRACE_PTT_METRICS */
	__u32 flags; /* PITRACE_PTT_KEEP, _FORCE */
	__u32 threads; /* accounts, PITRACE_PTT_THREADS_MIN to _MAX */
	__u32 pids; /* thread ids are below this (/proc/sys/kernel/pid_max) */
	struct pitrace_ptt_metric metric[PITRACE_PTT_METRICS];
};

/* Snapshot of all accounts at one consistent cut: with every charge before it and none after it, while all CPUs
 * continue. EINVAL: nothing has been counted since the module was loaded; ENOSPC: the array is too small, threads then
 * has the required number; ENOMEM, also when threads start faster than memory for them is allocated.
 */
struct pitrace_ptt_dump {
	__u64 thread_rows; /* address of an array of struct pitrace_ptt_thread */
	__u64 cpu_rows; /* of struct pitrace_ptt_cpu */
	__u32 threads; /* in: capacity of the array; out: how many there are */
	__u32 cpus;
	__u64 forgotten_threads; /* threads that have ended and whose accounts were reused; their sums: */
	__u64 forgotten_dispatches;
	__u64 forgotten_interrupts;
	__u64 forgotten[PITRACE_PTT_METRICS];
	/* Sums of the threads without an account (table full). homeless* are older names of the same fields. */
	union {
		__u64 without_account_dispatches;
		__u64 homeless_dispatches;
	};
	union {
		__u64 without_account_interrupts;
		__u64 homeless_interrupts;
	};
	union {
		__u64 without_account[PITRACE_PTT_METRICS];
		__u64 homeless[PITRACE_PTT_METRICS];
	};
};

#define PITRACE_PTT_IOC_INIT  _IOW(PITRACE_IOC_MAGIC, 0x51, struct pitrace_ptt_init)
#define PITRACE_PTT_IOC_TERM  _IO(PITRACE_IOC_MAGIC, 0x52)
#define PITRACE_PTT_IOC_DUMP  _IOWR(PITRACE_IOC_MAGIC, 0x54, struct pitrace_ptt_dump)
/* From the next INIT on. 0: interrupts are charged to the thread; 1, the default: they have their own account */
#define PITRACE_PTT_IOC_INTS  _IOW(PITRACE_IOC_MAGIC, 0x56, __u32)
/* From now until TERM; INIT sets it to 0. EINVAL: not active, without cycles or without ints. */
#define PITRACE_PTT_IOC_RESIDUE _IOW(PITRACE_IOC_MAGIC, 0x57, struct pitrace_ptt_residue)

/* ---- for every user, on both devices --------------------------------------------------------- */
struct pitrace_ptt_info {
	__u32 abi_major;
	__u32 abi_minor;
	__u32 active; /* 1: between INIT and TERM */
	__u32 instance; /* counts the INITs since the module was loaded */
	__u32 ints; /* of this instance, or of the next when there is none */
	__u32 keep;
	__s32 owner_pid; /* caller of INIT, in the initial pid namespace; 0 on /dev/pitrace-ptt */
	__u32 metrics;
	__u32 threads; /* capacity, in accounts */
	__u32 threads_used;
	__u32 cpus; /* CPU numbers are below this */
	__u32 withheld; /* bit per metric that this handle may not read: its values are 0. 0 on /dev/pitrace */
	struct pitrace_ptt_metric metric[PITRACE_PTT_METRICS];
	struct pitrace_ptt_residue residue;
};
#define PITRACE_PTT_IOC_INFO _IOR(PITRACE_IOC_MAGIC, 0x53, struct pitrace_ptt_info)

/* ---- /dev/pitrace-ptt: threads of the caller's own ---------------------------------------------
 * For the process that opened it. mmap() of PITRACE_PTT_AREA_BYTES, or of less for fewer slots, at offset 0, read-only;
 * a child does not inherit the mapping. ATTACH binds a slot of it to the calling thread and returns the slot's offset;
 * closing the handle, the thread's end, exec, any change of its credentials, DETACH and TERM unbind it; the account
 * continues. READ returns the thread's counts until now, also without a slot, in PITRACE_PTT_METRICS values. Slots and
 * READ have the counts since the thread's last exec, since the program before it may have had other rights; DUMP has all.
 *
 * Every user gets cycles, dispatches and interrupts. Users get the counters that perf_event_open() would have allowed
 * them when they opened the device: all, if they may open /dev/pitrace, or if /proc/sys/kernel/perf_event_paranoid is
 * 1 or less; at 2 those with PITRACE_PTT_NO_KERNEL; none at 3, if it cannot be read, and in a kernel locked down for
 * confidentiality. INFO returns which are withheld. The vector of the last interrupt is 0 unless all counters are
 * allowed.
 *
 * EACCES: all metrics of this instance are withheld; ENXIO: PTT is not active, or not on this CPU; EPERM: another
 * process has opened the handle; EALREADY: the thread has a slot; EINVAL: DETACH without one; EDQUOT: this user has the
 * maximum number of pages (module parameter ptt_pages); ENOSPC: no account or no slot is left; ENOMEM; EINTR.
 */
#define PITRACE_PTT_AREA_BYTES (16ul << 20)

struct pitrace_ptt_read {
	__u64 dispatches;
	__u64 interrupts;
	__u64 value[PITRACE_PTT_METRICS];
};

#define PITRACE_PTT_IOC_ATTACH _IOR(PITRACE_IOC_MAGIC, 0x58, __u64) /* byte offset in the area */
#define PITRACE_PTT_IOC_DETACH _IO(PITRACE_IOC_MAGIC, 0x59)
#define PITRACE_PTT_IOC_READ   _IOR(PITRACE_IOC_MAGIC, 0x5a, struct pitrace_ptt_read)

#endif /* PITRACE_PTT_ABI_H */
