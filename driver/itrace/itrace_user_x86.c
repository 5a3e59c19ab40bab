// SPDX-License-Identifier: GPL-2.0-only
/* Entry into and exit from a followed thread's user code: TF in its registers, and where its flow begins and ends. */

#include <linux/sched/task_stack.h>
#include <asm/segment.h>
#include <asm/trapnr.h>

#include "core/compat.h"
#include "core/msr_x86.h"
#include "itrace_x86.h"

void pitrace_it_clean_user(struct pitrace_it_thread *thread, struct pt_regs *regs)
{
	if (itrace_tf_in_user(thread->tf) && !thread->own_tf && !test_thread_flag(TIF_SINGLESTEP))
		regs->flags &= ~X86_EFLAGS_TF;
	itrace_user_tf_gone(thread);
}

/* This number increases before a task loses its CPU. */
static unsigned long itrace_user_switches_of(const struct task_struct *task)
{
	return READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw);
}

/*
 * ITrace has stopped. The user registers of a task that runs on no CPU are in memory, and are loaded from there before its
 * user code continues. A task that gets a CPU meanwhile is not changed. The task has not exited.
 */
static void itrace_user_clean_off_cpu(struct pitrace_it_thread *thread, struct task_struct *task)
{
	struct pt_regs *regs = task_pt_regs(task);
	const unsigned long switches = itrace_user_switches_of(task);

	/* Pairs with the scheduler, which counts a switch before it releases on_cpu. */
	smp_rmb();
	if (pitrace_task_has_cpu(task))
		return;
	if (!thread->own_tf && !test_tsk_thread_flag(task, TIF_SINGLESTEP))
		clear_bit(X86_EFLAGS_TF_BIT, &regs->flags);
	/* Pairs with the scheduler's barrier between on_cpu and what the task does next. */
	smp_mb();
	if (pitrace_task_has_cpu(task))
		return;
	/* Did it run in between, and store registers with TF? */
	smp_rmb();
	if (itrace_user_switches_of(task) == switches)
		itrace_user_tf_gone(thread);
}

static void itrace_user_clean_slot(struct pitrace_it_thread *thread, void *unused)
{
	if (thread->task && itrace_tf_in_user(READ_ONCE(thread->tf)))
		itrace_user_clean_off_cpu(thread, thread->task);
}

void pitrace_it_clean_sleeping(void)
{
	pitrace_it_for_each_slot(itrace_user_clean_slot, NULL);
}

void pitrace_it_clean_here(void *unused)
{
	struct pitrace_it_thread *thread = itrace_this_thread();

	if (thread && itrace_tf_in_user(thread->tf))
		pitrace_it_clean_user(thread, task_pt_regs(current));
}

void pitrace_it_clear_here(void)
{
	itrace_clear_tf();
}

void pitrace_it_end(struct pitrace_it_thread *thread, struct pt_regs *user_regs, u32 reason)
{
	pitrace_it_clean_user(thread, user_regs);
	if (thread->tf != ITRACE_TF_NONE)
		itrace_tf_set(&thread->tf, ITRACE_TF_NONE);
	pitrace_it_stop(thread, reason);
}

void pitrace_it_enter_user(struct pitrace_it_thread *thread, u64 ip, bool is64, bool begins)
{
	if (begins)
		pitrace_it_begin_block(thread, ip);
	if (pitrace_it_setup.branch_traps && pitrace_it_branches_begin(thread, ip, is64)) {
		/* The next instruction need not be read. */
	} else if (thread->begin_when_woken) {
		/* Another address space is loaded: the instruction is read after it has trapped. */
		thread->ip = ip;
		thread->code_length = 0;
		thread->insn = (struct pitrace_insn){ .kind = PITRACE_INSN_CUT, .is64 = is64 };
	} else {
		itrace_fetch(thread, ip, true, is64);
	}
	thread->begin_when_woken = false;
	itrace_tf_set(&thread->tf, ITRACE_TF_USER);
}

void pitrace_it_resume_in_user(struct pitrace_it_thread *thread, struct pt_regs *regs)
{
	thread->own_tf = regs->flags & X86_EFLAGS_TF;
	if (!pitrace_it_setup.user) {
		pitrace_it_begin_gap(thread, PITRACE_GAP_UNTRACED);
		return;
	}
	pitrace_it_enter_user(thread, regs->ip, user_64bit_mode(regs),
			      thread->gap || thread->start_due);
	regs->flags |= X86_EFLAGS_TF;
}

void pitrace_it_begin_in_user(struct pitrace_it_thread *thread, struct pt_regs *regs)
{
	itrace_tf_set(&thread->tf, ITRACE_TF_NONE);
	thread->start_due = true;
	pitrace_it_resume_in_user(thread, regs);
}

/* The vector in the CUT record of an entry into the kernel that is no exception. */
static u32 itrace_user_vector_of(const struct pitrace_it_thread *thread,
				 const struct pitrace_insn *insn)
{
	if (insn->kind == PITRACE_INSN_SYSENTER)
		return 0x80; /* a 32-bit system call as well */
	return insn->length > 1 ? thread->code[insn->length - 1] : X86_TRAP_BP;
}

bool pitrace_it_leave_user(struct pitrace_it_thread *thread, struct pt_regs *regs)
{
	struct pitrace_insn insn;

	if (!itrace_goes_on(thread) || itrace_has_debugger()) {
		if (!thread->ended)
			pitrace_it_end(thread, regs,
				       itrace_has_debugger() ? PITRACE_STOP_DEBUGGER :
							       PITRACE_STOP_OFF);
		else
			pitrace_it_clean_user(thread, regs);
		return false;
	}
	if (!itrace_tf_in_user(thread->tf))
		return true;
	insn = thread->insn;
	if (insn.kind == PITRACE_INSN_SYSCALL && regs->ip == thread->ip + insn.length) {
		u64 entry;

		rdmsrq(MSR_LSTAR, entry);
		thread->count += !thread->branch_traps;
		pitrace_it_branch(thread, true, thread->ip, entry);
		/* SYSCALL has stored the flags there. */
		if (!thread->own_tf)
			regs->r11 &= ~X86_EFLAGS_TF;
		pitrace_it_begin_gap(thread, PITRACE_GAP_ENTRY);
	} else if (insn.kind == PITRACE_INSN_SYSENTER ||
		   (insn.kind == PITRACE_INSN_INT && regs->ip == thread->ip + insn.length)) {
		/* Only the address that it came from is known. */
		thread->count += !thread->branch_traps;
		pitrace_it_cut(thread, true, itrace_user_vector_of(thread, &insn), thread->ip);
		pitrace_it_begin_gap(thread, PITRACE_GAP_ENTRY);
	}
	pitrace_it_clean_user(thread, regs);
	return true;
}
