// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides which of PTT's metrics a thread may read about itself: those that perf_event_open() would let its user count.
 * Every user gets cycles and dispatches, as every user may execute rdtsc and read /proc.
 */

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/magic.h>
#include <linux/security.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "core/compat.h"
#include "core/owner.h"
#include "ptt.h"
#include "ptt_calls.h"

#define LEVEL_FILE	"/proc/sys/kernel/perf_event_paranoid"
#define LEVEL_STRICTEST 3

/* Not every kernel exports the level, or the function that checks it: so it is read from the file. */
struct reading {
	struct work_struct work;
	int level;
};

static bool ptt_rights_parse(struct file *file, int *level)
{
	char text[16] = {};
	loff_t position = 0;

	if (file_inode(file)->i_sb->s_magic != PROC_SUPER_MAGIC)
		return false;
	if (kernel_read(file, text, sizeof(text) - 1, &position) <= 0)
		return false;
	return !kstrtoint(strim(text), 10, level);
}

/* In a kernel thread, so that the caller's mounts and root directory cannot redirect the path. */
static void ptt_rights_read_level(struct work_struct *work)
{
	struct reading *reading = container_of(work, struct reading, work);
	struct file *file;

	pitrace_with_init_root()
		file = filp_open(LEVEL_FILE, O_RDONLY, 0);
	reading->level = LEVEL_STRICTEST;
	if (IS_ERR(file))
		return;
	if (!ptt_rights_parse(file, &reading->level))
		reading->level = LEVEL_STRICTEST;
	filp_close(file, NULL);
}

static int ptt_rights_paranoid_level(void)
{
	struct reading reading;

	INIT_WORK_ONSTACK(&reading.work, ptt_rights_read_level);
	queue_work(system_unbound_wq, &reading.work);
	flush_work(&reading.work);
	destroy_work_on_stack(&reading.work);
	return reading.level;
}

enum pitrace_ptt_sees pitrace_ptt_rights(void)
{
	const int level = ptt_rights_paranoid_level();

	if (security_locked_down(LOCKDOWN_PERF))
		return PITRACE_PTT_SEES_CYCLES;
	/* The capability is checked last: audit logs a refusal. */
	if (level <= 1 || pitrace_may_trace())
		return PITRACE_PTT_SEES_KERNEL;
	return level == 2 ? PITRACE_PTT_SEES_USER : PITRACE_PTT_SEES_CYCLES;
}

static bool ptt_rights_is_shown(enum pitrace_ptt_sees sees, const struct pitrace_ptt_metric *metric)
{
	return metric->kind == PITRACE_PTT_CYCLES || sees == PITRACE_PTT_SEES_KERNEL ||
	       (sees == PITRACE_PTT_SEES_USER && (metric->flags & PITRACE_PTT_NO_KERNEL));
}

u32 pitrace_ptt_shown(enum pitrace_ptt_sees sees)
{
	u32 shown = 0;
	u32 i;

	for (i = 0; i < pitrace_ptt_setup.metrics; i++) {
		if (ptt_rights_is_shown(sees, &pitrace_ptt_setup.metric[i]))
			shown |= 1u << i;
	}
	return shown;
}
