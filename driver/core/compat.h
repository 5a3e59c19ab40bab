/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All differences between kernels, behind functions that are the same for every kernel. driver/Kbuild
 * defines PITRACE_HAS_* from the kernel's headers.
 */
#ifndef PITRACE_COMPAT_H
#define PITRACE_COMPAT_H

#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/path.h>
#include <linux/sched.h>
#include <linux/sched/coredump.h>

#ifdef PITRACE_HAS_EXEC_STATE
#include <linux/sched/exec_state.h>
#endif

struct tracepoint;

/* The arguments of the tracepoint sched_process_exit after the task. */
#ifdef PITRACE_HAS_EXIT_GROUP_DEAD
#define PITRACE_EXIT_MORE , bool group_dead
#else
#define PITRACE_EXIT_MORE
#endif

/*
 * For the mmap() of each device: -EACCES for a writable or executable mapping; otherwise the mapping can never become
 * so, never grow, and never be in a child or a core dump. VM_IO, because madvise(MADV_DOFORK) removes VM_DONTCOPY from
 * a mapping without it.
 */
static inline int pitrace_map_read_only(struct vm_area_struct *vma)
{
	const unsigned long set = VM_IO | VM_DONTEXPAND | VM_DONTCOPY | VM_DONTDUMP;
	const unsigned long clear = VM_MAYWRITE | VM_MAYEXEC;

	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EACCES;
#ifdef PITRACE_HAS_VM_FLAGS_CLEAR
	vm_flags_set(vma, set);
	vm_flags_clear(vma, clear);
#else
	vma->vm_flags |= set;
	vma->vm_flags &= ~clear;
#endif
	return 0;
}

/* The path by which a mapped file was opened, even if vm_file is the file below overlayfs. */
static inline const struct path *pitrace_file_path(const struct file *file)
{
#ifdef PITRACE_HAS_FILE_USER_PATH
	return file_user_path(file);
#else
	return &file->f_path;
#endif
}

static inline void pitrace_hrtimer_setup(struct hrtimer *timer,
					 enum hrtimer_restart (*function)(struct hrtimer *),
					 clockid_t clock, enum hrtimer_mode mode)
{
#ifdef PITRACE_HAS_HRTIMER_SETUP
	hrtimer_setup(timer, function, clock, mode);
#else
	hrtimer_init(timer, clock, mode);
	timer->function = function;
#endif
}

/* Does it never run in user mode, although it may have an address space? */
static inline bool pitrace_task_is_kernel_only(const struct task_struct *task)
{
	unsigned int flags = PF_KTHREAD | PF_IO_WORKER;

#ifdef PF_USER_WORKER
	flags |= PF_USER_WORKER;
#endif
	return task->flags & flags;
}

/* May debuggers of the same user read the current process? */
static inline bool pitrace_current_is_dumpable(void)
{
#if defined(PITRACE_HAS_EXEC_STATE)
	bool dumpable;

	rcu_read_lock();
	dumpable = READ_ONCE(rcu_dereference(current->exec_state)->dumpable) == TASK_DUMPABLE_OWNER;
	rcu_read_unlock();
	return dumpable;
#elif defined(PITRACE_HAS_MM_FLAGS_GET_DUMPABLE)
	return __mm_flags_get_dumpable(current->mm) == SUID_DUMP_USER;
#else
	return __get_dumpable(READ_ONCE(current->mm->flags)) == SUID_DUMP_USER;
#endif
}

/*
 * For kernel threads: the statement or block after it looks paths up below the root directory of the init process. In new
 * kernels their own is empty. It must not be left by return or break.
 */
#ifdef PITRACE_HAS_SCOPED_WITH_INIT_FS
#define pitrace_with_init_root() scoped_with_init_fs()
#else
#define pitrace_with_init_root()
#endif

/* Is it running, or about to run? */
static inline bool pitrace_task_has_cpu(const struct task_struct *task)
{
#ifdef CONFIG_SMP
	return READ_ONCE(task->on_cpu);
#else
	return task == current;
#endif
}

/* The tracepoint of that name, or NULL. Their variables are not exported, their list is. */
struct tracepoint *pitrace_find_tracepoint(const char *name);

#endif /* PITRACE_COMPAT_H */
