// SPDX-License-Identifier: GPL-2.0-only
/*
 * ITrace ends while it can still take traps: before a reboot and kexec, suspend and hibernation, and in a panic. The trap
 * handler itself stops at once in an oops or panic.
 */

#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/reboot.h>
#include <linux/suspend.h>

#include "itrace.h"
#include "itrace_calls.h"

/* Runs before devices are shut down, in the thread that reboots, which may be followed itself. */
static int itrace_end_on_reboot(struct notifier_block *block, unsigned long action, void *data)
{
	pitrace_it_shut_down(true);
	return NOTIFY_DONE;
}

/* Runs before tasks are frozen. An error keeps the machine awake, as threads may still be followed. */
static int itrace_end_on_pm(struct notifier_block *block, unsigned long action, void *data)
{
	switch (action) {
	case PM_HIBERNATION_PREPARE:
	case PM_SUSPEND_PREPARE:
	case PM_RESTORE_PREPARE:
		return pitrace_it_shut_down(false) ? NOTIFY_DONE : notifier_from_errno(-EBUSY);
	}
	return NOTIFY_DONE;
}

/* Without lock and wait: the other CPUs have stopped. */
static int itrace_end_on_panic(struct notifier_block *block, unsigned long action, void *data)
{
	WRITE_ONCE(pitrace_it_runs, false);
	pitrace_it_clear_here();
	return NOTIFY_DONE;
}

static struct notifier_block itrace_end_reboot_block = { .notifier_call = itrace_end_on_reboot,
							 .priority = INT_MAX };
static struct notifier_block itrace_end_pm_block = { .notifier_call = itrace_end_on_pm,
						     .priority = INT_MAX };
static struct notifier_block itrace_end_panic_block = { .notifier_call = itrace_end_on_panic,
							.priority = INT_MAX };

int pitrace_itrace_init(void)
{
	int error = pitrace_it_branches_init();

	if (error)
		return error;
	error = register_reboot_notifier(&itrace_end_reboot_block);
	if (error)
		goto no_branches;
	error = register_pm_notifier(&itrace_end_pm_block);
	if (error)
		goto no_reboot;
	error = atomic_notifier_chain_register(&panic_notifier_list, &itrace_end_panic_block);
	if (error)
		goto no_pm;
	return 0;

no_pm:
	unregister_pm_notifier(&itrace_end_pm_block);
no_reboot:
	unregister_reboot_notifier(&itrace_end_reboot_block);
no_branches:
	pitrace_it_branches_exit();
	return error;
}

void pitrace_itrace_exit(void)
{
	atomic_notifier_chain_unregister(&panic_notifier_list, &itrace_end_panic_block);
	unregister_pm_notifier(&itrace_end_pm_block);
	unregister_reboot_notifier(&itrace_end_reboot_block);
	pitrace_it_stop_work();
	pitrace_it_branches_exit();
}
