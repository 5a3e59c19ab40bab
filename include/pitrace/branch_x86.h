/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * Decodes what an x86 instruction does to the control flow, and what a single step over it did.
 *
 * Compiles as kernel C, C11 and C++. Pure, and made for the step handler of a kernel: one table
 * look-up for an instruction that is no branch, a loop only over prefixes.
 */
#ifndef PITRACE_BRANCH_X86_H
#define PITRACE_BRANCH_X86_H

#include <linux/types.h>

#define PITRACE_INSN_MAX 15 /* bytes; the processor refuses longer ones */

/* The kinds. Those from CONDITIONAL to CALL have a displacement. */
#define PITRACE_INSN_OTHER	   0x00 /* no branch; also invalid instructions */
#define PITRACE_INSN_CUT	   0x01 /* more bytes are needed */
#define PITRACE_INSN_PUSHF	   0x02
#define PITRACE_INSN_POPF	   0x03
#define PITRACE_INSN_SHADOW	   0x04 /* mov or pop to ss, sti, and on an emulator pause: no trap, maybe,
					   * before the next is done, too. nop looks like pause */
#define PITRACE_INSN_CONDITIONAL   0x05 /* jcc, loop, jcxz; xbegin, which branches when it aborts */
#define PITRACE_INSN_JUMP	   0x06
#define PITRACE_INSN_CALL	   0x07
#define PITRACE_INSN_JUMP_INDIRECT 0x08 /* near or far, through a register or memory; jmp far imm */
#define PITRACE_INSN_CALL_INDIRECT 0x09
#define PITRACE_INSN_RETURN	   0x0a /* ret, lret */
#define PITRACE_INSN_SYSCALL	   0x0b /* from here on: to another ring or back */
#define PITRACE_INSN_SYSENTER	   0x0c
#define PITRACE_INSN_INT	   0x0d /* int n, int3, int1, into */
#define PITRACE_INSN_SYSRET	   0x0e
#define PITRACE_INSN_SYSEXIT	   0x0f
#define PITRACE_INSN_IRET	   0x10

struct pitrace_insn {
	__u8 kind;
	__u8 length; /* bytes; 0: unknown, as for OTHER, CUT and those with a ModRM operand */
	__u8 is64; /* 64-bit code */
	__u8 cut_target; /* a near branch with prefix 66 in 32-bit code goes to the low 16 bits */
	__s32 displacement; /* of CONDITIONAL, JUMP and CALL: from the end of the instruction */
};

/* Within this file: more kinds of first bytes, and what follows the opcode. */
#define PITRACE_BYTE_PREFIX  0x11
#define PITRACE_BYTE_REX     0x12 /* a prefix in 64-bit code, else an instruction */
#define PITRACE_BYTE_WIDTH   0x13 /* prefix 66 */
#define PITRACE_BYTE_ESCAPE  0x14 /* 0f */
#define PITRACE_BYTE_GROUP5  0x15 /* ff */
#define PITRACE_BYTE_MOV_SEG 0x16 /* 8e */
#define PITRACE_BYTE_XBEGIN  0x17 /* c7 f8 */
#define PITRACE_BYTE_KIND    0x1f
#define PITRACE_BYTE_REL8    0x20 /* a displacement of one byte */
#define PITRACE_BYTE_REL32   0x40 /* of four, with prefix 66 in 32-bit code of two */
#define PITRACE_BYTE_ONLY32  0x80 /* no instruction in 64-bit code */

#define PITRACE_8(x)	 x, x, x, x, x, x, x, x
#define PITRACE_JCC8	 (PITRACE_INSN_CONDITIONAL | PITRACE_BYTE_REL8)
#define PITRACE_FAR(kind) (PITRACE_INSN_##kind##_INDIRECT | PITRACE_BYTE_ONLY32)

static const __u8 pitrace_first_bytes[256] __attribute__((__unused__)) = {
	/* 00 */ PITRACE_8(0),
	/* 08 */ 0, 0, 0, 0, 0, 0, 0, PITRACE_BYTE_ESCAPE,
	/* 10 */ 0, 0, 0, 0, 0, 0, 0, PITRACE_INSN_SHADOW | PITRACE_BYTE_ONLY32,
	/* 18 */ PITRACE_8(0),
	/* 20 */ 0, 0, 0, 0, 0, 0, PITRACE_BYTE_PREFIX, 0,
	/* 28 */ 0, 0, 0, 0, 0, 0, PITRACE_BYTE_PREFIX, 0,
	/* 30 */ 0, 0, 0, 0, 0, 0, PITRACE_BYTE_PREFIX, 0,
	/* 38 */ 0, 0, 0, 0, 0, 0, PITRACE_BYTE_PREFIX, 0,
	/* 40 */ PITRACE_8(PITRACE_BYTE_REX),
	/* 48 */ PITRACE_8(PITRACE_BYTE_REX),
	/* 50 */ PITRACE_8(0),
	/* 58 */ PITRACE_8(0),
	/* 60 */ 0, 0, 0, 0, PITRACE_BYTE_PREFIX, PITRACE_BYTE_PREFIX, PITRACE_BYTE_WIDTH,
		 PITRACE_BYTE_PREFIX,
	/* 68 */ PITRACE_8(0),
	/* 70 */ PITRACE_8(PITRACE_JCC8),
	/* 78 */ PITRACE_8(PITRACE_JCC8),
	/* 80 */ PITRACE_8(0),
	/* 88 */ 0, 0, 0, 0, 0, 0, PITRACE_BYTE_MOV_SEG, 0,
	/* 90 */ PITRACE_INSN_SHADOW, 0, 0, 0, 0, 0, 0, 0,
	/* 98 */ 0, 0, PITRACE_FAR(CALL), 0, PITRACE_INSN_PUSHF, PITRACE_INSN_POPF, 0, 0,
	/* a0 */ PITRACE_8(0),
	/* a8 */ PITRACE_8(0),
	/* b0 */ PITRACE_8(0),
	/* b8 */ PITRACE_8(0),
	/* c0 */ 0, 0, PITRACE_INSN_RETURN, PITRACE_INSN_RETURN, 0, 0, 0, PITRACE_BYTE_XBEGIN,
	/* c8 */ 0, 0, PITRACE_INSN_RETURN, PITRACE_INSN_RETURN, PITRACE_INSN_INT, PITRACE_INSN_INT,
		 PITRACE_INSN_INT | PITRACE_BYTE_ONLY32, PITRACE_INSN_IRET,
	/* d0 */ PITRACE_8(0),
	/* d8 */ PITRACE_8(0),
	/* e0 */ PITRACE_JCC8, PITRACE_JCC8, PITRACE_JCC8, PITRACE_JCC8, 0, 0, 0, 0,
	/* e8 */ PITRACE_INSN_CALL | PITRACE_BYTE_REL32, PITRACE_INSN_JUMP | PITRACE_BYTE_REL32,
		 PITRACE_FAR(JUMP), PITRACE_INSN_JUMP | PITRACE_BYTE_REL8, 0, 0, 0, 0,
	/* f0 */ PITRACE_BYTE_PREFIX, PITRACE_INSN_INT, PITRACE_BYTE_PREFIX, PITRACE_BYTE_PREFIX,
		 0, 0, 0, 0,
	/* f8 */ 0, 0, 0, PITRACE_INSN_SHADOW, 0, 0, 0, PITRACE_BYTE_GROUP5,
};

#undef PITRACE_8
#undef PITRACE_JCC8
#undef PITRACE_FAR

/* The second byte after 0f. */
static inline __u8 pitrace_escaped_byte(__u8 byte)
{
	if ((byte & 0xf0) == 0x80)
		return PITRACE_INSN_CONDITIONAL | PITRACE_BYTE_REL32;
	switch (byte) {
	case 0x05:
		return PITRACE_INSN_SYSCALL;
	case 0x07:
		return PITRACE_INSN_SYSRET;
	case 0x34:
		return PITRACE_INSN_SYSENTER;
	case 0x35:
		return PITRACE_INSN_SYSEXIT;
	}
	return PITRACE_INSN_OTHER;
}

/* An opcode whose ModRM byte selects the operation. */
static inline __u8 pitrace_modrm_kind(__u8 opcode, __u8 modrm)
{
	__u8 reg = modrm >> 3 & 7;

	if (opcode == PITRACE_BYTE_MOV_SEG)
		return reg == 2 ? PITRACE_INSN_SHADOW : PITRACE_INSN_OTHER;
	if (opcode == PITRACE_BYTE_XBEGIN)
		return modrm == 0xf8 ? PITRACE_INSN_CONDITIONAL | PITRACE_BYTE_REL32 :
				       PITRACE_INSN_OTHER;
	if (reg == 2 || reg == 3)
		return PITRACE_INSN_CALL_INDIRECT;
	return reg == 4 || reg == 5 ? PITRACE_INSN_JUMP_INDIRECT : PITRACE_INSN_OTHER;
}

/* Bytes behind the opcode of an instruction without ModRM; *known is cleared if their number varies. */
static inline __u32 pitrace_operand_bytes(__u8 opcode, __u8 byte, int narrow)
{
	if (byte & PITRACE_BYTE_REL8)
		return 1;
	if (byte & PITRACE_BYTE_REL32)
		return narrow ? 2 : 4;
	switch (opcode) {
	case 0xc2: /* ret n */
	case 0xca: /* lret n */
		return 2;
	case 0xcd: /* int n */
		return 1;
	case 0x9a: /* call far, jmp far: offset and selector */
	case 0xea:
		return narrow ? 4 : 6;
	}
	return 0;
}

static inline __s32 pitrace_displacement(const __u8 *bytes, __u32 size)
{
	if (size == 1)
		return (__s8)bytes[0];
	if (size == 2)
		return (__s16)(bytes[0] | bytes[1] << 8);
	return (__s32)(bytes[0] | (__u32)bytes[1] << 8 | (__u32)bytes[2] << 16 |
		       (__u32)bytes[3] << 24);
}

/* One byte that may be missing. */
#define PITRACE_NEXT_BYTE(target)                       \
	do {                                            \
		if (at >= valid) {                      \
			if (at < PITRACE_INSN_MAX)      \
				insn.kind = PITRACE_INSN_CUT; \
			return insn;                    \
		}                                       \
		(target) = bytes[at++];                 \
	} while (0)

/*
 * The instruction that begins at bytes, of which valid are available (15 always suffice). is64:
 * 64-bit code, else 32-bit. In 64-bit code a prefix 66 before a near branch is decoded as by Intel's
 * processors, which ignore it. (AMD's truncate the target to 16 bits; no 64-bit program can use that.)
 * In 32-bit code it truncates the target to 16 bits on all processors, except that of xbegin.
 */
static inline struct pitrace_insn pitrace_classify(const __u8 *bytes, __u32 valid, int is64)
{
	struct pitrace_insn insn = { PITRACE_INSN_OTHER, 0, (__u8)(is64 != 0), 0, 0 };
	__u32 at = 0, operand;
	int width = 0, has_operand = 0, narrow;
	__u8 opcode, byte, rex = 0;

	if (valid > PITRACE_INSN_MAX)
		valid = PITRACE_INSN_MAX;
	for (;;) {
		PITRACE_NEXT_BYTE(opcode);
		byte = pitrace_first_bytes[opcode];
		if (!byte)
			return insn;
		if (byte == PITRACE_BYTE_REX) {
			if (!is64)
				return insn;
			rex = opcode;
			continue;
		}
		if (byte == PITRACE_BYTE_WIDTH)
			width = 1;
		else if (byte != PITRACE_BYTE_PREFIX)
			break;
		rex = 0; /* it counts only right before the opcode */
	}
	/* Of a near branch prefix 66 narrows the displacement in 32-bit code, of xbegin in any. */
	narrow = width && (!is64 || (byte == PITRACE_BYTE_XBEGIN && !(rex & 8)));
	insn.cut_target = width && !is64 && byte != PITRACE_BYTE_XBEGIN;
	if (byte & PITRACE_BYTE_ONLY32 && is64)
		return insn;
	if (byte == PITRACE_BYTE_ESCAPE) {
		PITRACE_NEXT_BYTE(opcode);
		byte = pitrace_escaped_byte(opcode);
		opcode = 0; /* not an opcode that determines its operand */
	} else if (byte >= PITRACE_BYTE_GROUP5 && byte <= PITRACE_BYTE_XBEGIN) {
		__u8 modrm;

		PITRACE_NEXT_BYTE(modrm);
		byte = pitrace_modrm_kind(byte, modrm);
		has_operand = !(byte & PITRACE_BYTE_REL32);
	}
	operand = pitrace_operand_bytes(opcode, byte, narrow);
	if (at + operand > valid) {
		if (at + operand <= PITRACE_INSN_MAX)
			insn.kind = PITRACE_INSN_CUT;
		return insn;
	}
	insn.kind = byte & PITRACE_BYTE_KIND;
	if (insn.kind && !has_operand)
		insn.length = (__u8)(at + operand);
	if (byte & (PITRACE_BYTE_REL8 | PITRACE_BYTE_REL32))
		insn.displacement = pitrace_displacement(bytes + at, operand);
	return insn;
}

#undef PITRACE_NEXT_BYTE

/* What a single step did. */
#define PITRACE_STEP_NEXT     0 /* continued behind the instruction */
#define PITRACE_STEP_AGAIN    1 /* an iteration of a REP: the instruction is not done */
#define PITRACE_STEP_TAKEN    2 /* a branch that was taken */
#define PITRACE_STEP_DIVERTED 3 /* is elsewhere, but not because of this instruction */

/* Where a CONDITIONAL, JUMP or CALL at address from goes. */
static inline __u64 pitrace_branch_target(struct pitrace_insn insn, __u64 from)
{
	__u64 target = from + insn.length + (__u64)(__s64)insn.displacement;

	if (insn.is64)
		return target;
	return insn.cut_target ? (__u16)target : (__u32)target;
}

/*
 * Executing insn at address from led to address to. A conditional branch to the next instruction
 * counts as not taken, an unconditional one as taken. Instructions that change the privilege level are
 * TAKEN wherever they led: the caller checks whether the instruction caused the change.
 */
static inline int pitrace_step_outcome(struct pitrace_insn insn, __u64 from, __u64 to)
{
	__u64 moved = insn.is64 ? to - from : (__u32)(to - from);

	if (insn.kind >= PITRACE_INSN_JUMP_INDIRECT)
		return PITRACE_STEP_TAKEN;
	if (insn.kind >= PITRACE_INSN_CONDITIONAL) {
		if (insn.kind == PITRACE_INSN_CONDITIONAL && moved == insn.length)
			return PITRACE_STEP_NEXT;
		return to == pitrace_branch_target(insn, from) ? PITRACE_STEP_TAKEN :
								 PITRACE_STEP_DIVERTED;
	}
	if (!moved)
		return PITRACE_STEP_AGAIN;
	return moved <= PITRACE_INSN_MAX ? PITRACE_STEP_NEXT : PITRACE_STEP_DIVERTED;
}

#endif /* PITRACE_BRANCH_X86_H */
