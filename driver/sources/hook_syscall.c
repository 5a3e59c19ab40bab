// SPDX-License-Identifier: GPL-2.0-only
/* System calls: their entries and exits. */

#include <linux/preempt.h>
#include <linux/sched.h>
#include <asm/syscall.h>
#include <trace/events/syscalls.h>

#include "core/plat.h"
#include "core/probes.h"
#include "core/record.h"
#include "sources.h"

/*
 * A number below 0 is not a system call: a tracer refused the call, or it is sigreturn's exit, which
 * has the registers of the code that the signal interrupted.
 */
static __always_inline u32 hook_syscall_minor_of(int number, u32 exit)
{
	const u32 table = pitrace_arch_syscall_is_32bit() ? PITRACE_SYSCALL_32 : 0;

	if (number < 0)
		return exit | table | PITRACE_SYSCALL_NONE;
	return exit | table | ((u32)number & PITRACE_SYSCALL_NONE);
}

/* Preemption is on in kernels whose probes of these two tracepoints may sleep. */
static __always_inline void hook_syscall_write(u32 minor, const u32 *ints, u32 count)
{
	preempt_disable_notrace();
	pitrace_write_ints_here(PITRACE_BUFFER_TRACE, PITRACE_MAJOR_SYSCALL, minor, ints, count);
	preempt_enable_notrace();
}

static void hook_syscall_on_enter(void *data, struct pt_regs *regs, long number)
{
	const u32 ints[] = { current->pid };

	hook_syscall_write(hook_syscall_minor_of((int)number, 0), ints, ARRAY_SIZE(ints));
}

static void hook_syscall_on_exit(void *data, struct pt_regs *regs, long result)
{
	const u32 ints[] = { current->pid, (u32)result };

	hook_syscall_write(hook_syscall_minor_of(syscall_get_nr(current, regs),
						 PITRACE_SYSCALL_EXIT),
			   ints, ARRAY_SIZE(ints));
}

static struct pitrace_hook hooks[] = {
	{ .name = "sys_exit", .type = PITRACE_HOOK_TRACEPOINT, .probe = hook_syscall_on_exit },
	{ .name = "sys_enter", .type = PITRACE_HOOK_TRACEPOINT, .probe = hook_syscall_on_enter },
};

const struct pitrace_hook_set pitrace_syscall_hooks = { hooks, ARRAY_SIZE(hooks) };

/* Does this kernel pass what the probes take? */
static void __maybe_unused hook_syscall_check_types(void)
{
	check_trace_callback_type_sys_enter(hook_syscall_on_enter);
	check_trace_callback_type_sys_exit(hook_syscall_on_exit);
}
