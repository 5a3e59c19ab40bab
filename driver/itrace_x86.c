// SPDX-License-Identifier: GPL-2.0-only
/*
 * ITrace on x86-64: every instruction traps (the trap flag, TF), and hooks keep the flag where the
 * processor or the kernel loses it.
 *
 * SYSCALL, interrupts and exceptions clear it: sys_enter, the page faults' tracepoints and the int3
 * notifier set it anew, in the processor's own flags. Returns to user mode are done here in their place
 * (leave()), so that the user's flags, r11 and signal frames never show it. A dispatch neither saves
 * nor restores it: it is cleared before another thread gets the processor and set before this one gets
 * it back, while still the other one runs (arriving).
 */

#include <linux/kdebug.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>
#include <asm/debugreg.h>
#include <asm/msr.h>
#include <asm/segment.h>
#include <asm/trapnr.h>
#include <asm/trace/exceptions.h>
#include <trace/events/sched.h>
#include <trace/events/signal.h>
#include <trace/events/syscalls.h>

#include <pitrace/branch_x86.h>

#include "compat.h"
#include "itrace.h"
#include "pitrace.h"
#include "probes.h"
#include "record.h"

/* Steps in a row with preemption or interrupts off; then it goes on unseen, as a gap. */
#define BOUNDED_MAX 100000

/* What SYSRET takes from r11. */
#define SYSRET_FLAGS 0x3c7fd7ul

/* What POPF changes in user mode, but for the trap flag. */
#define POPF_FLAGS                                                                              \
	(X86_EFLAGS_CF | X86_EFLAGS_PF | X86_EFLAGS_AF | X86_EFLAGS_ZF | X86_EFLAGS_SF |        \
	 X86_EFLAGS_DF | X86_EFLAGS_OF | X86_EFLAGS_NT | X86_EFLAGS_AC | X86_EFLAGS_ID)

/* ---- the flag in the processor ---- */

static __always_inline bool trap_is_set(void)
{
	unsigned long flags;

	asm volatile("pushfq; popq %0" : "=r"(flags) : : "memory");
	return flags & X86_EFLAGS_TF;
}

static __always_inline void clear_trap(void)
{
	asm volatile("pushfq; andq %0, (%%rsp); popfq"
		     :
		     : "i"(~X86_EFLAGS_TF)
		     : "memory", "cc");
}

static __always_inline void set_trap(void)
{
	asm volatile("pushfq; orq %0, (%%rsp); popfq"
		     :
		     : "i"(X86_EFLAGS_TF)
		     : "memory", "cc");
}

/* ---- code ---- */

static noinline u8 fetch_rest_of_page(u64 ip, u8 *code)
{
	const u32 rest = PAGE_SIZE - offset_in_page(ip);

	return rest < 8 && !copy_from_user_nofault(code, (void __user *)ip, rest) ? rest : 0;
}

static __always_inline u8 fetch_user(u64 ip, u8 *code)
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
	return fetch_rest_of_page(ip, code);
}

static __always_inline u8 fetch_kernel(u64 ip, u8 *code)
{
	u64 word;

	__get_kernel_nofault(&word, (const u64 *)ip, u64, fault);
	memcpy(code, &word, sizeof(word));
	return sizeof(word);
fault:
	return 0;
}

/* A ninth byte matters only behind many prefixes, or at the end of a page. */
static noinline struct pitrace_insn classify_long(u64 ip, bool user, bool is64)
{
	u8 code[PITRACE_INSN_MAX];
	u32 length = sizeof(code);
	struct pitrace_insn none = { .kind = PITRACE_INSN_CUT, .is64 = is64 };

	if (user ? copy_from_user_nofault(code, (void __user *)ip, length) :
		   copy_from_kernel_nofault(code, (void *)ip, length)) {
		length = min_t(u32, length, PAGE_SIZE - offset_in_page(ip));
		if (user ? copy_from_user_nofault(code, (void __user *)ip, length) :
			   copy_from_kernel_nofault(code, (void *)ip, length))
			return none;
	}
	return pitrace_classify(code, length, is64);
}

/* Looks at the instruction that is next. */
static __always_inline void fetch(struct pitrace_it_thread *thread, u64 ip, bool user, bool is64)
{
	u8 opcode;

	thread->ip = ip;
	thread->code_length = user ? fetch_user(ip, thread->code) : fetch_kernel(ip, thread->code);
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
		thread->insn = classify_long(ip, user, is64);
}

/*
 * What the step did that led to an address: *last becomes what was executed last, *from where it stands.
 */
static __always_inline int outcome(struct pitrace_it_thread *thread, u64 to, bool user,
				   struct pitrace_insn *last, u64 *from)
{
	*last = thread->insn;
	*from = thread->ip;
	if (likely(last->kind == PITRACE_INSN_OTHER && to - *from - 1 < PITRACE_INSN_MAX))
		return PITRACE_STEP_NEXT;
	if (unlikely(last->kind == PITRACE_INSN_SHADOW && last->length && to != *from + last->length)) {
		thread->count++;
		*from += last->length;
		*last = classify_long(*from, user, last->is64);
	}
	/* It was not there when it was looked at, and may be now. */
	if (unlikely(last->kind == PITRACE_INSN_CUT))
		*last = classify_long(*from, user, last->is64);
	if (unlikely(last->kind == PITRACE_INSN_CUT))
		return PITRACE_STEP_DIVERTED;
	return pitrace_step_outcome(*last, *from, to);
}

/* ---- threads ---- */

/* Of current, with preemption off. */
static __always_inline struct pitrace_it_thread *this_thread(void)
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

static __always_inline bool goes_on(const struct pitrace_it_thread *thread)
{
	return READ_ONCE(pitrace_it_runs) && !thread->over;
}

/* The kernel is followed from here on, as soon as the module is left. The last thing that a hook does. */
static __always_inline void arm(struct pitrace_it_thread *thread)
{
	thread->settling = true;
	thread->bounded = 0;
	WRITE_ONCE(thread->live, true);
	set_trap();
}

static void user_flag_gone(struct pitrace_it_thread *thread)
{
	WRITE_ONCE(thread->in_user, false);
}

/* The user's registers as the user may see them. */
static void clean(struct pitrace_it_thread *thread, struct pt_regs *regs)
{
	if (thread->in_user && !thread->own && !test_thread_flag(TIF_SINGLESTEP))
		regs->flags &= ~X86_EFLAGS_TF;
	user_flag_gone(thread);
}

static void end(struct pitrace_it_thread *thread, struct pt_regs *user_regs, u32 reason)
{
	clean(thread, user_regs);
	WRITE_ONCE(thread->live, false);
	WRITE_ONCE(thread->parked, false);
	pitrace_it_stop(thread, reason);
}

static bool has_debugger(void)
{
	return unlikely(current->ptrace);
}

/*
 * The user's code goes on at ip with the trap flag, which is in the registers that are loaded. Where it was not
 * known that it would be there, a block begins.
 */
static void enter_user(struct pitrace_it_thread *thread, u64 ip, bool is64, bool begins)
{
	WRITE_ONCE(thread->live, false);
	thread->settling = false;
	if (begins)
		pitrace_it_begin_block(thread, ip);
	fetch(thread, ip, true, is64);
	WRITE_ONCE(thread->in_user, true);
}

/* As enter_user(), of registers that the kernel will load in a way that is not stepped. */
static void resume_in_user(struct pitrace_it_thread *thread, struct pt_regs *regs)
{
	thread->own = regs->flags & X86_EFLAGS_TF;
	if (!pitrace_it_setup.user) {
		pitrace_it_lose(thread, PITRACE_GAP_UNTRACED);
		return;
	}
	enter_user(thread, regs->ip, user_64bit_mode(regs), thread->gap || thread->starts);
	regs->flags |= X86_EFLAGS_TF;
}

/* What a thread that is not followed yet begins with: its user code. */
static void begin_in_user(struct pitrace_it_thread *thread, struct pt_regs *regs)
{
	thread->fresh = false;
	thread->starts = true;
	resume_in_user(thread, regs);
}

/* The number in a CUT of a way into the kernel that is no exception. */
static u32 vector_of(const struct pitrace_it_thread *thread, const struct pitrace_insn *insn)
{
	if (insn->kind == PITRACE_INSN_SYSENTER)
		return 0x80; /* the 32-bit system call, another way */
	return insn->length > 1 ? thread->code[insn->length - 1] : X86_TRAP_BP;
}

/*
 * A hook in the kernel, of a thread that may come from user mode: what it did there is told, and its
 * registers are cleaned. False: it is not followed.
 */
static bool leave_user(struct pitrace_it_thread *thread, struct pt_regs *regs)
{
	struct pitrace_insn insn;

	if (!goes_on(thread) || has_debugger()) {
		if (!thread->over)
			end(thread, regs, has_debugger() ? PITRACE_STOP_DEBUGGER : PITRACE_STOP_OFF);
		else
			clean(thread, regs);
		return false;
	}
	if (!thread->in_user)
		return true;
	insn = thread->insn;
	if (insn.kind == PITRACE_INSN_SYSCALL && regs->ip == thread->ip + insn.length) {
		u64 entry;

		rdmsrl(MSR_LSTAR, entry);
		thread->count++;
		pitrace_it_branch(thread, true, thread->ip, entry);
		/* SYSCALL has put the flags there. */
		if (!thread->own)
			regs->r11 &= ~X86_EFLAGS_TF;
		pitrace_it_lose(thread, PITRACE_GAP_ENTRY);
	} else if (insn.kind == PITRACE_INSN_SYSENTER ||
		   (insn.kind == PITRACE_INSN_INT && regs->ip == thread->ip + insn.length)) {
		/* Where it went is not known, but where from. */
		thread->count++;
		pitrace_it_cut(thread, true, vector_of(thread, &insn), thread->ip);
		pitrace_it_lose(thread, PITRACE_GAP_ENTRY);
	}
	clean(thread, regs);
	return true;
}

/* ---- returns, done in the trap before them ---- */

/*
 * What regs are to be after a return to another ring or place. The trap's own return does the rest: it
 * loads them all at once, as the instruction would have.
 */
static noinline void leave(struct pitrace_it_thread *thread, struct pt_regs *regs, u64 ip, u64 cs,
			   u64 flags, u64 sp, u64 ss)
{
	const bool user = (cs & 3) == 3;

	if (pitrace_it_setup.kernel) {
		thread->count++;
		pitrace_it_branch(thread, false, regs->ip, ip);
	}
	regs->ip = ip;
	regs->cs = cs;
	regs->sp = sp;
	regs->ss = ss;
	regs->flags = flags;
	if (!user) {
		regs->flags |= X86_EFLAGS_TF;
		fetch(thread, ip, false, true);
		return;
	}
	thread->own = flags & X86_EFLAGS_TF;
	if (!pitrace_it_setup.user) {
		WRITE_ONCE(thread->live, false);
		pitrace_it_lose(thread, PITRACE_GAP_UNTRACED);
		return;
	}
	enter_user(thread, ip, user_64bit_mode(regs), thread->gap || thread->starts);
	regs->flags |= X86_EFLAGS_TF;
}

/* Is the next instruction a return? Then it is done. */
static noinline bool do_return(struct pitrace_it_thread *thread, struct pt_regs *regs, u8 kind)
{
	const u64 *frame = (const u64 *)regs->sp;
	const bool wide = thread->code[0] == 0x48;

	if (kind == PITRACE_INSN_SYSRET) {
		leave(thread, regs, wide ? regs->cx : (u32)regs->cx, wide ? __USER_CS : __USER32_CS,
		      (regs->r11 & SYSRET_FLAGS) | X86_EFLAGS_FIXED, regs->sp, __USER_DS);
		return true;
	}
	if (kind != PITRACE_INSN_IRET || !wide)
		return false;
	leave(thread, regs, frame[0], frame[1], frame[2], frame[3], frame[4]);
	return true;
}

/* ---- steps of the kernel ---- */

/* True: the flag stays set. */
static __always_inline bool kernel_step(struct pitrace_it_thread *thread, struct pt_regs *regs)
{
	const u64 ip = regs->ip;
	struct pitrace_insn last;
	u64 from;

	if (unlikely(thread->settling)) {
		if (within_module(ip, THIS_MODULE))
			return true;
		thread->settling = false;
		if (pitrace_it_setup.kernel)
			pitrace_it_begin_block(thread, ip);
	} else if (pitrace_it_setup.kernel) {
		thread->count++;
		switch (outcome(thread, ip, false, &last, &from)) {
		case PITRACE_STEP_TAKEN:
			/* What stands for code that is being patched just now is no branch. */
			if (last.kind == PITRACE_INSN_INT && ip - from <= PITRACE_INSN_MAX)
				break;
			pitrace_it_branch(thread, false, from, ip);
			break;
		case PITRACE_STEP_DIVERTED:
			pitrace_it_lose(thread, PITRACE_GAP_DIVERTED);
			pitrace_it_begin_block(thread, ip);
			break;
		}
		if (unlikely(thread->over))
			return false;
	}
	fetch(thread, ip, false, true);
	if (unlikely(thread->insn.kind >= PITRACE_INSN_SYSRET) &&
	    do_return(thread, regs, thread->insn.kind))
		return regs->flags & X86_EFLAGS_TF;
	if (likely((regs->flags & X86_EFLAGS_IF) && !(preempt_count() & PREEMPT_MASK))) {
		thread->bounded = 0;
		return true;
	}
	if (likely(++thread->bounded < BOUNDED_MAX))
		return true;
	pitrace_it_lose(thread, PITRACE_GAP_LIMIT);
	return false;
}

/* ---- steps of the user ---- */

/* The stack's copy of the flags has the trap flag, which the program knows nothing of. */
static noinline void hide_from_pushf(struct pitrace_it_thread *thread, struct pt_regs *regs)
{
	u8 byte;
	void __user *place = (void __user *)(regs->sp + 1); /* bits 8 to 15 */

	if (thread->own)
		return;
	if (!copy_from_user_nofault(&byte, place, 1)) {
		byte &= ~(X86_EFLAGS_TF >> 8);
		copy_to_user_nofault(place, &byte, 1);
	}
}

/* Done here, as it would load the trap flag. False: the stack is not there now. */
static noinline bool do_popf(struct pitrace_it_thread *thread, struct pt_regs *regs, bool is64)
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
	thread->own = flags & X86_EFLAGS_TF;
	regs->sp += bytes;
	if (!is64)
		regs->sp = (u32)regs->sp;
	regs->ip += prefixes + 1;
	thread->count++;
	return true;
}

/* True: the flag stays set. */
static __always_inline bool user_step(struct pitrace_it_thread *thread, struct pt_regs *regs)
{
	const bool is64 = user_64bit_mode(regs);
	const u64 ip = regs->ip;
	struct pitrace_insn last;
	u64 from;

	thread->count++;
	switch (outcome(thread, ip, true, &last, &from)) {
	case PITRACE_STEP_TAKEN:
		pitrace_it_branch(thread, true, from, ip);
		break;
	case PITRACE_STEP_DIVERTED:
		thread->count--;
		pitrace_it_lose(thread, PITRACE_GAP_DIVERTED);
		pitrace_it_begin_block(thread, ip);
		break;
	}
	if (unlikely(last.kind == PITRACE_INSN_PUSHF))
		hide_from_pushf(thread, regs);
	if (unlikely(thread->over))
		return false;
	fetch(thread, ip, true, is64);
	if (unlikely(thread->own)) {
		/* A program that steps itself gets each trap, and loads its flags itself. */
		if (last.kind == PITRACE_INSN_POPF)
			thread->own = regs->flags & X86_EFLAGS_TF;
		return true;
	}
	while (unlikely(thread->insn.kind == PITRACE_INSN_POPF) && do_popf(thread, regs, is64))
		fetch(thread, regs->ip, true, is64);
	return true;
}

/* ---- holding a thread back, on its way to user mode, until there is room ---- */

/* Of this CPU, as far as the thread stays on it. */
static bool has_room(void)
{
	struct pitrace_ring *ring = raw_cpu_ptr(&pitrace_rings[PITRACE_BUFFER_TRACE]);
	struct pitrace_buffer_head *head = READ_ONCE(ring->head);

	if (!head || READ_ONCE(pitrace_gates[PITRACE_BUFFER_TRACE]) != PITRACE_GATE_OPEN)
		return true;
	/* The reader takes what there is at half of it, at the latest. */
	return READ_ONCE(head->reserved) + min(pitrace_it_setup.reserve, ring->size / 2) <=
	       READ_ONCE(head->consumed) + ring->size;
}

static void hold(struct callback_head *work)
{
	struct pitrace_it_thread *thread = container_of(work, struct pitrace_it_thread, hold);

	while (goes_on(thread) && !has_room() && !fatal_signal_pending(current)) {
		preempt_disable();
		pitrace_wake_reader();
		preempt_enable();
		schedule_timeout_killable(1);
	}
	WRITE_ONCE(thread->holding, false);
}

static noinline void hold_back(struct pitrace_it_thread *thread)
{
	if (thread->holding)
		return;
	WRITE_ONCE(thread->holding, true);
	init_task_work(&thread->hold, hold);
	if (task_work_add(current, &thread->hold, TWA_RESUME))
		WRITE_ONCE(thread->holding, false);
}

/* ---- traps ---- */

/* Nobody else's business where no other condition is left. */
static int handled(unsigned long *dr6)
{
	*dr6 &= ~DR_STEP;
	return *dr6 ? NOTIFY_DONE : NOTIFY_STOP;
}

/* In user mode it is somebody else's; nobody else steps the kernel. */
static noinline int trap_of_nobody(struct pt_regs *regs, unsigned long *dr6)
{
	if (user_mode(regs))
		return NOTIFY_DONE;
	regs->flags &= ~X86_EFLAGS_TF;
	return handled(dr6);
}

/* The thread is not followed any more; this trap has told it so. */
static noinline int last_trap(struct pitrace_it_thread *thread, struct pt_regs *regs,
			      unsigned long *dr6, u32 reason)
{
	const bool user = user_mode(regs);

	if (!thread->over)
		pitrace_it_stop(thread, reason);
	WRITE_ONCE(thread->live, false);
	if (user)
		user_flag_gone(thread);
	/* What the program or its debugger has set is theirs. */
	if (user && (thread->own || test_thread_flag(TIF_SINGLESTEP)))
		return NOTIFY_DONE;
	regs->flags &= ~X86_EFLAGS_TF;
	return handled(dr6);
}

static int user_trap(struct pitrace_it_thread *thread, struct pt_regs *regs, unsigned long *dr6)
{
	const bool own = thread->own;
	bool stays;

	if (unlikely(current->utask && current->utask->active_uprobe)) {
		/* Its own step, of a copy elsewhere, without which it never ends. */
		thread->count++;
		clean(thread, regs);
		pitrace_it_lose(thread, PITRACE_GAP_PROBE);
		preempt_disable_notrace();
		arm(thread);
		preempt_enable_notrace();
		return NOTIFY_DONE;
	}
	stays = user_step(thread, regs);
	if (unlikely(!stays))
		return last_trap(thread, regs, dr6, PITRACE_STOP_FULL);
	if (unlikely(pitrace_it_setup.reserve && !has_room()))
		hold_back(thread);
	regs->flags |= X86_EFLAGS_TF;
	/* Sent as a signal, as if it were the program's alone. */
	return unlikely(own) ? NOTIFY_DONE : handled(dr6);
}

static int on_debug(struct pt_regs *regs, unsigned long *dr6)
{
	struct pitrace_it_thread *thread;

	if (!(*dr6 & DR_STEP))
		return NOTIFY_DONE;
	thread = this_cpu_read(pitrace_it_cpus.running);
	if (unlikely(!thread || READ_ONCE(thread->task) != current)) {
		if (thread && thread->arriving && READ_ONCE(thread->task))
			return handled(dr6);
		thread = this_thread();
		if (!thread)
			return trap_of_nobody(regs, dr6);
	}
	this_cpu_inc(pitrace_it_cpus.steps);
	if (unlikely(!goes_on(thread)))
		return last_trap(thread, regs, dr6, PITRACE_STOP_OFF);
	if (user_mode(regs)) {
		if (has_debugger())
			return last_trap(thread, regs, dr6, PITRACE_STOP_DEBUGGER);
		if (!thread->in_user)
			return NOTIFY_DONE;
		return user_trap(thread, regs, dr6);
	}
	if (unlikely(thread->arriving)) {
		thread->arriving = false;
		if (pitrace_it_setup.kernel)
			pitrace_it_begin_block(thread, regs->ip);
		fetch(thread, regs->ip, false, true);
	} else if (unlikely(!thread->live)) {
		/* In a frame of the kernel that was left behind. */
		regs->flags &= ~X86_EFLAGS_TF;
	} else if (unlikely(!kernel_step(thread, regs))) {
		if (thread->over)
			return last_trap(thread, regs, dr6, PITRACE_STOP_FULL);
		if (!user_mode(regs)) {
			WRITE_ONCE(thread->live, false);
			regs->flags &= ~X86_EFLAGS_TF;
		}
	}
	return handled(dr6);
}

/* A breakpoint in user code: the program's, its debugger's or a uprobe's, which the flag would confuse. */
static void on_int3(struct pt_regs *regs)
{
	struct pitrace_it_thread *thread = this_thread();

	if (!thread || !thread->in_user || !leave_user(thread, regs))
		return;
	pitrace_it_lose(thread, PITRACE_GAP_PROBE);
	arm(thread);
}

static int on_die(struct notifier_block *block, unsigned long what, void *data)
{
	const struct die_args *die = data;

	if (likely(what == DIE_DEBUG))
		return on_debug(die->regs, (unsigned long *)die->err);
	if (what == DIE_INT3 && user_mode(die->regs))
		on_int3(die->regs);
	return NOTIFY_DONE;
}
NOKPROBE_SYMBOL(on_die);

static struct notifier_block notifier = { .notifier_call = on_die, .priority = INT_MAX };

/* ---- hooks: where the kernel is entered, left, or does with a thread what the flag must not meet ---- */

/* The rest of the way through the kernel is stepped, be it recorded or not. */
static __always_inline void go_on_in_kernel(struct pitrace_it_thread *thread, u8 gap)
{
	pitrace_it_lose(thread, gap);
	arm(thread);
}

static void on_sys_enter(void *data, struct pt_regs *regs, long number)
{
	struct pitrace_it_thread *thread;

	preempt_disable_notrace();
	thread = this_thread();
	/* Whatever took the flag away in the kernel, it comes from user mode now. */
	if (thread)
		WRITE_ONCE(thread->live, false);
	if (thread && !thread->fresh && leave_user(thread, regs)) {
		if (pitrace_it_setup.kernel)
			go_on_in_kernel(thread, PITRACE_GAP_ENTRY);
		else
			pitrace_it_lose(thread, PITRACE_GAP_UNTRACED);
	}
	preempt_enable_notrace();
}

static void on_sys_exit(void *data, struct pt_regs *regs, long result)
{
	struct pitrace_it_thread *thread;

	preempt_disable_notrace();
	thread = this_thread();
	if (!thread || thread->live) {
		/* It is followed, out of the kernel too. */
	} else if (thread->fresh) {
		if (goes_on(thread) && !has_debugger())
			begin_in_user(thread, regs);
	} else if (leave_user(thread, regs)) {
		if (pitrace_it_setup.kernel)
			go_on_in_kernel(thread, PITRACE_GAP_LIMIT);
		else
			resume_in_user(thread, regs);
	}
	preempt_enable_notrace();
}

static void on_page_fault(void *data, unsigned long address, struct pt_regs *regs,
			  unsigned long error_code)
{
	struct pitrace_it_thread *thread;

	preempt_disable_notrace();
	thread = this_thread();
	/* Those of the traps themselves have not the flag. */
	if (thread && goes_on(thread) && pitrace_it_setup.kernel && (regs->flags & X86_EFLAGS_TF) &&
	    (user_mode(regs) ? thread->in_user : thread->live)) {
		const bool user = user_mode(regs);

		pitrace_it_cut(thread, user, X86_TRAP_PF, regs->ip);
		if (!user || leave_user(thread, regs))
			go_on_in_kernel(thread, PITRACE_GAP_EXCEPTION);
	}
	preempt_enable_notrace();
}

/* Before a handler's frame is made of the user's registers, and before a signal ends the process. */
static void on_signal(void *data, int number, struct kernel_siginfo *info,
		      struct k_sigaction *action)
{
	struct pitrace_it_thread *thread;

	preempt_disable_notrace();
	thread = this_thread();
	/* Also of one that has been told to end, and has not found out. */
	if (thread && !thread->fresh && !thread->live &&
	    leave_user(thread, task_pt_regs(current)))
		go_on_in_kernel(thread, PITRACE_GAP_SIGNAL);
	preempt_enable_notrace();
}

/* previous is current still. */
static void on_switch(void *data, bool preempted, struct task_struct *previous,
		      struct task_struct *next, unsigned int previous_state)
{
	struct pitrace_it_cpu *cpu = this_cpu_ptr(&pitrace_it_cpus);
	struct pitrace_it_thread *thread = this_thread();

	if (trap_is_set()) {
		clear_trap();
		if (thread && thread->live) {
			pitrace_it_lose(thread, PITRACE_GAP_SWITCH);
			thread->parked = true;
			WRITE_ONCE(thread->live, false);
		}
	}
	/* It stops, and a debugger looks at its registers then. */
	if (thread && !thread->over && has_debugger())
		end(thread, task_pt_regs(current), PITRACE_STOP_DEBUGGER);
	thread = pitrace_it_find(next);
	cpu->running = thread;
	if (!thread || !thread->parked || !goes_on(thread))
		return;
	thread->parked = false;
	thread->arriving = true;
	thread->settling = false;
	thread->bounded = 0;
	WRITE_ONCE(thread->live, true);
	set_trap();
}

static void set_up_child(struct pitrace_it_thread *thread, struct task_struct *task)
{
	thread->starts = true;
	if (pitrace_it_setup.kernel)
		thread->parked = true; /* it is as if it had been dispatched before */
	else
		thread->fresh = true;
}

/* The child has not run yet. */
static void on_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct pitrace_it_thread *thread;
	bool follows, known;

	if (pitrace_task_is_kernel_only(child))
		return;
	preempt_disable_notrace();
	thread = this_thread();
	follows = thread && goes_on(thread) &&
		  (child->tgid == parent->tgid || (pitrace_it_setup.flags & PITRACE_ITRACE_CHILDREN));
	if (READ_ONCE(pitrace_it_runs) && (follows || pitrace_it_wants(child->tgid))) {
		thread = pitrace_it_add(child, &known, set_up_child);
		if (thread && thread->fresh)
			begin_in_user(thread, task_pt_regs(child));
	}
	preempt_enable_notrace();
}

/* Of several threads the one that calls exec survives, with the first one's id. */
static void on_exec(void *data, struct task_struct *task, pid_t old_pid, struct linux_binprm *program)
{
	struct pitrace_it_thread *thread;

	preempt_disable_notrace();
	thread = this_thread();
	if (thread) {
		thread->tid = task->pid;
		thread->pid = task->tgid;
	}
	preempt_enable_notrace();
}

static void on_exit(void *data, struct task_struct *task)
{
	struct pitrace_it_thread *thread;

	preempt_disable_notrace();
	thread = this_thread();
	if (thread) {
		clear_trap();
		if (!thread->over)
			end(thread, task_pt_regs(current), PITRACE_STOP_EXIT);
		this_cpu_write(pitrace_it_cpus.running, NULL);
		pitrace_it_remove(thread);
	}
	preempt_enable_notrace();
}

/* Traps first, and last to go. */
static struct pitrace_hook hooks[] = {
	{ .name = "step_notifier", .type = PITRACE_HOOK_DIE, .on_die = &notifier },
	PITRACE_TRACEPOINT("sched_process_exit", on_exit),
	PITRACE_TRACEPOINT("sched_switch", on_switch),
	PITRACE_TRACEPOINT("signal_deliver", on_signal),
	PITRACE_TRACEPOINT("sched_process_exec", on_exec),
	PITRACE_TRACEPOINT("page_fault_user", on_page_fault),
	PITRACE_TRACEPOINT("page_fault_kernel", on_page_fault),
	PITRACE_TRACEPOINT("sys_enter", on_sys_enter),
	PITRACE_TRACEPOINT("sys_exit", on_sys_exit),
	PITRACE_TRACEPOINT("sched_process_fork", on_fork),
};

const struct pitrace_hook_set pitrace_it_hooks = { hooks, ARRAY_SIZE(hooks) };

/* ---- threads that run already, and the caller's own ---- */

static void attach(struct callback_head *work)
{
	struct pitrace_it_thread *thread = container_of(work, struct pitrace_it_thread, attach);

	preempt_disable_notrace();
	if (READ_ONCE(thread->task) == current && thread->fresh && goes_on(thread) && !has_debugger())
		begin_in_user(thread, task_pt_regs(current));
	WRITE_ONCE(thread->attaching, false);
	preempt_enable_notrace();
}

void pitrace_it_attach(struct pitrace_it_thread *thread, struct task_struct *task)
{
	WRITE_ONCE(thread->attaching, true);
	init_task_work(&thread->attach, attach);
	if (task_work_add(task, &thread->attach, TWA_RESUME))
		WRITE_ONCE(thread->attaching, false);
}

void pitrace_it_end_self(struct pitrace_it_thread *thread, u32 reason)
{
	preempt_disable_notrace();
	clear_trap();
	if (!thread->over)
		end(thread, task_pt_regs(current), reason);
	this_cpu_write(pitrace_it_cpus.running, NULL);
	pitrace_it_remove(thread);
	preempt_enable_notrace();
}

/* Does this kernel pass what the probes take? */
static void __maybe_unused check_types(void)
{
	check_trace_callback_type_sched_process_exit(on_exit);
	check_trace_callback_type_sched_switch(on_switch);
	check_trace_callback_type_signal_deliver(on_signal);
	check_trace_callback_type_sched_process_exec(on_exec);
	check_trace_callback_type_page_fault_user(on_page_fault);
	check_trace_callback_type_page_fault_kernel(on_page_fault);
	check_trace_callback_type_sys_enter(on_sys_enter);
	check_trace_callback_type_sys_exit(on_sys_exit);
	check_trace_callback_type_sched_process_fork(on_fork);
}
