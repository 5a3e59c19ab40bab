/* SPDX-License-Identifier: MIT */
/*
 * A program with exactly known instructions. Reads a letter from standard input, runs the code for
 * it, and exits with 0 or the status documented there. Between the read and that code are
 *	1 + 2 * (position of the letter in the list, from 1)
 * instructions; leave takes 3.
 */
	.globl	_start

	.macro	leave status
	mov	$231, %eax		/* exit_group */
	mov	\status, %edi
	syscall
	.endm

	.text
_start:
	xor	%eax, %eax		/* read(0, letter, 1) */
	xor	%edi, %edi
	lea	letter(%rip), %rsi
	mov	$1, %edx
	syscall
	movzbl	letter(%rip), %eax
	cmp	$'l', %al
	je	loop
	cmp	$'c', %al
	je	calls
	cmp	$'r', %al
	je	repeat
	cmp	$'f', %al
	je	flags
	cmp	$'s', %al
	je	signal
	cmp	$'b', %al
	je	breakpoint
	cmp	$'t', %al
	je	thread
	cmp	$'k', %al
	je	child
	cmp	$'x', %al
	je	kept
	leave	$99

/* 1 + 2 * 1000 instructions, 999 branches */
loop:	mov	$1000, %ecx
1:	dec	%ecx
	jnz	1b
	leave	$0

/* call outer, call inner, ret, ret, call inner, ret: 7 instructions, including the nop */
calls:	call	outer
	call	inner
	leave	$0
outer:	call	inner
	ret
inner:	nop
	ret

/* 3 + 100 iterations */
repeat:	lea	room(%rip), %rdi
	mov	$100, %ecx
	xor	%eax, %eax
	rep	stosb
	leave	$0

/* Exits with 1 if pushf shows the trap flag, 2 if r11 does after a system call */
flags:	pushf
	pop	%rax
	test	$0x100, %eax
	jnz	1f
	mov	$39, %eax		/* getpid */
	syscall
	test	$0x100, %r11d
	jnz	2f
	leave	$0
1:	leave	$1
2:	leave	$2

/* kill(getpid(), SIGUSR1), with a handler that counts: exits with 1 */
signal:	mov	$10, %edi
	call	install
	mov	$39, %eax
	syscall
	mov	%eax, %edi
	mov	$62, %eax
	mov	$10, %esi
	syscall
	leave	handled(%rip)

/* int3, with a handler that counts: exits with 1 */
breakpoint:
	mov	$5, %edi
	call	install
	int3
	leave	handled(%rip)

/* A thread sets a word, and another one waits for it. Exits with 3 */
thread:	mov	$56, %eax		/* clone(VM|FS|FILES|SIGHAND|THREAD|SYSVSEM, stack) */
	mov	$0x50f00, %edi
	lea	stack_end(%rip), %rsi
	xor	%edx, %edx
	xor	%r10d, %r10d
	xor	%r8d, %r8d
	syscall
	test	%eax, %eax
	jz	2f
1:	mov	$24, %eax		/* sched_yield */
	syscall
	cmpl	$3, handled(%rip)
	jne	1b
	leave	handled(%rip)
2:	movl	$3, handled(%rip)
	mov	$60, %eax		/* exit: ends only the thread */
	xor	%edi, %edi
	syscall

/* A child exits with 4, and its parent exits with that status */
child:	mov	$57, %eax		/* fork */
	syscall
	test	%eax, %eax
	jz	1f
	mov	%eax, %edi
	lea	handled(%rip), %rsi	/* wait4 */
	xor	%edx, %edx
	xor	%r10d, %r10d
	mov	$61, %eax
	syscall
	mov	handled(%rip), %eax
	shr	$8, %eax
	mov	%eax, %edi
	mov	$231, %eax
	syscall
1:	leave	$4

/* Exits with 1 if r11, with all bits set, does not survive a signal handler */
kept:	mov	$5, %edi
	call	install
	mov	$-1, %r11
	int3
	cmp	$-1, %r11
	jne	1f
	leave	$0
1:	leave	$1

/* rt_sigaction(edi, action, 0, 8) */
install:
	mov	$13, %eax
	lea	action(%rip), %rsi
	xor	%edx, %edx
	mov	$8, %r10d
	syscall
	ret
handler:
	incl	handled(%rip)
	ret
restorer:
	mov	$15, %eax		/* rt_sigreturn */
	syscall

	.data
	.balign	8
action:	.quad	handler
	.quad	0x04000000		/* SA_RESTORER */
	.quad	restorer
	.quad	0
handled: .long	0
letter:	.byte	0
	.bss
	.balign	16
room:	.skip	128
	.skip	4096
stack_end:
	.section .note.GNU-stack,"",@progbits
