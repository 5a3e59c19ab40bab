/* SPDX-License-Identifier: MIT */
/* Where patched functions come to when they are entered and when they return, and the functions that train for them. */

/* All registers that a callee may change are kept: they have arguments, the number of vector registers of a variable argument
   list (%al), the static chain (%r10) or results, and a caller in the same file may know that the function does not change the
   others (gcc's -fipa-ra). Flags have no meaning at the entry of a function and after it. Vector and x87 registers: the engine
   does not touch them (CMakeLists.txt), except with meters that call other libraries, which set hookit_saves_vectors. */

	.hidden hookit_patched_enter, hookit_patched_leave, hookit_saves_vectors, hookit_regions

	/* XSAVE's standard area up to the AVX-512 registers, and the components in it: x87, SSE, AVX, AVX-512. */
	.set area_bytes, 2688
	.set components, 0xe7

	.macro push_one register
	push	\register
	.cfi_adjust_cfa_offset 8
	.endm

	.macro pop_one register
	pop	\register
	.cfi_adjust_cfa_offset -8
	.endm

	.macro push_registers
	push_one %rax
	push_one %rcx
	push_one %rdx
	push_one %rsi
	push_one %rdi
	push_one %r8
	push_one %r9
	push_one %r10
	push_one %r11
	push_one %rbp
	.endm

	.macro pop_all
	mov	%rbp, %rsp
	.cfi_def_cfa_register %rsp
	pop_one	%rbp
	.cfi_restore %rbp
	pop_one	%r11
	pop_one	%r10
	pop_one	%r9
	pop_one	%r8
	pop_one	%rdi
	pop_one	%rsi
	pop_one	%rdx
	pop_one	%rcx
	pop_one	%rax
	.endm

	/* Calls a function with an aligned stack; always the same instructions for the same meter. */
	.macro call_keeping function
	cmpb	$0, hookit_saves_vectors(%rip)
	jne	1f
	and	$-16, %rsp
	call	\function
2:
	.subsection 1
1:	sub	$area_bytes, %rsp
	and	$-64, %rsp
	xor	%eax, %eax
	.irp	offset, 0, 8, 16, 24, 32, 40, 48, 56
	mov	%rax, 512 + \offset(%rsp)	/* XRSTOR refuses other bits in the header. */
	.endr
	xor	%edx, %edx
	mov	$components, %eax
	xsave64	(%rsp)
	call	\function
	mov	%rax, %rcx
	xor	%edx, %edx
	mov	$components, %eax
	xrstor64 (%rsp)
	mov	%rcx, %rax
	jmp	2b
	.previous
	.endm

	/* A patched function comes here instead of executing its NOPs, through its trampoline (code.cpp), which has pushed the address
	   where it continues, as a call would. distance: from the function to that address. Two instructions balance the others, so
	   that both ways have the same number. */
	.macro entry name, distance
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.balign	64
\name:
	.cfi_startproc
	push_registers
	.cfi_rel_offset %rbp, 0
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	mov	80(%rbp), %rdi
	sub	$\distance, %rdi	/* the function */
	lea	88(%rbp), %rsi		/* where its return address is */
	call_keeping hookit_patched_enter
	test	%al, %al
	pop_all
	je	3f
	lea	16(%rsp), %rsp
	.cfi_def_cfa_offset 0
	jmp	hookit_call
3:	.cfi_def_cfa_offset 8
	nop
	nop
	lea	8(%rsp), %rsp		/* the function's return address is now where it was */
	jmp	*-8(%rsp)
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.text
	entry	hookit_entered, 5
	entry	hookit_entered_after_endbr, 9

	/* The return address of patched functions that run. An unwinder sees a frame of no size here, whose return address is in
	   the function's cell: the expression below does in DWARF what find_cell() of cells.h does. It begins at the slot with the
	   address of hookit_returned, before which the distance to the table is. libgcc knows frames by their CFA, so this one has
	   a CFA that no other frame has: one byte above the stack pointer.
	   The function is entered by a call whose return address is hookit_returned: so the processor, which remembers the addresses of
	   calls, predicts that return, and then the one to the function's caller. */
	.balign	64
	.type	hookit_returned_frame, @function
hookit_returned_frame:
	.cfi_startproc
	.cfi_def_cfa %rsp, 1
	.cfi_escape 0x16, 7, 2, 0x31, 0x1c	/* DW_CFA_val_expression: the caller's %rsp is CFA - 1 */
	.cfi_escape 0x10, 16, 38		/* DW_CFA_expression: the return address is at ... */
	.cfi_escape 0x39, 0x1c, 0x12, 0x06	/* slot = CFA - 9; stub = *slot */
	.cfi_escape 0x12, 0x40, 0x1c, 0x06, 0x22	/* table = stub + *(stub - 16) */
	.cfi_escape 0x14, 0x08, 32, 0x25, 0x33, 0x24, 0x22, 0x06	/* list = table[slot >> 32] */
	.cfi_escape 0x14, 0x44, 0x25, 0x0a, 0xff, 0x0f, 0x1a, 0x33, 0x24, 0x22, 0x06	/* list[slot >> 20 & 0xfff] */
	.cfi_escape 0x16, 0x0c, 0xf8, 0xff, 0x0f, 0x00, 0x1a, 0x31, 0x24, 0x22	/* + (slot & 0xffff8) * 2 */
	.quad	hookit_regions - hookit_returned
	.fill	3, 1, 0x90
hookit_call:
	call	hookit_continue
	.globl	hookit_returned
	.hidden	hookit_returned
hookit_returned:
	lea	-8(%rsp), %rsp		/* the slot stays as it is, for unwinders */
	.cfi_def_cfa_offset 9
	push_registers
	.cfi_escape 0x10, 6, 4, 0x08, 89, 0x1c, 0x96	/* %rbp is at CFA - 89; DW_OP_nop */
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	lea	80(%rbp), %rdi
	call_keeping hookit_patched_leave
	mov	%rax, 80(%rbp)
	.cfi_escape 0x10, 16, 2, 0x39, 0x1c	/* the return address is at CFA - 9 */
	pop_all
	ret
	.cfi_endproc
	.size	hookit_returned_frame, . - hookit_returned_frame

	.type	hookit_continue, @function
hookit_continue:
	.cfi_startproc
	jmp	*-8(%rsp)		/* still what the trampoline has pushed */
	.cfi_endproc
	.size	hookit_continue, . - hookit_continue

	/* Functions that do nothing. Between two events each of them executes one instruction, the call of the next one or the
	   return, as the environmental minimum of 1 says. */
	.macro trainer name
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.balign	64
\name:	.cfi_startproc
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
	.endm

	.macro trainer_end name
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	trainer	hookit_trainer_leaf
	trainer_end hookit_trainer_leaf

	trainer	hookit_trainer_calls_one
	call	hookit_trainer_leaf
	trainer_end hookit_trainer_calls_one

	trainer	hookit_trainer_calls_two
	call	hookit_trainer_leaf
	call	hookit_trainer_leaf
	trainer_end hookit_trainer_calls_two

	trainer	hookit_trainer_calls_all
	call	hookit_trainer_calls_one
	call	hookit_trainer_calls_two
	trainer_end hookit_trainer_calls_all

	.section .note.GNU-stack, "", @progbits
