/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ITrace on x86-64: every instruction traps (the trap flag, TF), or in user code every taken branch, where the
 * processor can (itrace_branch_x86.c); and hooks keep the flag where the processor or the kernel loses it.
 *
 * SYSCALL, interrupts and exceptions clear it: sys_enter, the page faults' tracepoints and the int3
 * notifier set it anew, in the processor's own flags. Returns to user mode are done here in their place,
 * so that the user's flags, r11 and signal frames never show it. A dispatch neither saves nor restores it: it
 * is cleared before another thread gets the processor and set before this one gets it back, while still the
 * other one runs (arriving).
 *
 * What a step does every time is inline, for each instruction of a traced thread pays for it.
 */
#ifndef PITRACE_ITRACE_X86_H
#define PITRACE_ITRACE_X86_H

#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/uaccess.h>
#include <asm/processor-flags.h>

#include <pitrace/branch_x86.h>

#include "core/compat.h"
#include "itrace.h"

/* ---- itrace_code_x86.c ---- */

/* The bytes at ip up to the end of its page, where fewer than eight are left there; 0: not mapped. */
u8 pitrace_it_fetch_rest_of_page(u64 ip, u8 *code);
/* By as many bytes as an instruction can have; kind CUT where they are not to be had. */
struct pitrace_insn pitrace_it_classify_long(u64 ip, bool user, bool is64);

/* ---- the flag in the processor ---- */

static __always_inline bool itrace_tf_is_set(void)
{
	unsigned long flags;

	asm volatile("pushfq; popq %0" : "=r"(flags) : : "memory");
	return flags & X86_EFLAGS_TF;
}

static __always_inline void itrace_clear_tf(void)
{
	asm volatile("pushfq; andq %0, (%%rsp); popfq"
		     :
		     : "i"(~X86_EFLAGS_TF)
		     : "memory", "cc");
}

static __always_inline void itrace_set_tf(void)
{
	asm volatile("pushfq; orq %0, (%%rsp); popfq"
		     :
		     : "i"(X86_EFLAGS_TF)
		     : "memory", "cc");
}

/* ---- code ---- */

static __always_inline u8 itrace_fetch_user(u64 ip, u8 *code)
{
	const u64 __user *place = (const u64 __user *)ip;
	u64 word;

	pagefault_disable();
	if (!user_access_begin(place, sizeof(word)))
		goto failed;
	unsafe_get_user(word, place, fault);
	user_access_end();
	pagefault_enable();
	memcpy(code, &word, sizeof(word));
	return sizeof(word);
fault:
	user_access_end();
failed:
	pagefault_enable();
	return pitrace_it_fetch_rest_of_page(ip, code);
}

static __always_inline u8 itrace_fetch_kernel(u64 ip, u8 *code)
{
	u64 word;

	__get_kernel_nofault(&word, (const u64 *)ip, u64, fault);
	memcpy(code, &word, sizeof(word));
	return sizeof(word);
fault:
	return 0;
}

/* Looks at the instruction that is next. */
static __always_inline void itrace_fetch(struct pitrace_it_thread *thread, u64 ip, bool user,
					 bool is64)
{
	u8 opcode;

	thread->ip = ip;
	thread->code_length = user ? itrace_fetch_user(ip, thread->code) :
				     itrace_fetch_kernel(ip, thread->code);
	/* Most are told by their first byte, or that behind REX, not to be of interest. */
	opcode = thread->code[0];
	if (is64 && (opcode & 0xf0) == 0x40)
		opcode = thread->code[1];
	if (likely(thread->code_length > 1 && !pitrace_first_bytes[opcode])) {
		thread->insn.kind = PITRACE_INSN_OTHER;
		thread->insn.is64 = is64;
		return;
	}
	thread->insn = pitrace_classify(thread->code, thread->code_length, is64);
	if (unlikely(thread->insn.kind == PITRACE_INSN_CUT))
		thread->insn = pitrace_it_classify_long(ip, user, is64);
}

/*
 * What the step did that led to an address: *last becomes what was executed last, *from where it stands.
 */
static __always_inline int itrace_step_outcome(struct pitrace_it_thread *thread, u64 to, bool user,
					       struct pitrace_insn *last, u64 *from)
{
	*last = thread->insn;
	*from = thread->ip;
	if (likely(last->kind == PITRACE_INSN_OTHER && to - *from - 1 < PITRACE_INSN_MAX))
		return PITRACE_STEP_NEXT;
	if (unlikely(last->kind == PITRACE_INSN_SHADOW && last->length && to != *from + last->length)) {
		thread->count++;
		*from += last->length;
		*last = pitrace_it_classify_long(*from, user, last->is64);
	}
	/* It was not there when it was looked at, and may be now. */
	if (unlikely(last->kind == PITRACE_INSN_CUT))
		*last = pitrace_it_classify_long(*from, user, last->is64);
	if (unlikely(last->kind == PITRACE_INSN_CUT))
		return PITRACE_STEP_DIVERTED;
	return pitrace_step_outcome(*last, *from, to);
}

/* ---- threads ---- */

/* Of current, with preemption off. */
static __always_inline struct pitrace_it_thread *itrace_this_thread(void)
{
	struct pitrace_it_cpu *cpu = this_cpu_ptr(&pitrace_it_cpus);
	struct pitrace_it_thread *thread = cpu->running;

	if (thread && READ_ONCE(thread->task) == current)
		return thread;
	thread = pitrace_it_find(current);
	if (thread)
		cpu->running = thread;
	return thread;
}

static __always_inline bool itrace_goes_on(const struct pitrace_it_thread *thread)
{
	return READ_ONCE(pitrace_it_runs) && !thread->ended;
}

static __always_inline void itrace_begin_stretch(struct pitrace_it_thread *thread)
{
	thread->nonpreemptible_steps = 0;
	thread->slow_ticks = 0;
	thread->late_ticks = 0;
}

/* The kernel is followed from here on, as soon as the module is left. The last thing that a hook does. */
static __always_inline void itrace_arm(struct pitrace_it_thread *thread)
{
	itrace_begin_stretch(thread);
	itrace_tf_set(&thread->tf, ITRACE_TF_MODULE);
	itrace_set_tf();
}

/* ---- itrace_branch_x86.c: user code that traps at branches ---- */

/* A trap in the kernel, at ip, of nobody's: was it the trial's? */
bool pitrace_it_branches_tried(u64 ip);
/*
 * The rest with preemption off. BEGIN: user code goes on at ip; false: it must be stepped. END: it does not, of
 * current, or of a child that has not run yet. ARRIVE: a thread that traps at branches is being dispatched.
 */
bool pitrace_it_branches_begin(struct pitrace_it_thread *thread, u64 ip, bool is64);
void pitrace_it_branches_end(struct pitrace_it_thread *thread);
void pitrace_it_branches_arrive(void);
/* A trap. False: from here on it must be stepped. */
bool pitrace_it_branches_step(struct pitrace_it_thread *thread, const struct pt_regs *regs);
/* The kernel was entered, by an instruction of so many bytes; 0: by none. */
void pitrace_it_branches_leave(struct pitrace_it_thread *thread, const struct pt_regs *regs,
			       u8 bytes);

/* ---- the flag in the user's registers ---- */

static inline void itrace_user_tf_gone(struct pitrace_it_thread *thread)
{
	/* Once it is not dirty, its task may be forgotten. */
	if (unlikely(thread->branch_traps))
		pitrace_it_branches_end(thread);
	if (itrace_tf_in_user(thread->tf))
		itrace_tf_set(&thread->tf, ITRACE_TF_NONE);
}

static inline bool itrace_has_debugger(void)
{
	return unlikely(current->ptrace);
}

/* ---- itrace_user_x86.c: of current, or of a child that has not run yet, with preemption off ---- */

/* The user's registers as the user may see them. */
void pitrace_it_clean_user(struct pitrace_it_thread *thread, struct pt_regs *regs);
/* The thread's flow ends here. reason: PITRACE_STOP_*. */
void pitrace_it_end(struct pitrace_it_thread *thread, struct pt_regs *user_regs, u32 reason);
/*
 * The user's code goes on at ip with the trap flag, which is in the registers that are loaded. Where it was not
 * known that it would be there, a block begins.
 */
void pitrace_it_enter_user(struct pitrace_it_thread *thread, u64 ip, bool is64, bool begins);
/* As pitrace_it_enter_user(), of registers that the kernel will load in a way that is not stepped. */
void pitrace_it_resume_in_user(struct pitrace_it_thread *thread, struct pt_regs *regs);
/* What a thread that is not followed yet begins with: its user code. */
void pitrace_it_begin_in_user(struct pitrace_it_thread *thread, struct pt_regs *regs);
/*
 * A hook in the kernel, of a thread that may come from user mode: what it did there is told, and its
 * registers are cleaned. False: it is not followed.
 */
bool pitrace_it_leave_user(struct pitrace_it_thread *thread, struct pt_regs *regs);

/* ---- itrace_return_x86.c: of current, in a trap in the kernel ---- */

/* The next instruction is of two bytes' opcode. True: the kernel is not stepped any further. */
bool pitrace_it_ends_before_return(struct pitrace_it_thread *thread, struct pt_regs *regs);
/* The next instruction is a return. True: it is done; the trap flag in regs tells whether to go on. */
bool pitrace_it_do_return(struct pitrace_it_thread *thread, struct pt_regs *regs, u8 kind);
/* The trap that SYSRET makes, in user code that has not executed an instruction yet. */
void pitrace_it_returned(struct pitrace_it_thread *thread, struct pt_regs *regs);

/* ---- itrace_trap_x86.c ---- */

extern struct notifier_block pitrace_it_notifier;

#endif /* PITRACE_ITRACE_X86_H */
