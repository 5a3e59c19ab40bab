// SPDX-License-Identifier: GPL-2.0-only
/* ITrace's probes: entries into the kernel and exits, switches, signals, fork and exec, where TF must be cleared or set. */

#include <linux/notifier.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <asm/syscall.h>
#include <asm/trapnr.h>
#include <asm/unistd.h>
#include <trace/events/sched.h>
#include <trace/events/signal.h>
#include <trace/events/syscalls.h>

#include "core/exception_events_x86.h"
#include "core/probes.h"
#include "itrace_x86.h"

/* SYSCALL, INT n */
#define SYSTEM_CALL_BYTES 2

/* Is the thread still followed, if its credentials have changed since the debugger's rights were checked? */
static __always_inline bool itrace_hooks_keeps_rights(struct pitrace_it_thread *thread,
						      struct pt_regs *regs)
{
	if (likely(rcu_access_pointer(current->real_cred) == thread->cred) || thread->ended ||
	    pitrace_it_credentials_allow(thread))
		return true;
	itrace_clear_tf();
	pitrace_it_end(thread, regs, PITRACE_STOP_RIGHTS);
	return false;
}

/* The kernel is stepped from here to the return to user mode, whether it is recorded or not. */
static __always_inline void itrace_hooks_step_kernel(struct pitrace_it_thread *thread, u8 gap)
{
	pitrace_it_begin_gap(thread, gap);
	itrace_arm(thread);
}

/* Number of reboot(2) in the 32-bit table. */
#define REBOOT_32 88

/* reboot(2) may start another kernel, with KEXEC_PRESERVE_CONTEXT without a notifier: it does not handle our traps. */
static bool itrace_hooks_may_leave_kernel(long number)
{
	return number == (in_ia32_syscall() ? REBOOT_32 : __NR_reboot);
}

static void itrace_hooks_on_sys_enter(void *data, struct pt_regs *regs, long number)
{
	struct pitrace_it_thread *thread;

	preempt_disable_notrace();
	thread = itrace_this_thread();
	/* It comes from user mode now, so no TF is left in the kernel, whatever cleared it. */
	if (thread)
		itrace_tf_leave_kernel(&thread->tf);
	if (thread && thread->branch_traps)
		pitrace_it_branches_leave(thread, regs, SYSTEM_CALL_BYTES);
	if (thread && thread->tf != ITRACE_TF_NEW && pitrace_it_leave_user(thread, regs)) {
		if (pitrace_it_setup.kernel && !itrace_hooks_may_leave_kernel(number))
			itrace_hooks_step_kernel(thread, PITRACE_GAP_ENTRY);
		else
			pitrace_it_begin_gap(thread, PITRACE_GAP_UNTRACED);
	}
	preempt_enable_notrace();
}

/*
 * Called where no interrupt's frame can contain TF: if the processor does not have it either, it was lost. The exit of a
 * hypervisor's guest does that: it loads the host's flags without TF.
 */
static void itrace_hooks_find_lost_tf(struct pitrace_it_thread *thread)
{
	if (likely(!thread || !itrace_tf_in_kernel(thread->tf) || itrace_tf_is_set()))
		return;
	itrace_tf_set(&thread->tf, ITRACE_TF_NONE);
	pitrace_it_begin_gap(thread, PITRACE_GAP_LIMIT);
}

static void itrace_hooks_on_sys_exit(void *data, struct pt_regs *regs, long result)
{
	struct pitrace_it_thread *thread;

	preempt_disable_notrace();
	thread = itrace_this_thread();
	itrace_hooks_find_lost_tf(thread);
	if (!thread || !itrace_hooks_keeps_rights(thread, regs) ||
	    itrace_tf_in_kernel(thread->tf)) {
		/* It is stepped up to user mode already, or not followed. */
	} else if (thread->tf == ITRACE_TF_NEW) {
		if (itrace_goes_on(thread) && !itrace_has_debugger())
			pitrace_it_begin_in_user(thread, regs);
	} else if (pitrace_it_leave_user(thread, regs)) {
		if (pitrace_it_setup.kernel)
			itrace_hooks_step_kernel(thread, PITRACE_GAP_LIMIT);
		else
			pitrace_it_resume_in_user(thread, regs);
	}
	preempt_enable_notrace();
}

static void itrace_hooks_on_page_fault(void *data, unsigned long address, struct pt_regs *regs,
				       unsigned long error_code)
{
	struct pitrace_it_thread *thread;

	preempt_disable_notrace();
	thread = itrace_this_thread();
	/* Skip page faults of our own trap handler: TF is clear there. */
	if (thread && itrace_goes_on(thread) && pitrace_it_setup.kernel &&
	    (regs->flags & X86_EFLAGS_TF) &&
	    (user_mode(regs) ? itrace_tf_in_user(thread->tf) : itrace_tf_in_kernel(thread->tf))) {
		const bool user = user_mode(regs);

		pitrace_it_cut(thread, user, X86_TRAP_PF, regs->ip);
		/*
		 * Stepping sets it again at the return to the kernel's code, if the thread is followed up to there.
		 * The handler may sleep as long as a user likes, and ITrace may be removed by then.
		 */
		if (!user)
			regs->flags &= ~X86_EFLAGS_TF;
		if (!user || pitrace_it_leave_user(thread, regs))
			itrace_hooks_step_kernel(thread, PITRACE_GAP_EXCEPTION);
	}
	preempt_enable_notrace();
}

/* Runs before the signal frame is made from the user's registers, and before a signal ends the process. */
static void itrace_hooks_on_signal(void *data, int number, struct kernel_siginfo *info,
				   struct k_sigaction *action)
{
	struct pt_regs *regs = task_pt_regs(current);
	struct pitrace_it_thread *thread;

	preempt_disable_notrace();
	thread = itrace_this_thread();
	/* Of a block that an interrupt or exception has cut, only its end is known. */
	if (thread && thread->branch_traps) {
		pitrace_it_branches_leave(thread, regs, 0);
		if (itrace_goes_on(thread) && !itrace_has_debugger())
			pitrace_it_cut(thread, true, PITRACE_CUT_SIGNAL | (u32)number, regs->ip);
	}
	/* Also where the thread was ended by another CPU and still has TF. */
	if (thread && thread->tf != ITRACE_TF_NEW && !itrace_tf_in_kernel(thread->tf) &&
	    pitrace_it_leave_user(thread, regs))
		itrace_hooks_step_kernel(thread, PITRACE_GAP_SIGNAL);
	preempt_enable_notrace();
}

/* previous is still current. */
static void itrace_hooks_on_switch(void *data, bool preempted, struct task_struct *previous,
				   struct task_struct *next, unsigned int previous_state)
{
	struct pitrace_it_cpu *cpu = this_cpu_ptr(&pitrace_it_cpus);
	struct pitrace_it_thread *thread = itrace_this_thread();

	if (itrace_tf_is_set()) {
		itrace_clear_tf();
		if (thread && itrace_tf_in_kernel(thread->tf)) {
			pitrace_it_begin_gap(thread, PITRACE_GAP_SWITCH);
			itrace_tf_set(&thread->tf, ITRACE_TF_PARKED);
			thread->forced_switches = preempted || previous_state == TASK_RUNNING ?
							  thread->forced_switches + 1 :
							  0;
		}
	} else if (!preempted && thread && itrace_goes_on(thread) && pitrace_it_setup.kernel) {
		/* TF may be left in the frame of a fault that was not followed. */
		itrace_hooks_find_lost_tf(thread);
	}
	/* It stops, and its debugger reads its registers then. */
	if (thread && !thread->ended && itrace_has_debugger())
		pitrace_it_end(thread, task_pt_regs(current), PITRACE_STOP_DEBUGGER);
	thread = pitrace_it_find(next);
	cpu->running = thread;
	if (thread && unlikely(thread->branch_traps))
		pitrace_it_branches_arrive();
	if (!thread || !itrace_goes_on(thread))
		return;
	/* It was stopped when it was added, and no system call has ended since, where it would have begun. */
	if (unlikely(thread->begin_when_woken && thread->tf == ITRACE_TF_NEW && !next->ptrace))
		pitrace_it_begin_in_user(thread, task_pt_regs(next));
	if (thread->tf != ITRACE_TF_PARKED)
		return;
	itrace_begin_stretch(thread);
	itrace_tf_set(&thread->tf, ITRACE_TF_ARRIVING);
	itrace_set_tf();
}

static void itrace_hooks_set_up_child(struct pitrace_it_thread *thread, struct task_struct *task)
{
	thread->start_due = true;
	/* With the kernel, as if it had lost the processor before. */
	thread->tf = pitrace_it_setup.kernel ? ITRACE_TF_PARKED : ITRACE_TF_NEW;
}

/* The child has not run yet. */
static void itrace_hooks_on_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct pitrace_it_thread *thread;
	bool follows, known;

	if (pitrace_task_is_kernel_only(child))
		return;
	preempt_disable_notrace();
	thread = itrace_this_thread();
	follows =
		thread && itrace_goes_on(thread) && pitrace_it_may_spread(child->tgid) &&
		(child->tgid == parent->tgid || (pitrace_it_setup.flags & PITRACE_ITRACE_CHILDREN));
	if (READ_ONCE(pitrace_it_runs) && (follows || pitrace_it_pid_selected(child->tgid, true))) {
		thread = pitrace_it_add(child, &known, itrace_hooks_set_up_child);
		if (thread && thread->tf == ITRACE_TF_NEW)
			pitrace_it_begin_in_user(thread, task_pt_regs(child));
	}
	preempt_enable_notrace();
}

/* Of several threads the one that calls exec survives, with the first one's id. */
static void itrace_hooks_on_exec(void *data, struct task_struct *task, pid_t old_pid,
				 struct linux_binprm *program)
{
	struct pitrace_it_thread *thread;

	preempt_disable_notrace();
	thread = itrace_this_thread();
	if (thread) {
		thread->tid = task->pid;
		thread->pid = task->tgid;
		itrace_hooks_keeps_rights(thread, task_pt_regs(task));
	}
	preempt_enable_notrace();
}

static void itrace_hooks_on_exit(void *data, struct task_struct *task PITRACE_EXIT_MORE)
{
	struct pitrace_it_thread *thread;

	preempt_disable_notrace();
	thread = itrace_this_thread();
	if (thread) {
		itrace_clear_tf();
		if (!thread->ended)
			pitrace_it_end(thread, task_pt_regs(current), PITRACE_STOP_EXIT);
		this_cpu_write(pitrace_it_cpus.running, NULL);
		pitrace_it_remove(thread);
	}
	preempt_enable_notrace();
}

/* The trap notifier is attached first and detached last. */
static struct pitrace_hook itrace_hooks_list[] = {
	{ .name = "step_notifier", .type = PITRACE_HOOK_DIE, .on_die = &pitrace_it_notifier },
	PITRACE_TRACEPOINT("sched_process_exit", itrace_hooks_on_exit),
	PITRACE_TRACEPOINT("sched_switch", itrace_hooks_on_switch),
	PITRACE_TRACEPOINT("signal_deliver", itrace_hooks_on_signal),
	PITRACE_TRACEPOINT("sched_process_exec", itrace_hooks_on_exec),
	PITRACE_TRACEPOINT("page_fault_user", itrace_hooks_on_page_fault),
	PITRACE_TRACEPOINT("page_fault_kernel", itrace_hooks_on_page_fault),
	PITRACE_TRACEPOINT("sys_enter", itrace_hooks_on_sys_enter),
	PITRACE_TRACEPOINT("sys_exit", itrace_hooks_on_sys_exit),
	PITRACE_TRACEPOINT("sched_process_fork", itrace_hooks_on_fork),
};

const struct pitrace_hook_set pitrace_it_hooks = { itrace_hooks_list,
						   ARRAY_SIZE(itrace_hooks_list) };

/* ---- threads that run already, and the calling thread ---- */

static void itrace_hooks_attach(struct callback_head *work)
{
	struct pitrace_it_thread *thread =
		container_of(work, struct pitrace_it_thread, attach_work);

	preempt_disable_notrace();
	if (READ_ONCE(thread->task) == current && thread->tf == ITRACE_TF_NEW &&
	    itrace_goes_on(thread) && !itrace_has_debugger())
		pitrace_it_begin_in_user(thread, task_pt_regs(current));
	WRITE_ONCE(thread->attach_due, false);
	preempt_enable_notrace();
}

void pitrace_it_attach_when_woken(struct pitrace_it_thread *thread)
{
	WRITE_ONCE(thread->begin_when_woken, true);
}

void pitrace_it_attach(struct pitrace_it_thread *thread, struct task_struct *task)
{
	WRITE_ONCE(thread->attach_due, true);
	init_task_work(&thread->attach_work, itrace_hooks_attach);
	if (task_work_add(task, &thread->attach_work, TWA_RESUME))
		WRITE_ONCE(thread->attach_due, false);
}

void pitrace_it_end_self(struct pitrace_it_thread *thread, u32 reason)
{
	preempt_disable_notrace();
	itrace_clear_tf();
	if (!thread->ended)
		pitrace_it_end(thread, task_pt_regs(current), reason);
	this_cpu_write(pitrace_it_cpus.running, NULL);
	pitrace_it_remove(thread);
	preempt_enable_notrace();
}

/* Does this kernel pass to these tracepoints what the probes take? */
static void __maybe_unused itrace_hooks_check_types(void)
{
	check_trace_callback_type_sched_process_exit(itrace_hooks_on_exit);
	check_trace_callback_type_sched_switch(itrace_hooks_on_switch);
	check_trace_callback_type_signal_deliver(itrace_hooks_on_signal);
	check_trace_callback_type_sched_process_exec(itrace_hooks_on_exec);
	check_trace_callback_type_page_fault_user(itrace_hooks_on_page_fault);
	check_trace_callback_type_page_fault_kernel(itrace_hooks_on_page_fault);
	check_trace_callback_type_sys_enter(itrace_hooks_on_sys_enter);
	check_trace_callback_type_sys_exit(itrace_hooks_on_sys_exit);
	check_trace_callback_type_sched_process_fork(itrace_hooks_on_fork);
}
