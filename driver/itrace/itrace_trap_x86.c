// SPDX-License-Identifier: GPL-2.0-only
/* ITrace's traps: records what the last step of kernel or user code did, and prepares the next one. */

#include <linux/jiffies.h>
#include <linux/kdebug.h>
#include <linux/kgdb.h>
#include <linux/kprobes.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/uprobes.h>
#include <asm/debugreg.h>
#include <asm/segment.h>
#include <asm/trapnr.h>

#include "itrace_calls.h"
#include "itrace_x86.h"

/* Maximum of steps in a row with preemption or interrupts off; then the thread continues unstepped, in a gap. */
#define BOUNDED_MAX 100000

/*
 * The kernel reads its clock again if a timer tick came while it read it. If fewer steps than that takes fit between two
 * ticks, the read would never end: stepping stops after SLOW_TICKS_MAX such ticks in a row.
 */
#define TICK_STEPS_MIN 200
#define SLOW_TICKS_MAX 64

/*
 * A kernel that does not preempt kernel code lets it continue although another thread is due. Unstepped it would end soon,
 * as a walk over all code that can be patched does; stepped, it would keep the CPU for minutes.
 */
#define LATE_TICKS_MAX 64

/*
 * The kernel looks for a thread that is due again after each switch, before it continues. If the steps from the switch to
 * that check take longer than the scheduler's slice, two threads on one CPU switch to each other for ever.
 */
#define FORCED_SWITCHES_MAX 256

/*
 * Maximum of POPF in a row that are emulated in one trap, with interrupts off. Further ones trap one by one: the processor
 * tests TF before it executes an instruction, so an instruction that clears TF traps as well.
 */
#define POPF_AT_ONCE 4

/* Flags that POPF changes in user mode, but for TF. */
#define POPF_FLAGS                                                                              \
	(X86_EFLAGS_CF | X86_EFLAGS_PF | X86_EFLAGS_AF | X86_EFLAGS_ZF | X86_EFLAGS_SF |        \
	 X86_EFLAGS_DF | X86_EFLAGS_OF | X86_EFLAGS_NT | X86_EFLAGS_AC | X86_EFLAGS_ID)

/* ---- steps of the kernel ---- */

static noinline bool itrace_trap_too_slow(struct pitrace_it_thread *thread, unsigned long now)
{
	const bool slow = thread->tick_steps < TICK_STEPS_MIN;

	thread->tick = now;
	thread->tick_steps = 0;
	thread->slow_ticks = slow ? thread->slow_ticks + 1 : 0;
	thread->late_ticks = need_resched() ? thread->late_ticks + 1 : 0;
	return thread->slow_ticks >= SLOW_TICKS_MAX || thread->late_ticks >= LATE_TICKS_MAX ||
	       thread->forced_switches >= FORCED_SWITCHES_MAX;
}

/* Too many steps without preemption, or too slow? Counts the step. */
static __always_inline bool itrace_trap_exceeds_step_limit(struct pitrace_it_thread *thread,
							   const struct pt_regs *regs)
{
	const unsigned long now = READ_ONCE(jiffies);

	thread->tick_steps++;
	if (unlikely(now != thread->tick) && itrace_trap_too_slow(thread, now))
		return true;
	if (likely((regs->flags & X86_EFLAGS_IF) && !(preempt_count() & PREEMPT_MASK))) {
		thread->nonpreemptible_steps = 0;
		return false;
	}
	return unlikely(++thread->nonpreemptible_steps >= BOUNDED_MAX);
}

/* True: TF stays set. */
static __always_inline bool itrace_trap_kernel_step(struct pitrace_it_thread *thread,
						    struct pt_regs *regs)
{
	const u64 ip = regs->ip;
	struct pitrace_insn last;
	u64 from;

	if (unlikely(thread->tf == ITRACE_TF_MODULE)) {
		if (within_module(ip, THIS_MODULE))
			return true;
		itrace_tf_set(&thread->tf, ITRACE_TF_KERNEL);
		if (pitrace_it_setup.kernel)
			pitrace_it_begin_block(thread, ip);
	} else if (pitrace_it_setup.kernel) {
		thread->count++;
		switch (itrace_step_outcome(thread, ip, false, &last, &from)) {
		case PITRACE_STEP_TAKEN:
			/* The int3 of code that is being patched just now is no branch. */
			if (last.kind == PITRACE_INSN_INT && ip - from <= PITRACE_INSN_MAX)
				break;
			pitrace_it_branch(thread, false, from, ip);
			break;
		case PITRACE_STEP_DIVERTED:
			pitrace_it_begin_gap(thread, PITRACE_GAP_DIVERTED);
			pitrace_it_begin_block(thread, ip);
			break;
		}
		if (unlikely(thread->ended))
			return false;
	}
	itrace_fetch(thread, ip, false, true);
	if (unlikely(thread->insn.kind >= PITRACE_INSN_SYSRET) &&
	    pitrace_it_do_return(thread, regs, thread->insn.kind))
		return regs->flags & X86_EFLAGS_TF;
	if (unlikely(thread->code[0] == 0x0f && thread->code_length > 2) &&
	    pitrace_it_ends_before_return(thread, regs))
		return false;
	if (likely(!itrace_trap_exceeds_step_limit(thread, regs)))
		return true;
	pitrace_it_begin_gap(thread, PITRACE_GAP_LIMIT);
	return false;
}

/* ---- steps of the user ---- */

/* The flags that PUSHF has stored contain TF, which the program must not see. */
static noinline void itrace_trap_hide_from_pushf(struct pitrace_it_thread *thread,
						 struct pt_regs *regs)
{
	u8 byte;
	void __user *place = (void __user *)(regs->sp + 1); /* bits 8 to 15 */

	if (thread->own_tf)
		return;
	if (!copy_from_user_nofault(&byte, place, 1)) {
		byte &= ~(X86_EFLAGS_TF >> 8);
		copy_to_user_nofault(place, &byte, 1);
	}
}

/* Emulates POPF, which would load TF. False: the stack cannot be read now. */
static noinline bool itrace_trap_emulate_popf(struct pitrace_it_thread *thread,
					      struct pt_regs *regs, bool is64)
{
	u64 flags = 0, mask = POPF_FLAGS;
	u32 bytes = is64 ? 8 : 4, prefixes = 0;

	for (; prefixes < thread->code_length && thread->code[prefixes] != 0x9d; prefixes++) {
		if (thread->code[prefixes] == 0x66)
			bytes = 2;
	}
	if (copy_from_user_nofault(&flags, (void __user *)regs->sp, bytes))
		return false;
	if (bytes == 2)
		mask &= 0xffff;
	regs->flags = (regs->flags & ~mask) | (flags & mask);
	thread->own_tf = flags & X86_EFLAGS_TF;
	regs->sp += bytes;
	if (!is64)
		regs->sp = (u32)regs->sp;
	regs->ip += prefixes + 1;
	thread->count++;
	return true;
}

/* True: TF stays set. */
static __always_inline bool itrace_trap_user_step(struct pitrace_it_thread *thread,
						  struct pt_regs *regs)
{
	const bool is64 = user_64bit_mode(regs);
	const u64 ip = regs->ip;
	struct pitrace_insn last;
	u32 popfs = 0;
	u64 from;

	if (unlikely(thread->branch_traps)) {
		if (!pitrace_it_branches_step(thread, regs))
			itrace_fetch(thread, ip, true, is64);
		return !thread->ended;
	}
	thread->count++;
	switch (itrace_step_outcome(thread, ip, true, &last, &from)) {
	case PITRACE_STEP_TAKEN:
		pitrace_it_branch(thread, true, from, ip);
		break;
	case PITRACE_STEP_DIVERTED:
		thread->count--;
		pitrace_it_begin_gap(thread, PITRACE_GAP_DIVERTED);
		pitrace_it_begin_block(thread, ip);
		break;
	}
	if (unlikely(last.kind == PITRACE_INSN_PUSHF))
		itrace_trap_hide_from_pushf(thread, regs);
	if (unlikely(thread->ended))
		return false;
	itrace_fetch(thread, ip, true, is64);
	/* The program has loaded its flags itself. */
	if (unlikely(last.kind == PITRACE_INSN_POPF))
		thread->own_tf = regs->flags & X86_EFLAGS_TF;
	/* A program that steps itself gets each trap. */
	if (unlikely(thread->own_tf))
		return true;
	while (unlikely(thread->insn.kind == PITRACE_INSN_POPF) && popfs++ < POPF_AT_ONCE &&
	       !thread->own_tf && itrace_trap_emulate_popf(thread, regs, is64))
		itrace_fetch(thread, regs->ip, true, is64);
	return true;
}

/* ---- traps ---- */

/* Stops the notifier chain unless DR6 has other bits set. */
static int itrace_trap_handled(unsigned long *dr6)
{
	*dr6 &= ~DR_STEP;
	return *dr6 ? NOTIFY_DONE : NOTIFY_STOP;
}

static bool itrace_trap_is_kernel_debugged(void)
{
#ifdef CONFIG_KGDB
	return READ_ONCE(kgdb_connected);
#else
	return false;
#endif
}

/* A trap of no followed thread. In user mode it belongs to another user of TF; in the kernel there is none but kgdb. */
static noinline int itrace_trap_stray(struct pt_regs *regs, unsigned long *dr6)
{
	if (user_mode(regs))
		return NOTIFY_DONE;
	/* Not of the branch trap's trial: the kernel's debugger handles its own steps. */
	if (!pitrace_it_branches_tried(regs->ip) && itrace_trap_is_kernel_debugged())
		return NOTIFY_DONE;
	regs->flags &= ~X86_EFLAGS_TF;
	return itrace_trap_handled(dr6);
}

/* The thread is not followed any more: this is its last trap. */
static noinline int itrace_trap_last(struct pitrace_it_thread *thread, struct pt_regs *regs,
				     unsigned long *dr6, u32 reason)
{
	const bool user = user_mode(regs);

	if (!thread->ended)
		pitrace_it_stop(thread, reason);
	itrace_tf_leave_kernel(&thread->tf);
	if (user && unlikely(thread->tf == ITRACE_TF_SYSRET) && !thread->own_tf)
		regs->r11 &= ~X86_EFLAGS_TF;
	if (user)
		itrace_user_tf_gone(thread);
	/* TF that the program or its debugger has set is theirs. */
	if (user && (thread->own_tf || test_thread_flag(TIF_SINGLESTEP)))
		return NOTIFY_DONE;
	regs->flags &= ~X86_EFLAGS_TF;
	return itrace_trap_handled(dr6);
}

static int itrace_trap_user(struct pitrace_it_thread *thread, struct pt_regs *regs,
			    unsigned long *dr6)
{
	const bool own = thread->own_tf;
	bool stays;

	if (unlikely(current->utask && current->utask->active_uprobe)) {
		/* The uprobe steps a copy of the instruction, and never ends without this trap. */
		thread->count++;
		pitrace_it_clean_user(thread, regs);
		pitrace_it_begin_gap(thread, PITRACE_GAP_PROBE);
		preempt_disable_notrace();
		itrace_arm(thread);
		preempt_enable_notrace();
		return NOTIFY_DONE;
	}
	if (unlikely(thread->tf == ITRACE_TF_SYSRET) && regs->ip == thread->ip) {
		pitrace_it_returned(thread, regs);
		regs->flags |= X86_EFLAGS_TF;
		return itrace_trap_handled(dr6);
	}
	stays = itrace_trap_user_step(thread, regs);
	if (unlikely(!stays))
		return itrace_trap_last(thread, regs, dr6, PITRACE_STOP_FULL);
	if (unlikely(pitrace_it_setup.reserve))
		pitrace_it_queue_wait_for_space(thread);
	regs->flags |= X86_EFLAGS_TF;
	/* The program's own step: the kernel sends it the signal. */
	return unlikely(own) ? NOTIFY_DONE : itrace_trap_handled(dr6);
}

static int itrace_trap_on_debug(struct pt_regs *regs, unsigned long *dr6)
{
	struct pitrace_it_thread *thread;

	if (!(*dr6 & DR_STEP))
		return NOTIFY_DONE;
	thread = this_cpu_read(pitrace_it_cpus.running);
	if (unlikely(!thread || READ_ONCE(thread->task) != current)) {
		if (thread && thread->tf == ITRACE_TF_ARRIVING && READ_ONCE(thread->task))
			return itrace_trap_handled(dr6);
		thread = itrace_this_thread();
		if (!thread)
			return itrace_trap_stray(regs, dr6);
	}
	this_cpu_inc(pitrace_it_cpus.steps);
	/* In an oops or a panic, another kernel may run next. */
	if (unlikely(!itrace_goes_on(thread) || READ_ONCE(oops_in_progress)))
		return itrace_trap_last(thread, regs, dr6, PITRACE_STOP_OFF);
	if (user_mode(regs)) {
		if (itrace_has_debugger())
			return itrace_trap_last(thread, regs, dr6, PITRACE_STOP_DEBUGGER);
		if (!itrace_tf_in_user(thread->tf))
			return NOTIFY_DONE;
		return itrace_trap_user(thread, regs, dr6);
	}
	if (unlikely(thread->tf == ITRACE_TF_ARRIVING)) {
		itrace_tf_set(&thread->tf, ITRACE_TF_KERNEL);
		if (pitrace_it_setup.kernel)
			pitrace_it_begin_block(thread, regs->ip);
		itrace_fetch(thread, regs->ip, false, true);
	} else if (unlikely(!itrace_tf_in_kernel(thread->tf))) {
		/* TF was left in a frame of the kernel. */
		regs->flags &= ~X86_EFLAGS_TF;
	} else if (unlikely(!itrace_trap_kernel_step(thread, regs))) {
		if (thread->ended)
			return itrace_trap_last(thread, regs, dr6, PITRACE_STOP_FULL);
		if (!user_mode(regs)) {
			itrace_tf_leave_kernel(&thread->tf);
			regs->flags &= ~X86_EFLAGS_TF;
		}
	}
	return itrace_trap_handled(dr6);
}

/* A breakpoint in user code, set by the program, its debugger or a uprobe: TF would confuse its handler. */
static void itrace_trap_on_int3(struct pt_regs *regs)
{
	struct pitrace_it_thread *thread = itrace_this_thread();

	if (!thread || !itrace_tf_in_user(thread->tf))
		return;
	if (thread->branch_traps)
		pitrace_it_branches_leave(thread, regs, 1);
	if (!pitrace_it_leave_user(thread, regs))
		return;
	pitrace_it_begin_gap(thread, PITRACE_GAP_PROBE);
	itrace_arm(thread);
}

static int itrace_trap_on_die(struct notifier_block *block, unsigned long what, void *data)
{
	const struct die_args *die = data;

	if (likely(what == DIE_DEBUG))
		return itrace_trap_on_debug(die->regs, (unsigned long *)die->err);
	if (what == DIE_OOPS || what == DIE_PANIC)
		WRITE_ONCE(pitrace_it_runs, false);
	if (what == DIE_INT3 && user_mode(die->regs))
		itrace_trap_on_int3(die->regs);
	return NOTIFY_DONE;
}
NOKPROBE_SYMBOL(itrace_trap_on_die);

/* Called by the exception source, which may be in the chain before ITrace. Must agree with itrace_trap_on_debug(). */
bool pitrace_itrace_takes_step(struct pt_regs *regs, unsigned long dr6)
{
	const struct pitrace_it_thread *thread = this_cpu_read(pitrace_it_cpus.running);
	const bool arrives = thread && READ_ONCE(thread->task) && thread->tf == ITRACE_TF_ARRIVING;

	if (dr6 != DR_STEP)
		return false;
	if (!user_mode(regs))
		return arrives || pitrace_it_find(current);
	thread = pitrace_it_find(current);
	return thread && itrace_tf_in_user(thread->tf) && !thread->own_tf &&
	       !itrace_has_debugger() && !test_thread_flag(TIF_SINGLESTEP);
}

struct notifier_block pitrace_it_notifier = { .notifier_call = itrace_trap_on_die,
					      .priority = INT_MAX };
