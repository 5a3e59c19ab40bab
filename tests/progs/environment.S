/* SPDX-License-Identifier: MIT */
/* Prints its environment, one variable a line, in some dozen instructions each; env(1) has
 * hundreds of thousands. */
	.globl	_start

	.text
_start:
	mov	(%rsp), %rbx			/* skip argc, argv and its null */
	lea	16(%rsp,%rbx,8), %rbx
next:
	mov	(%rbx), %rsi
	test	%rsi, %rsi
	jz	done
	mov	%rsi, %rdx
length:
	inc	%rdx
	cmpb	$0, -1(%rdx)
	jne	length
	movb	$'\n', -1(%rdx)
	sub	%rsi, %rdx
	mov	$1, %eax			/* write(1, variable, its length) */
	mov	$1, %edi
	syscall
	add	$8, %rbx
	jmp	next
done:
	mov	$231, %eax			/* exit_group(0) */
	xor	%edi, %edi
	syscall
	.section .note.GNU-stack, "", @progbits
