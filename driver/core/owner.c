// SPDX-License-Identifier: GPL-2.0-only
/* The permission to trace, and the process that owns the trace. */

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "owner.h"

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

void pitrace_owner_set(pid_t pid)
{
	WRITE_ONCE(owner, pid);
	if (!pid)
		WRITE_ONCE(reader, 0);
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
