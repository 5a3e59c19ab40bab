// SPDX-License-Identifier: GPL-2.0-only
/* Walks stacks on x86-64: the kernel's by its unwinder, the user's by frame pointers. */

#include <linux/align.h>
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pgtable.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <asm/cpu_entry_area.h>
#include <asm/processor-flags.h>
#include <asm/ucontext.h>
#include <asm/unwind.h>

#include "stack.h"

/* ---- the kernel ---- */

#if IS_ENABLED(CONFIG_UNWINDER_ORC) || IS_ENABLED(CONFIG_UNWINDER_FRAME_POINTER)

/* The registers of a software event are made up: only three are set, and flags is 0. */
static bool stack_x86_are_saved(const struct pt_regs *regs)
{
	return regs->flags & X86_EFLAGS_FIXED;
}

/* More bytes than the iterator has, fewer than between it and any code that switches context. */
#define ITERATOR_BYTES 256

/* The return address leads into this module, or into what called it at a tracepoint. */
static bool stack_x86_is_own(unsigned long address, unsigned long iterator)
{
	return within_module(address, THIS_MODULE) || address - iterator < ITERATOR_BYTES;
}

/* Has the unwinder reached the entry into the kernel, or the first frame of a kernel thread? */
static bool stack_x86_is_complete(struct unwind_state *state)
{
	const struct pt_regs *regs = unwind_get_entry_regs(state, NULL);

	return unwind_done(state) ? !unwind_error(state) :
				    regs && user_mode((struct pt_regs *)regs);
}

u32 pitrace_arch_kernel_frames(struct pt_regs *regs, unsigned long iterator, u64 *frames, u32 depth,
			       u32 *flags)
{
	struct unwind_state state;
	unsigned long address;
	u32 count = 0;

	if (regs && stack_x86_are_saved(regs))
		unwind_start(&state, current, regs, NULL);
	else
		unwind_start(&state, current, NULL, regs ? (void *)regs->sp : NULL);
	for (; !unwind_done(&state); unwind_next_frame(&state)) {
		address = unwind_get_return_address(&state);
		if (!address)
			break;
		/* Frames before the first one of interest. */
		if (!count && (regs ? address == regs->ip && !stack_x86_are_saved(regs) :
				      stack_x86_is_own(address, iterator)))
			continue;
		if (count == depth) {
			*flags |= PITRACE_STACK_KERNEL_CUT;
			return count;
		}
		frames[count++] = address;
	}
	if (!stack_x86_is_complete(&state))
		*flags |= PITRACE_STACK_KERNEL_BROKEN;
	return count;
}

#else

/* A kernel without ORC and frame pointers can only guess. */
u32 pitrace_arch_kernel_frames(struct pt_regs *regs, unsigned long iterator, u64 *frames, u32 depth,
			       u32 *flags)
{
	*flags |= PITRACE_STACK_KERNEL_BROKEN;
	return 0;
}

#endif

/* ---- the user ---- */

/*
 * An NMI, or a machine check that an NMI interrupts, can occur in the kernel's entry code. There the stack pointer is still the
 * user's (SYSCALL), is in the area of the entry stacks (interrupts, exceptions and those with a stack of their own), or is
 * where the registers are being stored. Until they are stored, those of the entry before are in their place. A program that
 * enters the kernel with a stack pointer into the kernel's stack gets the stack of that entry for the first instructions:
 * its own.
 */
bool pitrace_arch_registers_are_whole(struct pt_regs *user, struct pt_regs *regs)
{
	const unsigned long stored = (unsigned long)user;

	if (!regs || user_mode(regs))
		return true;
	return regs->sp >= TASK_SIZE_MAX && regs->sp - CPU_ENTRY_AREA_BASE >= CPU_ENTRY_AREA_MAP_SIZE &&
	       !(regs->sp >= stored && regs->sp <= stored + sizeof(*user));
}

/* The two words to which the frame pointer of a function points. */
struct frame {
	unsigned long next;
	unsigned long address;
};

/*
 * copy_from_user_nmi() neither sleeps nor faults, and refuses while the processor has another
 * address space loaded than current's. It must not see an address that no processor accepts.
 */
static bool stack_x86_read_frame(unsigned long at, u32 word, struct frame *frame)
{
	u32 narrow[2];

	if (!IS_ALIGNED(at, word) || at > TASK_SIZE_MAX - 2 * word)
		return false;
	if (word == sizeof(unsigned long))
		return !copy_from_user_nmi(frame, (const void __user *)at, sizeof(*frame));
	if (copy_from_user_nmi(narrow, (const void __user *)at, sizeof(narrow)))
		return false;
	frame->next = narrow[0];
	frame->address = narrow[1];
	return true;
}

/* The flags of the page at that address of current, as the processor has them; 0: it is not in memory. */
static pteval_t stack_x86_page_flags(unsigned long address)
{
	const pgd_t *pgd_at = pgd_offset(current->mm, address);
	pgd_t pgd = READ_ONCE(*pgd_at);
	p4d_t p4d;
	pud_t pud;
	pmd_t pmd;

	if (!(pgd_flags(pgd) & _PAGE_PRESENT))
		return 0;
	p4d = READ_ONCE(*p4d_offset_lockless(pgd_at, pgd, address));
	if (!(p4d_flags(p4d) & _PAGE_PRESENT))
		return 0;
	pud = READ_ONCE(*pud_offset_lockless(&p4d, p4d, address));
	if (!(pud_flags(pud) & _PAGE_PRESENT) || (pud_flags(pud) & _PAGE_PSE))
		return pud_flags(pud);
	pmd = READ_ONCE(*pmd_offset_lockless(&pud, pud, address));
	if (!(pmd_flags(pmd) & _PAGE_PRESENT) || (pmd_flags(pmd) & _PAGE_PSE))
		return pmd_flags(pmd);
	return pte_flags(READ_ONCE(*pte_offset_kernel(&pmd, address)));
}

/* While interrupts are off, the kernel frees no page tables of a running process; get_user_pages_fast() relies on that, too. */
static bool stack_x86_is_code(unsigned long address)
{
	unsigned long interrupts;
	pteval_t flags;

	if (address >= TASK_SIZE_MAX)
		return false;
	local_irq_save(interrupts);
	flags = stack_x86_page_flags(address);
	local_irq_restore(interrupts);
	return (flags & _PAGE_PRESENT) && !(flags & _PAGE_NX);
}

u32 pitrace_arch_user_frames(struct pt_regs *regs, u64 *frames, u32 depth, bool code_only,
			     u32 *flags)
{
	const u32 word = user_64bit_mode(regs) ? 8 : 4;
	unsigned long lowest = regs->sp;
	unsigned long at = regs->bp;
	struct frame frame;
	u32 count = 0;

	while (at) {
		if (count == depth) {
			*flags |= PITRACE_STACK_USER_CUT;
			break;
		}
		/* A caller's frame is at a higher address, so the walk cannot loop. */
		if (at < lowest || !stack_x86_read_frame(at, word, &frame) ||
		    (code_only && !stack_x86_is_code(frame.address))) {
			*flags |= PITRACE_STACK_USER_BROKEN;
			break;
		}
		frames[count++] = frame.address;
		lowest = at + 2 * word;
		at = frame.next;
	}
	return count;
}

/* ---- copies of the user's stack ---- */

bool pitrace_arch_has_copy(const struct pt_regs *user)
{
	return user_64bit_mode((struct pt_regs *)user);
}

void pitrace_arch_user_registers(const struct pt_regs *user, u64 *registers)
{
	const unsigned long by_number[PITRACE_STACK_REGISTERS] = {
		user->ax, user->dx, user->cx,  user->bx,  user->si,  user->di,
		user->bp, user->sp, user->r8,  user->r9,  user->r10, user->r11,
		user->r12, user->r13, user->r14, user->r15, user->ip,
	};
	u32 i;

	for (i = 0; i < PITRACE_STACK_REGISTERS; i++)
		registers[i] = by_number[i];
}

/* Page by page: a page that is not in memory ends the copy at its begin. */
static u32 stack_x86_copy(unsigned long at, u8 *to, u32 bytes)
{
	u32 done = 0;

	while (done < bytes && at < TASK_SIZE_MAX) {
		const u32 part = min_t(unsigned long, bytes - done, PAGE_SIZE - offset_in_page(at));

		if (copy_from_user_nmi(to + done, (const void __user *)at, part))
			break;
		done += part;
		at += part;
	}
	return round_down(done, 8);
}

/*
 * The stack pointer of the code that current's outermost handler on its signal stack has interrupted; 0: it is not known. stack:
 * a copy of the signal stack from sp to its end, where the kernel has stored it, or of its part in memory. What follows it
 * there, the state of vector registers, has no fixed size, and any content, such as an older one. It is found by the limits of
 * the signal stack before it, and the address of that state, which is behind it. A program can forge them, and gets bytes of its
 * own memory.
 */
static unsigned long stack_x86_interrupted(unsigned long sp, const u8 *stack, u32 bytes)
{
	const struct ucontext *saved;
	u32 at;

	for (at = bytes; at >= sizeof(*saved); at -= 8) {
		saved = (const void *)(stack + at - sizeof(*saved));
		if ((unsigned long)saved->uc_stack.ss_sp == current->sas_ss_sp &&
		    saved->uc_stack.ss_size == current->sas_ss_size &&
		    saved->uc_mcontext.fpstate - (sp + at) < bytes - at &&
		    !__on_sig_stack(saved->uc_mcontext.sp))
			return saved->uc_mcontext.sp;
	}
	return 0;
}

/* The bytes of the signal stack from the stack pointer to its end, a multiple of 8; 0: current is not on one. */
static unsigned long stack_x86_on_signal_stack(unsigned long sp)
{
	const unsigned long left = current->sas_ss_sp + current->sas_ss_size - sp;

	return __on_sig_stack(sp) ? round_down(left, 8) : 0;
}

void pitrace_arch_copy_stack(const struct pt_regs *user, u8 *to, u32 bytes,
			     struct pitrace_copied *copied)
{
	const u32 first = min_t(unsigned long, bytes, stack_x86_on_signal_stack(user->sp));

	copied->bytes = stack_x86_copy(user->sp, to, first);
	copied->interrupted_bytes = 0;
	copied->interrupted = 0;
	if (first == bytes)
		return;
	if (first)
		copied->interrupted = stack_x86_interrupted(user->sp, to, copied->bytes);
	if (copied->interrupted)
		copied->interrupted_bytes = stack_x86_copy(
			copied->interrupted, to + copied->bytes, bytes - copied->bytes);
	else if (copied->bytes == first)
		copied->bytes += stack_x86_copy(user->sp + first, to + first, bytes - first);
}
