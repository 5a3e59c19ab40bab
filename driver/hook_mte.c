// SPDX-License-Identifier: GPL-2.0-only
/* Hooks where processes and executable mappings come and go; their records name what ticks hit. */

#include <linux/bitops.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include "pitrace.h"
#include "plat.h"
#include "probes.h"
#include "record.h"

static void write_link(u32 minor, u32 pid, u32 other)
{
	const u32 ints[] = { pid, other };

	pitrace_write_ints(PITRACE_BUFFER_MTE, PITRACE_MAJOR_MTE, minor, ints, 2);
}

static void write_process(u32 minor, u32 pid)
{
	pitrace_write_ints(PITRACE_BUFFER_MTE, PITRACE_MAJOR_MTE, minor, &pid, 1);
}

static void write_parent(u32 pid, u32 parent, u32 how)
{
	const u32 ints[] = { pid, parent, how };

	pitrace_write_ints(PITRACE_BUFFER_MTE, PITRACE_MAJOR_MTE, PITRACE_MTE_PARENT, ints, 3);
}

static void write_name(u32 minor, u32 pid, u32 second, const char *comm)
{
	const u32 ints[] = { pid, second };

	/* What the kernel keeps of a name, however long the one is that it was given. */
	pitrace_write_string(PITRACE_BUFFER_MTE, PITRACE_MAJOR_MTE, minor, ints, 2, comm,
			     strnlen(comm, TASK_COMM_LEN - 1));
}

/* The child is complete and visible, but has not run. */
static void on_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	const bool shares = child->mm && child->mm == parent->mm;

	if (child->tgid == parent->tgid)
		write_link(PITRACE_MTE_CREATE_THREAD, child->tgid, child->pid);
	else
		write_parent(child->tgid, parent->tgid,
			     shares ? PITRACE_PARENT_CLONE : PITRACE_PARENT_FORK);
}

/*
 * In exec the rename comes when the old mappings are gone and before the new ones: here the new
 * image begins. Other threads of the process may rename one that waits in exec, hence current.
 * Its 32- or 64-bitness is not known before on_exec().
 */
static void on_rename(void *data, struct task_struct *task, const char *comm)
{
	if (task == current && task->in_execve) {
		write_process(PITRACE_MTE_CREATE, task->tgid);
		write_name(PITRACE_MTE_NAME, task->tgid, PITRACE_NAME_64, comm);
	} else if (thread_group_leader(task)) {
		write_name(PITRACE_MTE_NAME, task->tgid,
			   pitrace_arch_task_is_32bit(task) ? PITRACE_NAME_32 : PITRACE_NAME_64,
			   comm);
	} else {
		write_name(PITRACE_MTE_THREAD_NAME, task->tgid, task->pid, comm);
	}
}

/* A thread other than the leader that calls exec takes over the leader's id; its own is free. */
static void on_exec(void *data, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm)
{
	if (pitrace_arch_task_is_32bit(task))
		write_name(PITRACE_MTE_NAME, task->tgid, PITRACE_NAME_32, task->comm);
	if (old_pid != task->pid)
		write_link(PITRACE_MTE_KILL_THREAD, task->tgid, old_pid);
}

/*
 * Two threads that exit at the same time can both find that nobody else lives. The first of them
 * to get here claims the process. Start time and id identify a process; a slot that somebody else
 * took in between (the same moment, the same slot) costs a second KILL record, which is harmless.
 */
static bool claim_kill(struct task_struct *task)
{
	static atomic64_t claimed[64];
	const u64 id = task->group_leader->start_time ^ (u64)task->tgid << 40;

	return (u64)atomic64_xchg(&claimed[task->tgid % ARRAY_SIZE(claimed)], (s64)id) != id;
}

/*
 * The address space is gone already, ticks may still follow. A process ends with its last thread,
 * which need not be its leader; the leader's own end is no record.
 */
static void on_exit(void *data, struct task_struct *task)
{
	if (task->pid != task->tgid)
		write_link(PITRACE_MTE_KILL_THREAD, task->tgid, task->pid);
	if (!atomic_read(&task->signal->live) && claim_kill(task))
		write_process(PITRACE_MTE_KILL, task->tgid);
}

/*
 * perf_event_mmap() is called with the mmap_lock held for writing, for mmap, mprotect, brk, stacks
 * and the vdso. An address space that exec is still building is not current's.
 */
static int on_mmap(struct kprobe *kprobe, struct pt_regs *regs)
{
	const struct vm_area_struct *vma = (void *)regs_get_kernel_argument(regs, 0);

	if ((vma->vm_flags & VM_EXEC) && vma->vm_mm == current->mm)
		pitrace_maps_mapped(vma->vm_start);
	return 0;
}
NOKPROBE_SYMBOL(on_mmap);

/* copy_vma() makes the mapping that mremap moves to; it returns NULL when it cannot. */
static int on_mremap(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	const struct vm_area_struct *vma = (void *)regs_return_value(regs);

	if (vma && (vma->vm_flags & VM_EXEC) && vma->vm_mm == current->mm)
		pitrace_maps_mapped(vma->vm_start);
	return 0;
}
NOKPROBE_SYMBOL(on_mremap);

static struct pitrace_hook hooks[] = {
	{ .name = "sched_process_fork", .type = PITRACE_HOOK_TRACEPOINT, .probe = on_fork },
	{ .name = "task_rename", .type = PITRACE_HOOK_TRACEPOINT, .probe = on_rename },
	{ .name = "sched_process_exec", .type = PITRACE_HOOK_TRACEPOINT, .probe = on_exec },
	{ .name = "sched_process_exit", .type = PITRACE_HOOK_TRACEPOINT, .probe = on_exit },
	{ .name = "perf_event_mmap", .type = PITRACE_HOOK_ENTRY, .on_entry = on_mmap },
	{ .name = "copy_vma", .type = PITRACE_HOOK_RETURN, .on_return = on_mremap },
};

void pitrace_mte_init(void)
{
	pitrace_hooks_look(hooks, ARRAY_SIZE(hooks));
}

void pitrace_mte_start(void)
{
	pitrace_hooks_attach(hooks, ARRAY_SIZE(hooks));
}

void pitrace_mte_stop(void)
{
	pitrace_hooks_detach(hooks, ARRAY_SIZE(hooks));
}

int pitrace_mte_probe(struct pitrace_probe *probe)
{
	const struct pitrace_hook *hook;

	if (probe->index >= ARRAY_SIZE(hooks))
		return -ENOENT;
	pitrace_hooks_refresh(hooks, ARRAY_SIZE(hooks));
	hook = &hooks[array_index_nospec(probe->index, ARRAY_SIZE(hooks))];
	probe->attached = hook->in_place;
	probe->missed = hook->missed;
	strscpy_pad(probe->name, hook->name, sizeof(probe->name));
	return 0;
}
