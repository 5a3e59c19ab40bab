// SPDX-License-Identifier: GPL-2.0-only
/* The permission to trace, the process that owns the trace, and whose stacks it may read. */

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "owner.h"
#include "rights.h"

static int group = -1;
module_param(group, int, 0644);
MODULE_PARM_DESC(group, "id of the group whose members may trace the whole system; -1: none");

/* Checks the group first: a refused capability is logged by audit. */
bool pitrace_may_trace(void)
{
	const int gid = READ_ONCE(group);
	kgid_t kgid;

	if (gid >= 0) {
		kgid = make_kgid(&init_user_ns, (gid_t)gid);
		if (gid_valid(kgid) && in_egroup_p(kgid))
			return true;
	}
	return perfmon_capable();
}

/* A process that has inherited the owner's handle may read the buffers. */
static pid_t owner, reader;

/* Changed while no source runs. NULL: may read all processes. The owner's file holds it. */
static const struct cred *opener;

/* The rights of the one who opened the handle count, who may have passed it on. */
static bool owner_may_read_all(const struct file *file)
{
	return file_ns_capable(file, &init_user_ns, CAP_PERFMON) ||
	       file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN);
}

void pitrace_owner_set(const struct file *file)
{
	WRITE_ONCE(opener, !file || owner_may_read_all(file) ? NULL : file->f_cred);
	WRITE_ONCE(owner, file ? task_tgid_nr(current) : 0);
	if (!file)
		WRITE_ONCE(reader, 0);
}

bool pitrace_opener_may_read_current(void)
{
	const struct cred *by = READ_ONCE(opener);

	return !by || pitrace_may_read_current(by);
}

void pitrace_owner_reads(pid_t pid)
{
	if (READ_ONCE(reader) != pid)
		WRITE_ONCE(reader, pid);
}

pid_t pitrace_owner(void)
{
	return READ_ONCE(owner);
}

bool pitrace_owner_is(pid_t pid)
{
	return pid == READ_ONCE(owner) || pid == READ_ONCE(reader);
}
