/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ITrace's own files share: the traced threads, and what becomes of each step.
 *
 * A thread is followed by the trap flag. While it runs user code the flag is in its registers; in the
 * kernel it is set in the processor's own flags, from one of the hooks on, and put into the user's registers
 * by the last instruction of the way out. It never stands in what the kernel keeps of the user's
 * registers while the kernel works with them: signal frames, children and r11 would show it.
 *
 * Traps in the kernel come anywhere, within NMI-like code: nothing on their way takes a lock, waits,
 * wakes or allocates.
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

/* A thread's fields are its own, but for the list, and what is said to be read by others. */
struct pitrace_it_thread {
	struct hlist_node link;
	struct task_struct *task; /* NULL: not in use. Compared only, no reference */
	struct list_head spare; /* while it is not in use */
	unsigned long rcu_state; /* of RCU: since when that is */
	u64 ip; /* of the instruction that is next; its flow is known up to here */
	u64 gap_since; /* when a gap began, nanoseconds */
	const struct cred *cred; /* a reference, to that with which it was allowed to be followed */
	u32 pid;
	u32 tid;
	u32 count; /* instructions since the last record */
	u32 gap_missing; /* of those, how many the gap before ip lacks */
	u32 nonpreemptible_steps; /* steps in a row that nobody can preempt */
	u32 slow_ticks; /* in a row, of the timer, in which few steps were made */
	u32 late_ticks; /* in a row, of the timer, in which another thread was due */
	u32 tick_steps; /* since the last of them */
	unsigned long tick; /* its jiffies */
	struct pitrace_insn insn; /* what stands at ip */
	u8 code[8]; /* its first bytes */
	u8 code_length; /* how many of them are known */
	u8 gap; /* PITRACE_GAP_* to be written before anything else, or 0 */
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
	bool start_due; /* the first record is to be a START */
	bool own_tf; /* the program has itself set the trap flag */
	bool branch_traps; /* in user code, and it traps at branches only */
	bool ended; /* not followed any more; set by others, too */
	bool wait_timed_out; /* a wait for space has ended by its bound: none until there is space again */
	bool attach_due;
	bool begin_when_woken; /* stopped when it was added: begun when it is dispatched */
	bool wait_due;
	struct callback_head attach_work;
	struct callback_head wait_work;
};

/* ---- itrace.c ---- */

/*
 * No thread is followed, and no trap flag set, when this returns; with for_good none will be any more. What is installed
 * stays so. False: ITrace's lock was not to be had, and threads may be followed again unless it is for good.
 */
bool pitrace_it_shut_down(bool for_good);
/* The module goes. A drain that is not done holds it. */
void pitrace_it_stop_work(void);

/* ---- itrace_pids.c: changed under ITrace's lock, read in any context ---- */

/* 0, or -ENOSPC. owner: of the trace; lasting: processes that begin later, too. */
int pitrace_it_pids_add(const struct pitrace_itrace_pids *pids, bool owner, bool lasting);
void pitrace_it_pids_forget(void);
/* In any range; in one of its own. */
bool pitrace_it_is_enabled(u32 pid);
bool pitrace_it_is_named(u32 pid);
/* Is ITrace on for all threads, and this process enabled? begins: the process is new. */
bool pitrace_it_pid_selected(u32 pid, bool begins);
/*
 * May a thread of that process be followed because another one is? Not in the process that owns the trace, unless it
 * has named itself and does not stream: what it did to empty the buffers would fill them.
 */
bool pitrace_it_may_spread(u32 pid);

/* ---- itrace_rights.c ---- */

/* The caller, in a system call. Every process there is, and that will be: true where it has the capabilities. */
bool pitrace_it_caller_may_follow_all(void);
/* 0, -EACCES, or -ESRCH: there is no such process. May sleep. */
int pitrace_it_caller_may_follow(u32 pid);
/* With whose credentials ITrace was installed: a reference that is taken over, or NULL. */
void pitrace_it_set_follower(const struct cred *cred);
/* current is followed, and has other credentials than when that was allowed. True: it still is. */
bool pitrace_it_credentials_allow(struct pitrace_it_thread *thread);

/* ---- itrace_hold.c: continuous mode ---- */

/* In a trap in user mode, of current: it waits on its way out if its CPU's buffer has no space for more. */
void pitrace_it_queue_wait_for_space(struct pitrace_it_thread *thread);
/* ITrace does not run any more: no thread waits. */
void pitrace_it_wake_waiting(void);
/* ITrace is installed: what is known of an earlier reader does not count. */
void pitrace_it_hold_reset(void);

/* ---- itrace_threads.c: the threads, found by their task ---- */

/* Room for so many. 0 or -ENOMEM. */
int pitrace_it_threads_alloc(u32 room);
/* No hook is attached any more, and no thread dirty. */
void pitrace_it_threads_free(void);
/* Any context with preemption off. NULL: not traced. */
struct pitrace_it_thread *pitrace_it_find(const struct task_struct *task);
/*
 * NULL: no room (counted), traced already (then *known), or it has exited. From any context but traps
 * and NMIs. what is called before anybody can find it.
 */
struct pitrace_it_thread *pitrace_it_add(struct task_struct *task, bool *known,
					 void (*set_up)(struct pitrace_it_thread *thread,
							struct task_struct *task));
/* Its slot is free when its work has run as well. */
void pitrace_it_remove(struct pitrace_it_thread *thread);
/* How many there are; how many found no room; and how many may carry a trap flag. */
void pitrace_it_threads_count(u32 *threads, u32 *untraced, u32 *may_have_tf);
/* All of them, for who has stopped ITrace; end: they find out by themselves. */
void pitrace_it_remove_all(void);
void pitrace_it_end_all(void);
/* Calls what() for each slot in use or used before, with the list's lock held: the task of one in use has not exited. */
void pitrace_it_for_each_slot(void (*what)(struct pitrace_it_thread *thread, void *data),
			      void *data);

/* ---- itrace_flow.c: the records of a flow ---- */

/* All with preemption off. They keep account of what finds no room. */
void pitrace_it_branch(struct pitrace_it_thread *thread, bool user, u64 from, u64 to);
void pitrace_it_cut(struct pitrace_it_thread *thread, bool user, u32 vector, u64 from);
/* What was promised by gap or starts: the flow goes on, or begins, at ip. */
void pitrace_it_begin_block(struct pitrace_it_thread *thread, u64 ip);
void pitrace_it_stop(struct pitrace_it_thread *thread, u32 reason);
/* From here on it is not followed until a block begins. */
void pitrace_it_begin_gap(struct pitrace_it_thread *thread, u8 gap);
/* The buffers hold nothing of what was announced. */
void pitrace_it_forget(void);

/* ---- itrace_interrupts_x86.c ---- */

/* Those of -intr. */
extern const struct pitrace_hook_set pitrace_it_interrupt_hooks;

/* ---- itrace_hooks_x86.c ---- */

extern const struct pitrace_hook_set pitrace_it_hooks;
/* For a task that runs now, or is stopped: it is begun when it gets to user mode. */
void pitrace_it_attach(struct pitrace_it_thread *thread, struct task_struct *task);
/* For a task that is stopped, when it is dispatched: as pitrace_it_attach(). */
void pitrace_it_attach_when_woken(struct pitrace_it_thread *thread);
/* Of current, in an ioctl: no trap flag is left. reason: PITRACE_STOP_*. */
void pitrace_it_end_self(struct pitrace_it_thread *thread, u32 reason);

/* ---- itrace_user_x86.c: what does not need itrace_x86.h ---- */

/* ITrace does not run any more: threads that have no processor lose the trap flag where they are. */
void pitrace_it_clean_sleeping(void);
/* The same for what runs on this CPU, with interrupts off and in an interrupt. */
void pitrace_it_clean_here(void *unused);
/* The trap flag of this CPU, whatever it runs. */
void pitrace_it_clear_here(void);

/* ---- itrace_return_x86.c ---- */

/* Does the processor enter and leave the kernel by instructions that are known? */
bool pitrace_it_knows_returns(void);

/* ---- itrace_branch_x86.c: user code that traps at branches ---- */

/* Where every CPU can, by a trial, user code traps at branches from now on; with ITrace's traps in place. */
void pitrace_it_branches_start(void);
/* No thread is traced any more: CPUs need not record branches. Harmless where none does. */
void pitrace_it_branches_stop(void);
int pitrace_it_branches_init(void);
void pitrace_it_branches_exit(void);

#endif /* PITRACE_ITRACE_H */
