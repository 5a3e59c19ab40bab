// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a followed thread leaves the kernel. The kernel's last instructions are SWAPGS, VERW where the processor needs its
 * buffers cleared, and SYSRET or IRET. A trap between VERW and the return would fill the buffers again, so stepping ends
 * at SWAPGS: the instructions after it are read, not stepped, and TF is put where the return loads it from. SYSRET traps
 * before the first instruction of user code, IRET after it.
 */

#include <linux/kernel.h>
#include <asm/cpufeature.h>
#include <asm/segment.h>

#include "itrace_x86.h"

/* With FRED other instructions enter and leave the kernel, and one instruction returns to both rings. */
bool pitrace_it_cpu_supported(void)
{
#ifdef X86_FEATURE_FRED
	return !cpu_feature_enabled(X86_FEATURE_FRED);
#else
	return true;
#endif
}

/* Jumps, and half of the instructions, that are read at most between SWAPGS and the return. */
#define TAIL_MAX 16

/* Flags that SYSRET loads from r11. */
#define SYSRET_FLAGS 0x3c7fd7ul

/* Index of ss in IRET's frame, and its bit for a segment of the LDT, for which the kernel returns in another way. */
#define FRAME_SS     4
#define OWN_SEGMENT  4

static noinline bool itrace_return_is_padding(const u8 *code, u8 length)
{
	static const struct {
		u8 length, bytes[4];
	} nops[] = {
		{ 1, { 0x90 } },	     { 2, { 0x66, 0x90 } },
		{ 3, { 0x0f, 0x1f, 0x00 } }, { 4, { 0x0f, 0x1f, 0x40 } },
		{ 5, { 0x0f, 0x1f, 0x44 } }, { 6, { 0x66, 0x0f, 0x1f, 0x44 } },
		{ 7, { 0x0f, 0x1f, 0x80 } }, { 8, { 0x0f, 0x1f, 0x84 } },
		{ 7, { 0x0f, 0x00, 0x2d } }, /* VERW of a constant */
	};
	u32 i, known;

	for (i = 0; i < ARRAY_SIZE(nops); i++) {
		known = nops[i].length == 6 ? 4 : min_t(u32, nops[i].length, 3);
		if (nops[i].length == length && !memcmp(code, nops[i].bytes, known))
			return true;
	}
	return false;
}

/* Length of padding or VERW; 0: another instruction. */
static u8 itrace_return_padding_length(const u8 *code)
{
	u8 length;

	for (length = 8; length; length--) {
		if (itrace_return_is_padding(code, length))
			return length;
	}
	return 0;
}

/* testb $4, 0x20(%rsp); jne ...: taken only for a segment of the LDT. */
static bool itrace_return_skips_own_segment(const u8 *code, const u64 *frame)
{
	static const u8 test[] = { 0xf6, 0x44, 0x24, 0x20, 0x04, 0x75 };

	return !memcmp(code, test, sizeof(test)) && !(frame[FRAME_SS] & OWN_SEGMENT);
}

/* The kernel's last instructions, from SWAPGS on. */
struct tail {
	u64 at; /* address of the return */
	u32 count; /* instructions before it */
	u32 jumps;
	u64 from[TAIL_MAX], to[TAIL_MAX];
	u32 counts[TAIL_MAX]; /* instructions of the block that a jump ends */
	bool is_sysret;
	bool wide;
};

static bool itrace_return_add_jump(struct tail *tail, u64 from, u64 to)
{
	if (tail->jumps == TAIL_MAX)
		return false;
	tail->from[tail->jumps] = from;
	tail->to[tail->jumps] = to;
	tail->counts[tail->jumps++] = tail->count + 1;
	tail->count = 0;
	return true;
}

static bool itrace_return_read_tail(struct tail *tail, u64 ip, const u64 *frame)
{
	struct pitrace_insn insn;
	u32 steps;
	u8 code[8];

	for (steps = 0; steps < 2 * TAIL_MAX; steps++) {
		const u8 length =
			itrace_fetch_kernel(ip, code) ? itrace_return_padding_length(code) : 0;

		if (length) {
			tail->count++;
			ip += length;
			continue;
		}
		if (itrace_return_skips_own_segment(code, frame)) {
			tail->count += 2;
			ip += 7;
			continue;
		}
		insn = pitrace_classify(code, sizeof(code), true);
		tail->at = ip;
		tail->wide = code[0] == 0x48;
		tail->is_sysret = insn.kind == PITRACE_INSN_SYSRET;
		if (tail->is_sysret || (insn.kind == PITRACE_INSN_IRET && tail->wide))
			return true;
		if (insn.kind != PITRACE_INSN_JUMP ||
		    !itrace_return_add_jump(tail, ip, ip + insn.length + insn.displacement))
			return false;
		ip = tail->to[tail->jumps - 1];
	}
	return false;
}

static void itrace_return_record_tail(struct pitrace_it_thread *thread, const struct tail *tail,
				      u64 to)
{
	u32 i;

	for (i = 0; i < tail->jumps; i++) {
		thread->count += tail->counts[i];
		pitrace_it_branch(thread, false, tail->from[i], tail->to[i]);
	}
	thread->count += tail->count + 1;
	pitrace_it_branch(thread, false, tail->at, to);
}

/* SWAPGS is next. True: stepping ends here. */
static bool itrace_return_end_at_swapgs(struct pitrace_it_thread *thread, struct pt_regs *regs)
{
	u64 *frame = (u64 *)regs->sp;
	struct tail tail;
	u64 ip, flags;
	bool is64;

	tail.jumps = 0;
	tail.count = 1;
	/* Before SYSRET sp is the user's stack: the frame is not read there, as that tail has no test of ss. */
	if (!itrace_return_read_tail(&tail, regs->ip + 3, frame))
		return false;
	if (!tail.is_sysret && (frame[1] & 3) != 3)
		return false;
	ip = !tail.is_sysret ? frame[0] : tail.wide ? regs->cx : (u32)regs->cx;
	is64 = tail.is_sysret ? tail.wide : frame[1] == __USER_CS;
	flags = tail.is_sysret ? regs->r11 : frame[2];
	if (pitrace_it_setup.kernel)
		itrace_return_record_tail(thread, &tail, ip);
	if (thread->ended)
		return true;
	thread->own_tf = flags & X86_EFLAGS_TF;
	if (!pitrace_it_setup.user) {
		pitrace_it_begin_gap(thread, PITRACE_GAP_UNTRACED);
		return true;
	}
	pitrace_it_enter_user(thread, ip, is64, thread->gap || thread->start_due);
	if (tail.is_sysret) {
		itrace_tf_set(&thread->tf, ITRACE_TF_SYSRET);
		regs->r11 |= X86_EFLAGS_TF;
	} else {
		frame[2] |= X86_EFLAGS_TF;
	}
	return true;
}

bool pitrace_it_ends_before_return(struct pitrace_it_thread *thread, struct pt_regs *regs)
{
	if (thread->code[1] == 0x01 && thread->code[2] == 0xf8)
		return itrace_return_end_at_swapgs(thread, regs);
	if (thread->code[1] != 0x00 || (thread->code[2] & 0x38) != 0x28)
		return false;
	/* VERW elsewhere: in a return that this module does not know, or before a guest of a hypervisor runs. */
	pitrace_it_begin_gap(thread, PITRACE_GAP_LIMIT);
	return true;
}

void pitrace_it_returned(struct pitrace_it_thread *thread, struct pt_regs *regs)
{
	itrace_tf_set(&thread->tf, ITRACE_TF_USER);
	if (!thread->own_tf)
		regs->r11 &= ~X86_EFLAGS_TF;
	/* The trap has switched the branch trap off. */
	if (thread->branch_traps)
		pitrace_it_branches_begin(thread, regs->ip, true);
}

/* ---- other returns, emulated in the trap before them ---- */

/*
 * Sets regs as they are after a return to ip. The return from the trap loads them all at once, as the emulated
 * instruction would have done.
 */
static noinline void itrace_return_emulate(struct pitrace_it_thread *thread, struct pt_regs *regs,
					   u64 ip, u64 cs, u64 flags, u64 sp, u64 ss)
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
		itrace_fetch(thread, ip, false, true);
		return;
	}
	thread->own_tf = flags & X86_EFLAGS_TF;
	if (!pitrace_it_setup.user) {
		itrace_tf_leave_kernel(&thread->tf);
		pitrace_it_begin_gap(thread, PITRACE_GAP_UNTRACED);
		return;
	}
	pitrace_it_enter_user(thread, ip, user_64bit_mode(regs), thread->gap || thread->start_due);
	regs->flags |= X86_EFLAGS_TF;
}

/* Returns to user mode come here only where the kernel executes no VERW before them. */
bool pitrace_it_do_return(struct pitrace_it_thread *thread, struct pt_regs *regs, u8 kind)
{
	const u64 *frame = (const u64 *)regs->sp;
	const bool wide = thread->code[0] == 0x48;

	if (kind == PITRACE_INSN_SYSRET) {
		itrace_return_emulate(thread, regs, wide ? regs->cx : (u32)regs->cx,
				      wide ? __USER_CS : __USER32_CS,
				      (regs->r11 & SYSRET_FLAGS) | X86_EFLAGS_FIXED, regs->sp,
				      __USER_DS);
		return true;
	}
	if (kind != PITRACE_INSN_IRET || !wide)
		return false;
	itrace_return_emulate(thread, regs, frame[0], frame[1], frame[2], frame[3], frame[4]);
	return true;
}
