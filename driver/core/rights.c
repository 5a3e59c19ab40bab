// SPDX-License-Identifier: GPL-2.0-only
/* Whose processes a user may read as a debugger, decided where the kernel cannot be asked. */

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "compat.h"
#include "rights.h"

static bool rights_is_same_user(const struct cred *by, const struct cred *of)
{
	return uid_eq(by->uid, of->uid) && uid_eq(by->uid, of->euid) && uid_eq(by->uid, of->suid) &&
	       gid_eq(by->gid, of->gid) && gid_eq(by->gid, of->egid) && gid_eq(by->gid, of->sgid);
}

bool pitrace_may_read_current(const struct cred *by)
{
	const struct cred *of = current_real_cred();

	if (by->user_ns == &init_user_ns && cap_raised(by->cap_effective, CAP_SYS_PTRACE))
		return true;
	return rights_is_same_user(by, of) && by->user_ns == of->user_ns &&
	       cap_issubset(of->cap_permitted, by->cap_permitted) && current->mm &&
	       pitrace_current_is_dumpable();
}
