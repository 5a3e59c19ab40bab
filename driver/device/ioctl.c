// SPDX-License-Identifier: GPL-2.0-only
/* The table of ioctls, from command to handler; only this file copies arguments from and to user space. */

#include <linux/fs.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <pitrace/ptt_abi.h>

#include "core/buffers.h"
#include "core/owner.h"
#include "device.h"
#include "itrace/itrace_calls.h"
#include "ptt/ptt_calls.h"
#include "sources/sources.h"

union argument {
	struct pitrace_alloc alloc;
	struct pitrace_info info;
	struct pitrace_probe probe;
	struct pitrace_consumed consumed;
	struct pitrace_stacks stacks;
	struct pitrace_copies copies;
	struct pitrace_event event;
	struct pitrace_ai ai;
	struct pitrace_itrace itrace;
	struct pitrace_itrace_pids itrace_pids;
	struct pitrace_itrace_info itrace_info;
	struct pitrace_ptt_init ptt_init;
	struct pitrace_ptt_info ptt_info;
	struct pitrace_ptt_residue ptt_residue;
	__u32 number;
};

static long ioctl_on(struct file *file, union argument *argument)
{
	return pitrace_session_on(file);
}

static long ioctl_off(struct file *file, union argument *argument)
{
	return pitrace_session_off(file);
}

static long ioctl_terminate(struct file *file, union argument *argument)
{
	return pitrace_session_terminate(file);
}

static long ioctl_info(struct file *file, union argument *argument)
{
	return pitrace_session_info(&argument->info);
}

static long ioctl_alloc(struct file *file, union argument *argument)
{
	return pitrace_session_alloc(file, &argument->alloc);
}

static long ioctl_enable(struct file *file, union argument *argument)
{
	return pitrace_session_enable(file, argument->number);
}

static long ioctl_disable(struct file *file, union argument *argument)
{
	return pitrace_session_disable(file, argument->number);
}

static long ioctl_rate(struct file *file, union argument *argument)
{
	return pitrace_session_rate(file, argument->number);
}

static long ioctl_probe(struct file *file, union argument *argument)
{
	return pitrace_session_probe(&argument->probe);
}

static long ioctl_suspend(struct file *file, union argument *argument)
{
	return pitrace_session_suspend(file);
}

static long ioctl_resume(struct file *file, union argument *argument)
{
	return pitrace_session_resume(file);
}

static long ioctl_discard(struct file *file, union argument *argument)
{
	return pitrace_session_discard(file);
}

static long ioctl_stacks(struct file *file, union argument *argument)
{
	return pitrace_session_stacks(file, &argument->stacks);
}

static long ioctl_copies(struct file *file, union argument *argument)
{
	return pitrace_session_copies(file, &argument->copies);
}

static long ioctl_event(struct file *file, union argument *argument)
{
	return pitrace_session_event(file, &argument->event);
}

static long ioctl_itrace_install(struct file *file, union argument *argument)
{
	return pitrace_session_itrace_install(file, &argument->itrace);
}

/* The functions below do not take the session lock: ITrace has its own, and ends with the trace. */
static long ioctl_itrace_remove(struct file *file, union argument *argument)
{
	return pitrace_session_owned_by(file) ? pitrace_itrace_remove() : -EPERM;
}

static bool ioctl_may_switch(struct file *file, u32 what)
{
	return what == PITRACE_ITRACE_SELF || pitrace_session_owned_by(file);
}

static long ioctl_itrace_on(struct file *file, union argument *argument)
{
	if (argument->number > PITRACE_ITRACE_SELF)
		return -EINVAL;
	return ioctl_may_switch(file, argument->number) ? pitrace_itrace_on(argument->number) :
							  -EPERM;
}

static long ioctl_itrace_off(struct file *file, union argument *argument)
{
	if (argument->number > PITRACE_ITRACE_SELF)
		return -EINVAL;
	return ioctl_may_switch(file, argument->number) ? pitrace_itrace_off(argument->number) :
							  -EPERM;
}

static long ioctl_itrace_enable(struct file *file, union argument *argument)
{
	const struct pitrace_itrace_pids *pids = &argument->itrace_pids;
	const u32 self = task_tgid_nr(current);

	bool lasting = false;
	int error = 0;

	if (pids->first != self || pids->last != self) {
		if (!pitrace_session_owned_by(file))
			return -EPERM;
		error = pitrace_itrace_may_enable(pids, &lasting);
	}
	return error ? error : pitrace_itrace_enable(pids, pitrace_session_owned_by(file), lasting);
}

static long ioctl_itrace_disable(struct file *file, union argument *argument)
{
	return pitrace_session_owned_by(file) ? pitrace_itrace_disable() : -EPERM;
}

static long ioctl_itrace_info(struct file *file, union argument *argument)
{
	return pitrace_itrace_info(&argument->itrace_info);
}

static long ioctl_ai_on(struct file *file, union argument *argument)
{
	return pitrace_ai_on(file);
}

static long ioctl_ai_off(struct file *file, union argument *argument)
{
	return pitrace_ai_off(file);
}

static long ioctl_ai_read(struct file *file, union argument *argument)
{
	return pitrace_ai_read(file, &argument->ai);
}

static long ioctl_ptt_init(struct file *file, union argument *argument)
{
	return pitrace_ptt_ioctl_init(file, &argument->ptt_init);
}

static long ioctl_ptt_term(struct file *file, union argument *argument)
{
	return pitrace_ptt_ioctl_term();
}

static long ioctl_ptt_ints(struct file *file, union argument *argument)
{
	return pitrace_ptt_ioctl_ints(argument->number);
}

static long ioctl_ptt_residue(struct file *file, union argument *argument)
{
	return pitrace_ptt_ioctl_residue(&argument->ptt_residue);
}

static long ioctl_ptt_info(struct file *file, union argument *argument)
{
	/* DUMP shows everything. */
	return pitrace_ptt_ioctl_info(&argument->ptt_info, true, 0);
}

/*
 * Without the session lock, which is held while the trace starts; at that time the reader must already
 * empty buffers. Ownership ends only with this file, or by its own PITRACE_IOC_TERMINATE, against
 * which the buffers have their own lock.
 */
static long ioctl_consumed(struct file *file, union argument *argument)
{
	long error;

	if (!pitrace_session_owned_by(file))
		return -EPERM;
	pitrace_owner_reads(task_tgid_nr(current));
	error = pitrace_buffers_consumed(&argument->consumed);
	if (!error)
		pitrace_itrace_consumed();
	return error;
}

static const struct command {
	unsigned int number; /* its bits contain size and direction of the argument */
	long (*handle)(struct file *file, union argument *argument);
} commands[] = {
	{ PITRACE_IOC_ON, ioctl_on },
	{ PITRACE_IOC_OFF, ioctl_off },
	{ PITRACE_IOC_TERMINATE, ioctl_terminate },
	{ PITRACE_IOC_INFO, ioctl_info },
	{ PITRACE_IOC_ALLOC, ioctl_alloc },
	{ PITRACE_IOC_ENABLE, ioctl_enable },
	{ PITRACE_IOC_DISABLE, ioctl_disable },
	{ PITRACE_IOC_RATE, ioctl_rate },
	{ PITRACE_IOC_SUSPEND, ioctl_suspend },
	{ PITRACE_IOC_RESUME, ioctl_resume },
	{ PITRACE_IOC_DISCARD, ioctl_discard },
	{ PITRACE_IOC_CONSUMED, ioctl_consumed },
	{ PITRACE_IOC_PROBE, ioctl_probe },
	{ PITRACE_IOC_STACKS, ioctl_stacks },
	{ PITRACE_IOC_COPIES, ioctl_copies },
	{ PITRACE_IOC_EVENT, ioctl_event },
	{ PITRACE_IOC_IT_INSTALL, ioctl_itrace_install },
	{ PITRACE_IOC_IT_REMOVE, ioctl_itrace_remove },
	{ PITRACE_IOC_IT_ON, ioctl_itrace_on },
	{ PITRACE_IOC_IT_OFF, ioctl_itrace_off },
	{ PITRACE_IOC_IT_ENABLE, ioctl_itrace_enable },
	{ PITRACE_IOC_IT_DISABLE, ioctl_itrace_disable },
	{ PITRACE_IOC_IT_INFO, ioctl_itrace_info },
	{ PITRACE_IOC_AI_ON, ioctl_ai_on },
	{ PITRACE_IOC_AI_OFF, ioctl_ai_off },
	{ PITRACE_IOC_AI_READ, ioctl_ai_read },
	{ PITRACE_PTT_IOC_INIT, ioctl_ptt_init },
	{ PITRACE_PTT_IOC_TERM, ioctl_ptt_term },
	{ PITRACE_PTT_IOC_INTS, ioctl_ptt_ints },
	{ PITRACE_PTT_IOC_RESIDUE, ioctl_ptt_residue },
	{ PITRACE_PTT_IOC_INFO, ioctl_ptt_info },
};

/* noinline: the kernel initialises stack variables to 0, and user hooks should not pay for that. */
static noinline long ioctl_run_command(struct file *file, unsigned int cmd, void __user *user)
{
	const struct command *command = commands;
	union argument argument;
	long result;

	while (command->number != cmd) {
		if (++command == commands + ARRAY_SIZE(commands))
			return -ENOTTY;
	}
	/* No contents of the kernel's stack may be copied to user space. */
	memset(&argument, 0, sizeof(argument));
	if ((_IOC_DIR(cmd) & _IOC_WRITE) && copy_from_user(&argument, user, _IOC_SIZE(cmd)))
		return -EFAULT;
	result = command->handle(file, &argument);
	if (!result && (_IOC_DIR(cmd) & _IOC_READ) && copy_to_user(user, &argument, _IOC_SIZE(cmd)))
		return -EFAULT;
	return result;
}

long pitrace_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;

	/* Not in the table: called thousands of times per second, with an argument of any length. */
	if (cmd == PITRACE_IOC_HOOK)
		return pitrace_user_hook(user);
	/* Not in the table: copies its result also when it fails. */
	if (cmd == PITRACE_PTT_IOC_DUMP)
		return pitrace_ptt_ioctl_dump(user);
	return ioctl_run_command(file, cmd, user);
}
