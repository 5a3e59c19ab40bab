/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ITrace on x86-64: every instruction traps (trap flag, TF), or in user code every taken branch, where the processor can
 * do that (itrace_branch_x86.c). Hooks set TF again where the processor or the kernel clears it.
 *
 * SYSCALL, interrupts and exceptions clear TF: sys_enter, the page-fault tracepoints and the int3 notifier set it again,
 * in the processor's own flags. Returns to user mode are emulated, so that the user's flags, r11 and signal frames never
 * show it. A context switch neither saves nor restores it: the sched_switch hook clears it for the previous thread and
 * sets it for the next one, while the previous one is still current (ITRACE_TF_ARRIVING).
 *
 * The code of each step is inline, as every instruction of a traced thread pays for it.
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

/* Reads the bytes from ip to the end of its page, if fewer than eight are left there. Returns how many; 0: not mapped. */
u8 pitrace_it_fetch_rest_of_page(u64 ip, u8 *code);
/* Classifies by as many bytes as an instruction can have; kind CUT if they cannot be read. */
struct pitrace_insn pitrace_it_classify_long(u64 ip, bool user, bool is64);

/* ---- TF in the processor's flags ---- */

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

/* Reads and classifies the next instruction. */
static __always_inline void itrace_fetch(struct pitrace_it_thread *thread, u64 ip, bool user,
					 bool is64)
{
	u8 opcode;

	thread->ip = ip;
	thread->code_length = user ? itrace_fetch_user(ip, thread->code) :
				     itrace_fetch_kernel(ip, thread->code);
	/* Most are uninteresting by their first byte, or by the byte after REX. */
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
 * Returns what the step that ended at address to did; *last: the instruction executed last, *from: its address.
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
	/* It could not be read before it was executed; perhaps it can now. */
	if (unlikely(last->kind == PITRACE_INSN_CUT))
		*last = pitrace_it_classify_long(*from, user, last->is64);
	if (unlikely(last->kind == PITRACE_INSN_CUT))
		return PITRACE_STEP_DIVERTED;
	return pitrace_step_outcome(*last, *from, to);
}

/* ---- threads ---- */

/* The thread of current, with preemption off. */
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

/* Steps the kernel from here on; recording begins outside this module. A hook calls it last. */
static __always_inline void itrace_arm(struct pitrace_it_thread *thread)
{
	itrace_begin_stretch(thread);
	thread->forced_switches = 0;
	itrace_tf_set(&thread->tf, ITRACE_TF_MODULE);
	itrace_set_tf();
}

/* ---- itrace_branch_x86.c: user code that traps at branches ---- */

/* A trap at ip in the kernel that belongs to no thread: was it one of the trial? */
bool pitrace_it_branches_tried(u64 ip);
/*
 * The rest with preemption off. BEGIN: user code continues at ip; false: it must be stepped. END: user code of current,
 * or of a child that has not run yet, is left. ARRIVE: a thread that traps at branches is being dispatched.
 */
bool pitrace_it_branches_begin(struct pitrace_it_thread *thread, u64 ip, bool is64);
void pitrace_it_branches_end(struct pitrace_it_thread *thread);
void pitrace_it_branches_arrive(void);
/* A trap. False: from here on the thread must be stepped. */
bool pitrace_it_branches_step(struct pitrace_it_thread *thread, const struct pt_regs *regs);
/* Length in bytes of the instruction that entered the kernel; 0: not entered by an instruction. */
void pitrace_it_branches_leave(struct pitrace_it_thread *thread, const struct pt_regs *regs,
			       u8 bytes);

/* ---- TF in the user's registers ---- */

static inline void itrace_user_tf_gone(struct pitrace_it_thread *thread)
{
	/* First, as the thread may be removed as soon as tf says that it has no TF. */
	if (unlikely(thread->branch_traps))
		pitrace_it_branches_end(thread);
	if (itrace_tf_in_user(thread->tf))
		itrace_tf_set(&thread->tf, ITRACE_TF_NONE);
}

static inline bool itrace_has_debugger(void)
{
	return unlikely(current->ptrace);
}

/* ---- itrace_user_x86.c: for current or a child that has not run yet, with preemption off ---- */

/* Clears TF in the user's registers, unless the program itself has set it. */
void pitrace_it_clean_user(struct pitrace_it_thread *thread, struct pt_regs *regs);
/* The thread's flow ends here. reason: PITRACE_STOP_*. */
void pitrace_it_end(struct pitrace_it_thread *thread, struct pt_regs *user_regs, u32 reason);
/*
 * User code continues at ip with TF, which the caller puts into the registers that are loaded. begins: the flow was
 * unknown before, and a block begins.
 */
void pitrace_it_enter_user(struct pitrace_it_thread *thread, u64 ip, bool is64, bool begins);
/* As pitrace_it_enter_user(), for registers that the kernel will load without being stepped. */
void pitrace_it_resume_in_user(struct pitrace_it_thread *thread, struct pt_regs *regs);
/* Begins to follow a thread, with its user code. */
void pitrace_it_begin_in_user(struct pitrace_it_thread *thread, struct pt_regs *regs);
/*
 * In a hook of the kernel, for a thread that may come from user mode: records how it left user code and cleans its
 * registers. False: it is not followed.
 */
bool pitrace_it_leave_user(struct pitrace_it_thread *thread, struct pt_regs *regs);

/* ---- itrace_return_x86.c: for current, in a trap in the kernel ---- */

/* The next instruction has a two-byte opcode. True: the kernel is not stepped any further. */
bool pitrace_it_ends_before_return(struct pitrace_it_thread *thread, struct pt_regs *regs);
/* The next instruction is a return. True: it was emulated; TF in regs says whether stepping continues. */
bool pitrace_it_do_return(struct pitrace_it_thread *thread, struct pt_regs *regs, u8 kind);
/* The trap of SYSRET, before the first instruction of user code. */
void pitrace_it_returned(struct pitrace_it_thread *thread, struct pt_regs *regs);

/* ---- itrace_trap_x86.c ---- */

extern struct notifier_block pitrace_it_notifier;

#endif /* PITRACE_ITRACE_X86_H */
