// SPDX-License-Identifier: GPL-2.0-only
/* The answer to PITRACE_PTT_IOC_INFO, for both devices. */

#include <linux/cpumask.h>
#include <linux/string.h>

#include "ptt.h"
#include "ptt_calls.h"

int pitrace_ptt_ioctl_info(struct pitrace_ptt_info *info, bool privileged, int sees)
{
	if (mutex_lock_killable(&pitrace_ptt_lock))
		return -EINTR;
	memset(info, 0, sizeof(*info));
	info->abi_major = PITRACE_ABI_MAJOR;
	info->abi_minor = PITRACE_ABI_MINOR;
	info->active = pitrace_ptt_instance.active;
	info->instance = pitrace_ptt_instance.number;
	info->ints = pitrace_ptt_instance.active ? pitrace_ptt_setup.ints :
						   pitrace_ptt_instance.ints;
	info->keep = pitrace_ptt_instance.active && !pitrace_ptt_instance.owner;
	info->cpus = nr_cpu_ids;
	/* What was counted can still be read after the end. */
	info->metrics = pitrace_ptt_setup.metrics;
	memcpy(info->metric, pitrace_ptt_setup.metric, sizeof(info->metric));
	info->residue = pitrace_ptt_setup.residue;
	if (!privileged)
		info->withheld = ((1u << info->metrics) - 1) & ~pitrace_ptt_shown(sees);
	if (pitrace_ptt_instance.active) {
		info->owner_pid = privileged ? pitrace_ptt_instance.owner_pid : 0;
		info->threads = pitrace_ptt_threads_room() - 1;
		info->threads_used = pitrace_ptt_threads_used();
	}
	mutex_unlock(&pitrace_ptt_lock);
	return 0;
}
