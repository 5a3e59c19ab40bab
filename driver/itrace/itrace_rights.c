// SPDX-License-Identifier: GPL-2.0-only
/*
 * A caller may follow the processes that the kernel lets it debug. To ask the kernel, /proc/PID/mem is opened. Where
 * nothing can be opened, when a followed thread changes its credentials, a check that is as strict decides.
 */

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/namei.h>
#include <linux/pid_namespace.h>
#include <linux/proc_fs.h>
#include <linux/workqueue.h>

#include "core/compat.h"
#include "core/rights.h"
#include "itrace.h"
#include "itrace_calls.h"

/* Credentials of the process that installed ITrace, a reference. Changed under the lock; read while it is installed. */
static const struct cred *itrace_rights_follower;

struct looking {
	struct work_struct work;
	struct path path;
	int error;
};

/* In a kernel thread, whose /proc the caller cannot replace by a mount of its own. */
static void itrace_rights_look_up_proc(struct work_struct *work)
{
	struct looking *looking = container_of(work, struct looking, work);
	struct super_block *sb;

	pitrace_with_init_root()
		looking->error = kern_path("/proc", LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &looking->path);
	if (looking->error)
		return;
	sb = looking->path.dentry->d_sb;
	if (sb->s_magic == PROC_SUPER_MAGIC && proc_pid_ns(sb) == &init_pid_ns)
		return;
	path_put(&looking->path);
	looking->error = -EACCES;
}

static int itrace_rights_find_proc(struct path *path)
{
	struct looking looking;

	INIT_WORK_ONSTACK(&looking.work, itrace_rights_look_up_proc);
	queue_work(system_unbound_wq, &looking.work);
	flush_work(&looking.work);
	destroy_work_on_stack(&looking.work);
	*path = looking.path;
	return looking.error;
}

bool pitrace_it_caller_may_follow_all(void)
{
	return capable(CAP_SYS_PTRACE) && perfmon_capable();
}

int pitrace_it_caller_may_follow(u32 pid)
{
	struct path proc;
	struct file *file;
	char name[24];
	int error;

	if (pitrace_it_caller_may_follow_all())
		return 0;
	error = itrace_rights_find_proc(&proc);
	if (error)
		return -EACCES;
	snprintf(name, sizeof(name), "%u/mem", pid);
	file = file_open_root(&proc, name, O_RDONLY, 0);
	path_put(&proc);
	if (IS_ERR(file))
		return PTR_ERR(file) == -ENOENT ? -ESRCH : -EACCES;
	fput(file);
	return 0;
}

int pitrace_itrace_may_enable(const struct pitrace_itrace_pids *pids, bool *lasting)
{
	*lasting = pitrace_it_caller_may_follow_all();
	if (*lasting)
		return 0;
	return pids->first == pids->last ? pitrace_it_caller_may_follow(pids->first) : -EACCES;
}

/* ---- in hooks: credentials that have changed since following was allowed ---- */

void pitrace_it_set_follower(const struct cred *cred)
{
	const struct cred *old = itrace_rights_follower;

	itrace_rights_follower = cred;
	if (old)
		put_cred(old);
}

bool pitrace_it_credentials_allow(struct pitrace_it_thread *thread)
{
	const struct cred *old = thread->cred;

	if (!itrace_rights_follower || !pitrace_may_read_current(itrace_rights_follower))
		return false;
	thread->cred = get_cred(current_real_cred());
	put_cred(old);
	return true;
}
