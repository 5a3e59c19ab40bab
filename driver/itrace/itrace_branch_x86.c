// SPDX-License-Identifier: GPL-2.0-only
/*
 * The processor's branch trap (DEBUGCTL.BTF): with it TF traps after taken branches only, and the last-branch record
 * (LBR) has the branch's address.
 *
 * For user code only: the kernel saves and loads its flags often, and each of these instructions needs a step.
 * TIF_BLOCKSTEP makes the kernel switch BTF with the thread, as it does for debuggers. The kernel does not switch LBR, so
 * that stays on. Every debug exception ends both.
 */

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/irqflags.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>
#include <linux/uprobes.h>
#include <asm/debugreg.h>

#include "core/msr_x86.h"
#include "itrace_x86.h"

#define BRANCH_TRAP (DEBUGCTLMSR_LBR | DEBUGCTLMSR_BTF)

/* These two registers have the last branch on Intel's P6 and on AMD's processors. */
static bool itrace_branch_read_last(u64 *from, u64 *to)
{
	return !rdmsrq_safe(MSR_IA32_LASTBRANCHFROMIP, from) &&
	       !rdmsrq_safe(MSR_IA32_LASTBRANCHTOIP, to);
}

static void itrace_branch_change_debugctl(u64 clear, u64 set)
{
	u64 value;

	rdmsrq(MSR_IA32_DEBUGCTLMSR, value);
	wrmsrq(MSR_IA32_DEBUGCTLMSR, (value & ~clear) | set);
}

/* ---- does the branch trap work here? ---- */

/* The traps of a trial on a CPU, with interrupts off. */
struct trial {
	u64 at; /* address of the first trap */
	u64 from, to; /* the last-branch record at that trap */
	u32 traps;
	bool runs;
};

static DEFINE_PER_CPU(struct trial, itrace_branch_trials);
static bool itrace_branch_used; /* CPUs may record branches, since pitrace_it_branches_start() */
static enum cpuhp_state itrace_branch_hotplug_state;

/* Runs a jump that is not taken and one that is. False: it did not trap after the second one only. */
static noinline bool itrace_branch_jump_traps(struct trial *trial)
{
	u64 from, to;

	trial->traps = 0;
	WRITE_ONCE(trial->runs, true);
	asm volatile("pushfq; orq %[trap], (%%rsp); popfq\n\t"
		     "xorl %%eax, %%eax\n\t"
		     "jnz 2f\n"
		     "1:\n\t"
		     "jmp 2f\n\t"
		     "nop\n"
		     "2:\n\t"
		     "pushfq; andq %[no_trap], (%%rsp); popfq\n\t"
		     "leaq 1b(%%rip), %[from]\n\t"
		     "leaq 2b(%%rip), %[to]"
		     : [from] "=r"(from), [to] "=r"(to)
		     : [trap] "i"(X86_EFLAGS_TF), [no_trap] "i"(~X86_EFLAGS_TF)
		     : "rax", "memory", "cc");
	WRITE_ONCE(trial->runs, false);
	return trial->traps == 1 && trial->at == to && trial->from == from && trial->to == to;
}

static bool itrace_branch_works_here(void)
{
	struct trial *trial = this_cpu_ptr(&itrace_branch_trials);
	u64 before, now, from, to;
	bool works;

	/* If another user records branches already, their records must not change. */
	if (!itrace_branch_read_last(&from, &to) || rdmsrq_safe(MSR_IA32_DEBUGCTLMSR, &before) ||
	    (before & BRANCH_TRAP))
		return false;
	if (wrmsrq_safe(MSR_IA32_DEBUGCTLMSR, before | BRANCH_TRAP))
		return false;
	works = !rdmsrq_safe(MSR_IA32_DEBUGCTLMSR, &now) && now == (before | BRANCH_TRAP) &&
		itrace_branch_jump_traps(trial);
	wrmsrq_safe(MSR_IA32_DEBUGCTLMSR, before);
	return works;
}

/* With interrupts off. */
static void itrace_branch_try_here(void *unused)
{
	if (!itrace_branch_works_here())
		WRITE_ONCE(pitrace_it_setup.branch_traps, false);
}

void pitrace_it_branches_start(void)
{
	cpus_read_lock();
	WRITE_ONCE(pitrace_it_setup.branch_traps, true);
	on_each_cpu(itrace_branch_try_here, NULL, true);
	itrace_branch_used = pitrace_it_setup.branch_traps;
	cpus_read_unlock();
}

bool pitrace_it_branches_tried(u64 ip)
{
	struct trial *trial = this_cpu_ptr(&itrace_branch_trials);

	if (!READ_ONCE(trial->runs))
		return false;
	if (!trial->traps++) {
		trial->at = ip;
		if (!itrace_branch_read_last(&trial->from, &trial->to))
			trial->from = 0;
	}
	return true;
}

static void itrace_branch_stop_recording_here(void *unused)
{
	itrace_branch_change_debugctl(DEBUGCTLMSR_LBR, 0);
}

void pitrace_it_branches_stop(void)
{
	cpus_read_lock();
	if (itrace_branch_used)
		on_each_cpu(itrace_branch_stop_recording_here, NULL, true);
	itrace_branch_used = false;
	WRITE_ONCE(pitrace_it_setup.branch_traps, false);
	cpus_read_unlock();
}

/*
 * Runs before any thread of user space can run on this CPU. If the trial fails, all user code is stepped from now on, but
 * for the block that a thread is in; if that thread comes to this CPU first, each step of the block is a gap.
 */
static int itrace_branch_cpu_online(unsigned int cpu)
{
	unsigned long flags;

	if (!READ_ONCE(pitrace_it_setup.branch_traps))
		return 0;
	local_irq_save(flags);
	itrace_branch_try_here(NULL);
	local_irq_restore(flags);
	return 0;
}

int pitrace_it_branches_init(void)
{
	const int state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "pitrace:itrace",
						    itrace_branch_cpu_online, NULL);

	if (state < 0)
		return state;
	itrace_branch_hotplug_state = state;
	return 0;
}

void pitrace_it_branches_exit(void)
{
	cpuhp_remove_state_nocalls(itrace_branch_hotplug_state);
}

/* ---- threads ---- */

static void itrace_branch_arm(struct pitrace_it_thread *thread)
{
	set_tsk_thread_flag(thread->task, TIF_BLOCKSTEP);
	/* A child that has not run gets BTF when it is dispatched. */
	if (thread->task == current)
		itrace_branch_change_debugctl(0, BRANCH_TRAP);
}

bool pitrace_it_branches_begin(struct pitrace_it_thread *thread, u64 ip, bool is64)
{
	struct task_struct *task = thread->task;

	/*
	 * A thread that steps itself, or is stepped by a uprobe, needs each step; and a watchpoint's exception would
	 * end the branch trap unnoticed.
	 */
	if (!is64 || thread->own_tf || hw_breakpoint_active() ||
	    test_tsk_thread_flag(task, TIF_SINGLESTEP) ||
	    (task->utask && task->utask->active_uprobe))
		return false;
	thread->branch_traps = true;
	thread->ip = ip;
	thread->code_length = 0;
	thread->insn = (struct pitrace_insn){ .kind = PITRACE_INSN_OTHER, .is64 = true };
	itrace_branch_arm(thread);
	return true;
}

void pitrace_it_branches_end(struct pitrace_it_thread *thread)
{
	thread->branch_traps = false;
	clear_tsk_thread_flag(thread->task, TIF_BLOCKSTEP);
	if (thread->task == current)
		itrace_branch_change_debugctl(DEBUGCTLMSR_BTF, 0);
}

void pitrace_it_branches_arrive(void)
{
	itrace_branch_change_debugctl(0, DEBUGCTLMSR_LBR);
}

bool pitrace_it_branches_step(struct pitrace_it_thread *thread, const struct pt_regs *regs)
{
	u64 from, to;

	/* A watchpoint was set since the last trap: this may be the trap of a step, and the record of another branch. */
	if (unlikely(hw_breakpoint_active())) {
		pitrace_it_begin_gap(thread, PITRACE_GAP_DIVERTED);
		pitrace_it_begin_block(thread, regs->ip);
		pitrace_it_branches_end(thread);
		return false;
	}

	rdmsrq(MSR_IA32_LASTBRANCHFROMIP, from);
	rdmsrq(MSR_IA32_LASTBRANCHTOIP, to);
	if (likely(to == regs->ip && from < TASK_SIZE_MAX)) {
		pitrace_it_branch(thread, true, from, to);
	} else {
		pitrace_it_begin_gap(thread, PITRACE_GAP_DIVERTED);
		pitrace_it_begin_block(thread, regs->ip);
	}
	thread->ip = regs->ip;
	itrace_branch_arm(thread);
	return true;
}

void pitrace_it_branches_leave(struct pitrace_it_thread *thread, const struct pt_regs *regs,
			       u8 bytes)
{
	/* The program has loaded flags without TF: nothing has trapped since then. */
	if (!(regs->flags & X86_EFLAGS_TF))
		pitrace_it_begin_gap(thread, PITRACE_GAP_DIVERTED);
	thread->ip = regs->ip - bytes;
	if (!bytes || copy_from_user_nofault(thread->code, (void __user *)thread->ip, bytes))
		return;
	thread->insn = pitrace_classify(thread->code, bytes, true);
}
