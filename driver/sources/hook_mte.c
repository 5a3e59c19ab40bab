// SPDX-License-Identifier: GPL-2.0-only
/* Hooks on fork, exec, exit, rename and executable mappings; their records are needed to name the code of ticks. */

#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>

#include "core/compat.h"
#include "core/plat.h"
#include "core/probes.h"
#include "core/record.h"
#include "sources.h"

static void hook_mte_write_mte(u32 minor, const u32 *ints, u32 count)
{
	pitrace_write_ints(PITRACE_BUFFER_MTE, PITRACE_MAJOR_MTE, minor, ints, count);
}

static void hook_mte_write_thread_end(u32 pid, u32 tid)
{
	const u32 ints[] = { pid, tid };

	hook_mte_write_mte(PITRACE_MTE_KILL_THREAD, ints, ARRAY_SIZE(ints));
}

static void hook_mte_write_process(u32 minor, u32 pid)
{
	hook_mte_write_mte(minor, &pid, 1);
}

static void hook_mte_write_thread(struct task_struct *creator, struct task_struct *thread)
{
	const u32 ints[] = { thread->tgid, thread->pid, creator->pid };

	hook_mte_write_mte(PITRACE_MTE_CREATE_THREAD, ints, ARRAY_SIZE(ints));
}

static void hook_mte_write_child(struct task_struct *parent, struct task_struct *child)
{
	const bool shares = child->mm && child->mm == parent->mm;
	const u32 ints[] = { child->tgid, parent->tgid,
			     shares ? PITRACE_PARENT_CLONE : PITRACE_PARENT_FORK, parent->pid };

	hook_mte_write_mte(PITRACE_MTE_PARENT, ints, ARRAY_SIZE(ints));
}

void pitrace_mte_namespace_ids(struct task_struct *task)
{
	u32 ints[PITRACE_NAMESPACE_IDS_INTS] = { task->tgid, task->pid };
	struct pid_namespace *ns;

	/* The pid holds the namespace; RCU keeps the pid valid if the task exits at this moment. */
	rcu_read_lock();
	ns = task_active_pid_ns(task);
	if (ns && ns != &init_pid_ns) {
		ints[PITRACE_NAMESPACE_IDS_PID_INSIDE] = task_tgid_nr_ns(task, ns);
		ints[PITRACE_NAMESPACE_IDS_TID_INSIDE] = task_pid_nr_ns(task, ns);
		ints[PITRACE_NAMESPACE_IDS_INODE] = ns->ns.inum;
		hook_mte_write_mte(PITRACE_MTE_NAMESPACE_IDS, ints, ARRAY_SIZE(ints));
	}
	rcu_read_unlock();
}

static void hook_mte_write_name(u32 minor, u32 pid, u32 second, const char *comm)
{
	const u32 ints[] = { pid, second };

	/* As the kernel stores it: a longer name is cut. */
	pitrace_write_string(PITRACE_BUFFER_MTE, PITRACE_MAJOR_MTE, minor, ints, 2, comm,
			     strnlen(comm, TASK_COMM_LEN - 1));
}

/* The child is complete and visible, but has not run. */
static void hook_mte_on_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	if (child->tgid == parent->tgid)
		hook_mte_write_thread(parent, child);
	else
		hook_mte_write_child(parent, child);
	pitrace_mte_namespace_ids(child);
}

/*
 * In exec the rename happens after the old mappings are gone and before the new ones exist: here the
 * new image begins. Checks for current, as other threads of the process may rename one that waits in
 * exec. Whether the image is 32-bit or 64-bit is not known before hook_mte_on_exec().
 */
static void hook_mte_on_rename(void *data, struct task_struct *task, const char *comm)
{
	if (task == current && task->in_execve) {
		hook_mte_write_process(PITRACE_MTE_CREATE, task->tgid);
		hook_mte_write_name(PITRACE_MTE_NAME, task->tgid, PITRACE_NAME_64, comm);
	} else if (thread_group_leader(task)) {
		hook_mte_write_name(
			PITRACE_MTE_NAME, task->tgid,
			pitrace_arch_task_is_32bit(task) ? PITRACE_NAME_32 : PITRACE_NAME_64, comm);
	} else {
		hook_mte_write_name(PITRACE_MTE_THREAD_NAME, task->tgid, task->pid, comm);
	}
}

/* If a thread other than the leader calls exec, it gets the leader's id, and its old id is free. */
static void hook_mte_on_exec(void *data, struct task_struct *task, pid_t old_pid,
			     struct linux_binprm *bprm)
{
	if (pitrace_arch_task_is_32bit(task))
		hook_mte_write_name(PITRACE_MTE_NAME, task->tgid, PITRACE_NAME_32, task->comm);
	if (old_pid != task->pid)
		hook_mte_write_thread_end(task->tgid, old_pid);
}

/*
 * Two threads that exit at the same time can both find that no other thread is alive. The first of
 * them that gets here claims the process. Start time and id identify a process; if another process
 * uses the same slot in between, a second KILL record is written, which is harmless.
 */
static bool hook_mte_claim_kill(struct task_struct *task)
{
	static atomic64_t claimed[64];
	const u64 id = task->group_leader->start_time ^ (u64)task->tgid << 40;

	return (u64)atomic64_xchg(&claimed[task->tgid % ARRAY_SIZE(claimed)], (s64)id) != id;
}

/*
 * The address space is gone already, but ticks may still follow. A process ends with its last thread,
 * which need not be its leader; the end of the leader thread is not recorded.
 */
static void hook_mte_on_exit(void *data, struct task_struct *task PITRACE_EXIT_MORE)
{
	if (task->pid != task->tgid)
		hook_mte_write_thread_end(task->tgid, task->pid);
	if (!atomic_read(&task->signal->live) && hook_mte_claim_kill(task))
		hook_mte_write_process(PITRACE_MTE_KILL, task->tgid);
}

/* A mapping of the current process is new or has changed; only executable ones are recorded. */
static __always_inline void hook_mte_note_code(const struct vm_area_struct *vma)
{
	if ((vma->vm_flags & VM_EXEC) && vma->vm_mm == current->mm)
		pitrace_maps_mapped(vma->vm_start);
}

/*
 * perf_event_mmap() is called with the mmap_lock held for writing, for mmap, mprotect, brk, stacks
 * and the vdso. An address space that exec is still building is not yet current->mm.
 */
static int hook_mte_on_mmap(struct kprobe *kprobe, struct pt_regs *regs)
{
	const struct vm_area_struct *vma = (void *)regs_get_kernel_argument(regs, 0);

	hook_mte_note_code(vma);
	return 0;
}
NOKPROBE_SYMBOL(hook_mte_on_mmap);

/* copy_vma() makes the mapping that mremap moves to; it returns NULL when it cannot. */
static int hook_mte_on_mremap(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	const struct vm_area_struct *vma = (void *)regs_return_value(regs);

	if (vma)
		hook_mte_note_code(vma);
	return 0;
}
NOKPROBE_SYMBOL(hook_mte_on_mremap);

/*
 * mremap looks up here the mapping that it will change, with the mmap_lock held for writing. No other
 * probe sees a mapping that grows in place. Its new size, or whether it has moved, is determined on
 * return to user mode.
 */
static int hook_mte_on_resize(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	const struct vm_area_struct *vma = (void *)regs_return_value(regs);

	if (!IS_ERR_OR_NULL(vma))
		hook_mte_note_code(vma);
	return 0;
}
NOKPROBE_SYMBOL(hook_mte_on_resize);

/* vma_merge_extend(vmi, vma, delta), for kernels whose mremap has no vma_to_resize(): grows the mapping in place. */
static int hook_mte_on_extend(struct kprobe *kprobe, struct pt_regs *regs)
{
	const struct vm_area_struct *vma = (void *)regs_get_kernel_argument(regs, 1);

	hook_mte_note_code(vma);
	return 0;
}
NOKPROBE_SYMBOL(hook_mte_on_extend);

/*
 * do_mas_align_munmap(mas, vma, mm, start, end, ...), whose first argument and name changed later,
 * with the mmap_lock held for writing: munmap, and memory that mremap and brk unmap. The mappings are
 * not split at the ends of the range yet.
 */
static int hook_mte_on_unmap(struct kprobe *kprobe, struct pt_regs *regs)
{
	struct mm_struct *mm = (void *)regs_get_kernel_argument(regs, 2);
	const unsigned long start = regs_get_kernel_argument(regs, 3);
	const unsigned long end = regs_get_kernel_argument(regs, 4);

	/* exec and exit unmap by other functions, and not current->mm. */
	if (mm && mm == current->mm)
		pitrace_maps_unmapping(mm, start, end);
	return 0;
}
NOKPROBE_SYMBOL(hook_mte_on_unmap);

static struct pitrace_hook hooks[] = {
	{ .name = "sched_process_fork", .type = PITRACE_HOOK_TRACEPOINT, .probe = hook_mte_on_fork },
	{ .name = "task_rename", .type = PITRACE_HOOK_TRACEPOINT, .probe = hook_mte_on_rename },
	{ .name = "sched_process_exec", .type = PITRACE_HOOK_TRACEPOINT, .probe = hook_mte_on_exec },
	{ .name = "sched_process_exit", .type = PITRACE_HOOK_TRACEPOINT, .probe = hook_mte_on_exit },
	{ .name = "perf_event_mmap", .type = PITRACE_HOOK_ENTRY, .on_entry = hook_mte_on_mmap },
	{ .name = "copy_vma", .type = PITRACE_HOOK_RETURN, .on_return = hook_mte_on_mremap },
	{ .name = "vma_to_resize",
	  .type = PITRACE_HOOK_RETURN,
	  .on_return = hook_mte_on_resize,
	  .other_name = "vma_merge_extend",
	  .other_type = PITRACE_HOOK_ENTRY,
	  .on_entry = hook_mte_on_extend },
	{ .name = "do_mas_align_munmap",
	  .other_name = "do_vmi_align_munmap",
	  .other_type = PITRACE_HOOK_ENTRY,
	  .type = PITRACE_HOOK_ENTRY,
	  .on_entry = hook_mte_on_unmap },
};

/* Does this kernel pass what the probes take? */
static void __maybe_unused hook_mte_check_types(void)
{
	check_trace_callback_type_sched_process_fork(hook_mte_on_fork);
	check_trace_callback_type_task_rename(hook_mte_on_rename);
	check_trace_callback_type_sched_process_exec(hook_mte_on_exec);
	check_trace_callback_type_sched_process_exit(hook_mte_on_exit);
}

const struct pitrace_hook_set pitrace_mte_hooks = { hooks, ARRAY_SIZE(hooks) };

void pitrace_mte_start(void)
{
	pitrace_hooks_attach(hooks, ARRAY_SIZE(hooks));
}

void pitrace_mte_stop(void)
{
	pitrace_hooks_detach(hooks, ARRAY_SIZE(hooks));
}
