// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exceptions of x86: page faults by their tracepoints, others if the kernel calls its die notifiers
 * for them (docs/records.md lists those for which it does not).
 *
 * Recording itself raises no exception: buffers and the module's data are mapped in every address space
 * before the trace begins. Only user stacks are read from memory that may not be present; these page
 * faults are not recorded, as they are not the program's.
 */

#include <linux/kdebug.h>
#include <linux/limits.h>
#include <linux/notifier.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <asm/trapnr.h>

#include "core/exception_events_x86.h"
#include "core/probes.h"
#include "core/record.h"
#include "itrace/itrace_calls.h"
#include "sources.h"
#include "stack/stack.h"

static_assert(X86_TRAP_PF == PITRACE_EXCEPTION_PAGE_FAULT);

static __always_inline void exception_write(u32 vector, const u32 *ints, u32 count)
{
	preempt_disable_notrace();
	pitrace_write_ints_here(PITRACE_BUFFER_TRACE, PITRACE_MAJOR_EXCEPTION, vector, ints, count);
	preempt_enable_notrace();
}

static void exception_on_page_fault(void *data, unsigned long address, struct pt_regs *regs,
				    unsigned long error_code)
{
	const u64 at = instruction_pointer(regs);
	const u32 ints[] = { current->pid, (u32)error_code,	      (u32)(at >> 32),
			     (u32)at,	   (u32)((u64)address >> 32), (u32)address };

	if (!pitrace_stack_is_gathered())
		exception_write(X86_TRAP_PF, ints, ARRAY_SIZE(ints));
}

static void exception_write_trap(u32 vector, u32 error_code, struct pt_regs *regs)
{
	const u64 at = instruction_pointer(regs);
	const u32 ints[] = { current->pid, error_code, (u32)(at >> 32), (u32)at };

	exception_write(vector, ints, ARRAY_SIZE(ints));
}

/* All other notifications (an oops, a panic, unknown NMIs) are not exceptions. */
static int exception_on_die(struct notifier_block *block, unsigned long what, void *data)
{
	const struct die_args *die = data;

	switch (what) {
	case DIE_TRAP:
	case DIE_GPF:
	case DIE_INT3:
		exception_write_trap(die->trapnr, die->err, die->regs);
		break;
	case DIE_DEBUG:
		/* Has trap number 0, and a pointer to DR6 as error code. */
		if (!pitrace_itrace_takes_step(die->regs, *(const unsigned long *)die->err))
			exception_write_trap(X86_TRAP_DB, 0, die->regs);
		break;
	}
	return NOTIFY_DONE;
}
NOKPROBE_SYMBOL(exception_on_die);

/* Highest priority: other notifiers may return NOTIFY_STOP. */
static struct notifier_block notifier = { .notifier_call = exception_on_die, .priority = INT_MAX };

static struct pitrace_hook hooks[] = {
	{ .name = "page_fault_user",
	  .type = PITRACE_HOOK_TRACEPOINT,
	  .probe = exception_on_page_fault },
	{ .name = "page_fault_kernel",
	  .type = PITRACE_HOOK_TRACEPOINT,
	  .probe = exception_on_page_fault },
	{ .name = "die_notifier", .type = PITRACE_HOOK_DIE, .on_die = &notifier },
};

const struct pitrace_hook_set pitrace_exception_hooks = { hooks, ARRAY_SIZE(hooks) };

/* Does this kernel pass what the probe takes? */
static void __maybe_unused exception_check_types(void)
{
	check_trace_callback_type_page_fault_user(exception_on_page_fault);
	check_trace_callback_type_page_fault_kernel(exception_on_page_fault);
}
