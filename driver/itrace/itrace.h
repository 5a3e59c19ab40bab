/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ITrace's own files share: the traced threads, and the functions of each file.
 *
 * A thread is followed by the trap flag (TF). While it runs user code, TF is in its registers; in the kernel a hook sets
 * it in the processor's own flags, and the last instruction before user mode loads it into the user's registers. While
 * the kernel works with the saved user registers, TF is not in them: signal frames, children and r11 would show it.
 *
 * Traps in the kernel can come anywhere, also in NMI-like code: their handler takes no lock, and does not wait, wake or
 * allocate.
 */
#ifndef PITRACE_ITRACE_H
#define PITRACE_ITRACE_H

#include <linux/list.h>
#include <linux/sched.h>
#include <linux/task_work.h>

#include <pitrace/abi.h>
#include <pitrace/branch_x86.h>

#include "itrace_state.h"
#include "itrace_tf.h"

/* Only the thread itself uses its fields, but for the list and where other users are named. */
struct pitrace_it_thread {
	struct hlist_node link;
	struct task_struct *task; /* NULL: not in use. Compared only, no reference */
	struct list_head spare; /* while it is not in use */
	unsigned long rcu_state; /* of RCU, when it was removed */
	u64 ip; /* of the next instruction; the flow is known up to here */
	u64 gap_since; /* when the gap began, nanoseconds */
	const struct cred *cred; /* a reference; following was allowed for these credentials */
	u32 pid;
	u32 tid;
	u32 count; /* instructions since the last record */
	u32 gap_missing; /* instructions that were counted in the gap before ip */
	u32 nonpreemptible_steps; /* steps in a row with preemption or interrupts off */
	u32 slow_ticks; /* timer ticks in a row with few steps in each */
	u32 late_ticks; /* timer ticks in a row while another thread was due */
	u32 forced_switches; /* context switches in a row, since the kernel was entered, that this thread did not ask for */
	u32 tick_steps; /* steps since the last tick */
	unsigned long tick; /* jiffies of the last tick */
	struct pitrace_insn insn; /* the instruction at ip */
	u8 code[8]; /* its first bytes */
	u8 code_length; /* how many of these bytes could be read */
	u8 gap; /* PITRACE_GAP_* that must be written before any other record, or 0 */
	/*
	 * Where the trap flag is: enum itrace_tf, changed by itrace_tf_set() with preemption off. The thread changes it;
	 * its parent before it has run; the CPU that dispatches it; and while ITrace does not run a CPU that cleans user
	 * registers, only to NONE, as the thread would. Other CPUs read it to know when no flag is left.
	 */
	u8 tf;
	/*
	 * Flags beside that state. start_due and own_tf hold in any state. branch_traps goes with TIF_BLOCKSTEP of the
	 * task. Other CPUs set ended and begin_when_woken, task work clears attach_due and wait_due.
	 */
	bool start_due; /* the first record must be a START */
	bool own_tf; /* the program itself has set TF */
	bool branch_traps; /* user code traps at branches only */
	bool ended; /* not followed any more */
	bool wait_timed_out; /* a wait for space timed out: no further wait until there is space */
	bool attach_due;
	bool begin_when_woken; /* stopped when it was added: it begins when it is dispatched */
	bool wait_due;
	struct callback_head attach_work;
	struct callback_head wait_work;
};

/* ---- itrace.c ---- */

/*
 * On return no thread is followed and no TF is set; with for_good this is final. ITrace stays installed. False: ITrace's
 * lock could not be taken, and threads may be followed again unless for_good is set.
 */
bool pitrace_it_shut_down(bool for_good);
/* Called when the module is unloaded. A drain that is not done holds a reference to the module. */
void pitrace_it_stop_work(void);

/* ---- itrace_pids.c: changed under ITrace's lock, read in any context ---- */

/* 0 or -ENOSPC. owner: called by the owner of the trace. lasting: includes processes that begin later. */
int pitrace_it_pids_add(const struct pitrace_itrace_pids *pids, bool owner, bool lasting);
void pitrace_it_pids_forget(void);
/* Is the pid in any range; in a range of this pid alone? */
bool pitrace_it_is_enabled(u32 pid);
bool pitrace_it_is_named(u32 pid);
/* Is ITrace on for all threads, and this process enabled? begins: the process is new. */
bool pitrace_it_pid_selected(u32 pid, bool begins);
/*
 * May a thread of that process be followed because another thread is? Not in the process that owns the trace, unless it
 * has a range of its own and does not stream: the work of emptying the buffers would fill them.
 */
bool pitrace_it_may_spread(u32 pid);

/* ---- itrace_rights.c ---- */

/* In a system call: has the caller the capabilities to follow all processes, present and future? */
bool pitrace_it_caller_may_follow_all(void);
/* 0, -EACCES, or -ESRCH if there is no such process. May sleep. */
int pitrace_it_caller_may_follow(u32 pid);
/* Credentials of the process that installs ITrace: takes over the reference; or NULL. */
void pitrace_it_set_follower(const struct cred *cred);
/* current is followed and its credentials have changed. True: it may still be followed. */
bool pitrace_it_credentials_allow(struct pitrace_it_thread *thread);

/* ---- itrace_hold.c: continuous mode ---- */

/* In a trap of current in user mode: lets it wait before it returns, if its CPU's buffer has no space. */
void pitrace_it_queue_wait_for_space(struct pitrace_it_thread *thread);
/* ITrace has stopped: wakes all waiting threads. */
void pitrace_it_wake_waiting(void);
/* ITrace is installed: forgets that an earlier reader stalled. */
void pitrace_it_hold_reset(void);

/* ---- itrace_threads.c: the table of threads, searched by task ---- */

/* Allocates capacity for this number of threads. 0 or -ENOMEM. */
int pitrace_it_threads_alloc(u32 room);
/* Only when no hook is attached and no thread may have TF. */
void pitrace_it_threads_free(void);
/* Any context with preemption off. NULL: not traced. */
struct pitrace_it_thread *pitrace_it_find(const struct task_struct *task);
/*
 * NULL: no free slot (counted), traced already (then *known), or the task has exited. Not in traps and NMIs. set_up() is
 * called before the thread can be found.
 */
struct pitrace_it_thread *pitrace_it_add(struct task_struct *task, bool *known,
					 void (*set_up)(struct pitrace_it_thread *thread,
							struct task_struct *task));
/* Its slot becomes free when its task work has run as well. */
void pitrace_it_remove(struct pitrace_it_thread *thread);
/* How many are followed; how many got no slot; and how many may have TF. */
void pitrace_it_threads_count(u32 *threads, u32 *untraced, u32 *may_have_tf);
/* After ITrace has stopped: removes all threads; or marks all as ended, so that they stop by themselves. */
void pitrace_it_remove_all(void);
void pitrace_it_end_all(void);
/* Calls what() for each slot that was ever used, with the table's lock held: the task of one in use has not exited. */
void pitrace_it_for_each_slot(void (*what)(struct pitrace_it_thread *thread, void *data),
			      void *data);

/* ---- itrace_flow.c: the records of a flow ---- */

/* All with preemption off. A record that finds no space becomes part of a gap, or ends the flow. */
void pitrace_it_branch(struct pitrace_it_thread *thread, bool user, u64 from, u64 to);
void pitrace_it_cut(struct pitrace_it_thread *thread, bool user, u32 vector, u64 from);
/* Writes the GAP or START that is due: the flow continues, or begins, at ip. */
void pitrace_it_begin_block(struct pitrace_it_thread *thread, u64 ip);
void pitrace_it_stop(struct pitrace_it_thread *thread, u32 reason);
/* The flow is unknown from here until the next pitrace_it_begin_block(). */
void pitrace_it_begin_gap(struct pitrace_it_thread *thread, u8 gap);
/* The buffers were emptied: THREAD records must be written again. */
void pitrace_it_forget(void);

/* ---- itrace_interrupts_x86.c ---- */

/* The hooks of -intr. */
extern const struct pitrace_hook_set pitrace_it_interrupt_hooks;

/* ---- itrace_hooks_x86.c ---- */

extern const struct pitrace_hook_set pitrace_it_hooks;
/* For a running task: the thread begins when it returns to user mode. */
void pitrace_it_attach(struct pitrace_it_thread *thread, struct task_struct *task);
/* For a stopped task: the thread begins when it is dispatched. */
void pitrace_it_attach_when_woken(struct pitrace_it_thread *thread);
/* In an ioctl of current: ends its flow, without a TF left. reason: PITRACE_STOP_*. */
void pitrace_it_end_self(struct pitrace_it_thread *thread, u32 reason);

/* ---- itrace_user_x86.c: what does not need itrace_x86.h ---- */

/* After ITrace has stopped: clears TF in the saved user registers of threads that run on no CPU. */
void pitrace_it_clean_sleeping(void);
/* The same for the thread that runs on this CPU; called with interrupts off, by on_each_cpu(). */
void pitrace_it_clean_here(void *unused);
/* Clears TF of this CPU, whatever it runs. */
void pitrace_it_clear_here(void);

/* ---- itrace_return_x86.c ---- */

/* Whether this module supports the instructions by which this processor enters and leaves the kernel. */
bool pitrace_it_cpu_supported(void);

/* ---- itrace_branch_x86.c: user code that traps at branches ---- */

/* If a trial succeeds on every CPU, user code traps at branches from now on. The trap notifier must be attached. */
void pitrace_it_branches_start(void);
/* No thread is traced any more: CPUs stop recording branches. Harmless where none does. */
void pitrace_it_branches_stop(void);
int pitrace_it_branches_init(void);
void pitrace_it_branches_exit(void);

#endif /* PITRACE_ITRACE_H */
