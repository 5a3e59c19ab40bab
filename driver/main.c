// SPDX-License-Identifier: GPL-2.0-only
/* Loading and unloading: initialises the parts in order, and exits them in exactly the reverse order. */

/*
 * Locks, outermost first. Nothing on a recording path takes any of them.
 *	AboveIdle lock	its users; held while it starts and stops; never with the session lock
 *	PTT lock	ptt/ptt.h; never with either of them
 *	session lock	state, owner, majors; held while sources start and stop
 *	counters lock	perf counters of event ticks; to create one takes the kernel's perf locks and
 *			cpus_read_lock, so hotplug callbacks leave it to a work item
 *	canary lock	core/probes.c: the probe that shows whether function probes work
 *	exec_update_lock, mmap_lock of a traced process (sources/snapshot.c, maps.c)
 *	CPU hotplug	cpus_read_lock: set of buffers, tick timers; hotplug callbacks hold it
 *			for writing and therefore never take the session lock
 *	areas lock	pointers to the buffers; innermost, as mmap() takes it under mmap_lock
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/init.h>
#include <linux/module.h>
#include <linux/stringify.h>

#include "core/buffers.h"
#include "core/plat.h"
#include "core/reader.h"
#include "device/device.h"
#include "itrace/itrace_calls.h"
#include "ptt/ptt_calls.h"
#include "sources/sources.h"

static int __init pitrace_init(void)
{
	const char *lacks = pitrace_arch_lacks();
	int error;

	if (lacks) {
		pr_err("this processor has no %s\n", lacks);
		return -ENODEV;
	}
	error = pitrace_maps_init();
	if (error)
		goto failed;
	error = pitrace_buffers_init();
	if (error)
		goto exit_maps;
	error = pitrace_user_hook_init();
	if (error)
		goto exit_buffers;
	error = pitrace_tprof_init();
	if (error)
		goto exit_user_hook;
	error = pitrace_ai_init();
	if (error)
		goto exit_tprof;
	error = pitrace_ptt_init();
	if (error)
		goto exit_ai;
	error = pitrace_itrace_init();
	if (error)
		goto exit_ptt;
	pitrace_sources_init();
	pitrace_reader_init();
	/* Last: from here on the device can be opened. */
	error = pitrace_dev_init();
	if (error)
		goto exit_itrace;
	return 0;

exit_itrace:
	pitrace_itrace_exit();
exit_ptt:
	pitrace_ptt_exit();
exit_ai:
	pitrace_ai_exit();
exit_tprof:
	pitrace_tprof_exit();
exit_user_hook:
	pitrace_user_hook_exit();
exit_buffers:
	pitrace_buffers_exit();
exit_maps:
	pitrace_maps_exit();
failed:
	pr_err("cannot start (error %d)\n", error);
	return error;
}

/* An open device holds a reference to the module, so there is no trace any more. */
static void __exit pitrace_exit(void)
{
	pitrace_dev_exit();
	pitrace_itrace_exit();
	pitrace_ptt_exit();
	pitrace_ai_exit();
	pitrace_tprof_exit();
	pitrace_user_hook_exit();
	pitrace_buffers_exit();
	pitrace_reader_exit();
	pitrace_maps_exit();
}

module_init(pitrace_init);
module_exit(pitrace_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Performance Inspector: where the time goes, by sampling and tracing");
MODULE_VERSION(__stringify(PITRACE_ABI_MAJOR) "." __stringify(PITRACE_ABI_MINOR));
